/* The server's side of a WebSocket (RFC 6455), as small as the stand-ins need it: no extensions, whole messages. */
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10;

export function refuse(socket, status, text, headers = {}) {
  const lines = Object.entries({
    'Content-Type': 'application/json',
    Connection: 'close',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  socket.end(
    `HTTP/1.1 ${status} Refused\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
  );
}

function frame(opcode, payload) {
  const length =
    payload.length < 126
      ? Buffer.from([payload.length])
      : payload.length < 65536
        ? Buffer.from([126, payload.length >> 8, payload.length & 255])
        : Buffer.concat([
            Buffer.from([127]),
            (() => {
              const size = Buffer.alloc(8);
              size.writeBigUInt64BE(BigInt(payload.length));
              return size;
            })(),
          ]);
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, payload]);
}

/* Events: message (Buffer, isText), close. isDeaf: takes nothing in and answers no ping. */
export class WebSocketPeer extends EventEmitter {
  #rest = Buffer.alloc(0);
  #parts = [];
  #kind = TEXT;
  isOpen = true;
  isDeaf = false;

  constructor(request, socket) {
    super();
    const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + GUID).digest('base64');
    const protocol = request.headers['sec-websocket-protocol']?.split(',')[0].trim();
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\n${protocol ? `Sec-WebSocket-Protocol: ${protocol}\r\n` : ''}\r\n`);
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (data) => this.#read(data));
    socket.on('error', () => {});
    socket.on('close', () => { this.isOpen = false; this.emit('close'); });
  }

  send(value) {
    if (!this.isOpen) return;
    const isText = !Buffer.isBuffer(value);
    const text = typeof value === 'string' ? value : isText ? JSON.stringify(value) : value;
    this.socket.write(frame(isText ? TEXT : BINARY, Buffer.from(text)));
  }

  close(code = 1000, reason = '') {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.socket.end(frame(CLOSE, Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)])));
  }

  destroy() {
    this.isOpen = false;
    this.socket.destroy();
  }

  /* Half-open: the other side hears nothing any more, not even that it ends. */
  stall() {
    this.isOpen = false;
    this.isDeaf = true;
  }

  fail(fault) {
    if (fault === 'cut') this.destroy();
    if (fault === 'stall') this.stall();
  }

  #read(data) {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const bytes = this.#rest;
      if (bytes.length < 6) return;
      let size = bytes[1] & 127, at = 2;
      if (size === 126) { size = bytes.readUInt16BE(2); at = 4; }
      if (size === 127) { if (bytes.length < 14) return; size = Number(bytes.readBigUInt64BE(2)); at = 10; }
      if (bytes.length < at + 4 + size) return;
      const mask = bytes.subarray(at, at + 4), body = Buffer.from(bytes.subarray(at + 4, at + 4 + size));
      for (let i = 0; i < size; i++) body[i] ^= mask[i & 3];
      this.#rest = bytes.subarray(at + 4 + size);
      this.#take(bytes[0] & 15, Boolean(bytes[0] & 0x80), body);
    }
  }

  #take(opcode, isLast, body) {
    if (this.isDeaf) return;
    if (opcode === PING) this.socket.write(frame(PONG, body));
    if (opcode === CLOSE) {
      if (this.isOpen) this.socket.end(frame(CLOSE, body));
      this.isOpen = false;
    }
    if (opcode > BINARY) return;
    if (opcode) this.#kind = opcode;
    this.#parts.push(body);
    if (!isLast) return;
    const message = Buffer.concat(this.#parts);
    this.#parts = [];
    this.emit('message', message, this.#kind === TEXT);
  }
}
