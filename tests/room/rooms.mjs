/* Starts room_server (rooms without calls) and drives it; mints tokens with LiveKit's own SDK. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { AccessToken } from 'livekit-server-sdk';
import { adopt, exitFault, fail } from '../harness/faults.mjs';
import { binary, until } from '../harness/service.mjs';

export { until };
export const KEY = 'test-key', SECRET = 'a-secret-of-the-tests-that-is-long-enough';
const program = process.env.ROOM_SERVER ?? join(dirname(binary), 'tests/room/room_server');
let count = 0;

export async function startRooms({ tls } = {}) {
  const args = ['127.0.0.1:0', KEY, SECRET, ...(tls ? [tls.cert, tls.key] : [])];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const server = { child, output: '', exit: null };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => { server.output += part; });
  adopt(child);
  child.on('exit', (code, signal) => { server.exit = { code, signal }; });
  child.on('close', (code, signal) => {
    const fault = exitFault({ code, signal }, server.output, { isAsked: child.stdin.writableEnded });
    if (fault) fail('room_server', fault, server.output);
  });
  const started = () => server.output.match(/listening on (\S+) udp (\d+)/);
  await until(() => started() || server.exit, { what: 'room_server' });
  if (!started()) throw new Error(`room_server ended: ${server.output}`);
  server.http = started()[1];
  server.url = server.http.replace(/^http/, 'ws');
  server.udpPort = Number(started()[2]);
  server.post = (path, params, body) => call(server, 'POST', path, params, body);
  server.get = (path, params) => call(server, 'GET', path, params);
  server.open = (options) => openRoom(server, options);
  server.stop = async () => {
    child.stdin.end();
    await until(() => server.exit, { what: 'the end of room_server' });
  };
  return server;
}

async function call(server, method, path, params = {}, body) {
  const response = await fetch(`${server.http}${path}?${new URLSearchParams(params)}`, { method, body });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}

/* mode: 'tone' (440 Hz) or 'echo'; late: the agent comes with the first state(); hasty: who is silent, or does not get
 * in, is given up after a few seconds. */
async function openRoom(server, { mode = 'tone', late = false, hasty = false } = {}) {
  const name = `room-${process.pid}-${++count}`;
  await server.post('/rooms', { name, mode, flag: late ? 1 : 0, hasty: hasty ? 1 : 0 });
  const room = { name, url: server.url };
  room.seen = () => server.get('/rooms', { name });
  room.until = (check, what = 'the room') =>
    until(
      async () => {
        const seen = await room.seen();
        return check(seen) && seen;
      },
      { what },
    );
  room.close = (mode2 = 'ended') => server.post('/close', { name, mode: mode2 });
  room.state = (state) => server.post('/state', { name, mode: state });
  room.say = (speaker, segment, text, final) =>
    server.post('/say', { name, mode: `${speaker}:${segment}`, flag: final ? 1 : 0 }, text);
  room.token = (options) => mint({ room: name, ...options });
  return room;
}

export function mint({
  room,
  identity = 'caller',
  name = 'Caller',
  key = KEY,
  secret = SECRET,
  ttl = '10m',
  grants = {},
  metadata,
  attributes,
}) {
  const token = new AccessToken(key, secret, { identity, name, ttl, metadata, attributes });
  token.addGrant({ roomJoin: true, room, ...grants });
  return token.toJwt();
}

/* A sine of that frequency as 16-bit samples. */
export function sine(hz, rate, samples, phase = 0) {
  const out = new Int16Array(samples);
  for (let i = 0; i < samples; i++) out[i] = 8000 * Math.sin(phase + (2 * Math.PI * hz * i) / rate);
  return out;
}

/* Frequency by zero crossings and root mean square of 16-bit samples. */
export function measure(samples, rate) {
  let crossings = 0, energy = 0;
  for (let i = 0; i < samples.length; i++) {
    energy += samples[i] ** 2;
    if (i > 0 && (samples[i] >= 0) !== (samples[i - 1] >= 0)) crossings++;
  }
  return { hz: (crossings * rate) / 2 / samples.length, rms: Math.sqrt(energy / samples.length) };
}
