/* Signalling by hand: a WebSocket over a raw socket, so that broken frames, half requests and wrong messages can be
 * sent. */
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { JoinRequest, SignalRequest, SignalResponse, WrappedJoinRequest } from '@livekit/protocol';

export { SignalRequest, SignalResponse };

/* A raw connection that collects what comes. */
export async function connect(url) {
  const { hostname, port, protocol } = new URL(url);
  const secure = protocol === 'wss:' || protocol === 'https:';
  const socket = secure
    ? tls.connect({ host: hostname, port, rejectUnauthorized: false })
    : net.connect(port, hostname);
  const wire = { socket, bytes: Buffer.alloc(0), closed: false, waiters: [] };
  const wake = () => wire.waiters.splice(0).forEach((next) => next());
  socket.on('data', (part) => { wire.bytes = Buffer.concat([wire.bytes, part]); wake(); });
  socket.on('close', () => { wire.closed = true; wake(); });
  socket.on('error', () => {});
  await new Promise((done, fail) => {
    socket.once(secure ? 'secureConnect' : 'connect', done);
    socket.once('error', fail);
  });
  wire.more = () => new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('nothing came')), 90000);
    wire.waiters.push(() => { clearTimeout(timer); done(); });
  });
  return wire;
}

/* Sends an upgrade; answers { status, head, body } of what comes back. */
export async function upgrade(wire, path, headers = {}) {
  const lines = {
    Host: 'test',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    ...headers,
  };
  wire.socket.write(
    `GET ${path} HTTP/1.1\r\n${Object.entries(lines)
      .filter(([, v]) => v)
      .map(([k, v]) => `${k}: ${v}\r\n`)
      .join('')}\r\n`,
  );
  while (!wire.closed && wire.bytes.indexOf('\r\n\r\n') < 0) await wire.more();
  const end = wire.bytes.indexOf('\r\n\r\n');
  const head = wire.bytes.subarray(0, end).toString();
  wire.bytes = wire.bytes.subarray(end + 4);
  const length = Number(head.match(/content-length: (\d+)/i)?.[1] ?? 0);
  while (!wire.closed && wire.bytes.length < length) await wire.more();
  const body = wire.bytes.subarray(0, length).toString();
  return { status: Number(head.split(' ')[1]), head, body };
}

export function frame(payload, { opcode = 2, fin = true, masked = true, declared } = {}) {
  const length = declared ?? payload.length;
  const head =
    length < 126
      ? Buffer.from([0, length])
      : length < 65536
        ? Buffer.from([0, 126, length >> 8, length & 255])
        : Buffer.alloc(10);
  if (length >= 65536) { head[1] = 127; head.writeBigUInt64BE(BigInt(length), 2); }
  head[0] = (fin ? 0x80 : 0) | opcode;
  if (!masked) return Buffer.concat([head, payload]);
  head[1] |= 0x80;
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, i) => byte ^ mask[i & 3])]);
}

/* The next frame: { opcode, payload }; null when the connection has ended. */
export async function read(wire) {
  for (;;) {
    const b = wire.bytes;
    if (b.length >= 2) {
      const short = b[1] & 127;
      const at = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (b.length >= at) {
        const length = short === 126 ? b.readUInt16BE(2) : short === 127 ? Number(b.readBigUInt64BE(2)) : short;
        if (b.length >= at + length) {
          wire.bytes = b.subarray(at + length);
          return { opcode: b[0] & 15, payload: b.subarray(at, at + length) };
        }
      }
    }
    if (wire.closed) return null;
    await wire.more();
  }
}

export const send = (wire, message) => wire.socket.write(frame(Buffer.from(new SignalRequest({ message }).toBinary())));

/* The next SignalResponse of a kind; { case: 'closed', code } when the socket ends first. */
export async function expect(wire, kind) {
  for (;;) {
    const got = await read(wire);
    if (!got) return { case: 'closed' };
    if (got.opcode === 8)
      return {
        case: 'closed',
        code: got.payload.length >= 2 ? got.payload.readUInt16BE(0) : 1005,
        reason: got.payload.subarray(2).toString(),
      };
    if (got.opcode !== 2) continue;
    const { message } = SignalResponse.fromBinary(got.payload);
    if (message.case === kind) return message;
  }
}

export function joinParam(fields = {}, { compress = true, raw } = {}) {
  const inner =
    raw ?? Buffer.from(new JoinRequest({ connectionSettings: { autoSubscribe: true }, ...fields }).toBinary());
  const wrapped = new WrappedJoinRequest({
    compression: compress ? 1 : 0,
    joinRequest: compress ? gzipSync(inner) : inner,
  });
  return Buffer.from(wrapped.toBinary()).toString('base64').replace(/\+/g, '-').replace(/\//g, '_');
}

export const v1 = (token, param = joinParam()) =>
  `/rtc/v1?access_token=${token}&join_request=${encodeURIComponent(param)}`;
