/* A stand-in of Wyoming's servers, a recogniser and a voice on one port: events of a JSON line, more JSON data, and a
 * payload, over TCP. It hears HEARD in any voice, speaks a hum, and says by `info` what it has. */
import { createServer } from 'node:net';
import { HEARD, hum, isLoud, pieces } from './sound.mjs';

const RATE = 22050, LINE_MAX = 65536;

/* The first event of these bytes and how many they are; null: it is not whole yet. */
function readEvent(bytes) {
  const end = bytes.indexOf(10);
  if (end < 0 && bytes.length > LINE_MAX) throw new Error('a line is too long');
  if (end < 0) return null;
  const { type, data = {}, data_length: more = 0, payload_length: rest = 0 } = JSON.parse(bytes.subarray(0, end));
  const at = end + 1, size = at + more + rest;
  if (typeof type !== 'string') throw new Error('an event has no type');
  if (bytes.length < size) return null;
  if (more) Object.assign(data, JSON.parse(bytes.subarray(at, at + more)));
  return { type, data, payload: bytes.subarray(at + more, size), size };
}

function writeEvent(socket, type, data = {}, payload = null) {
  const more = Buffer.from(JSON.stringify(data));
  const head = { type, data_length: more.length, ...(payload && { payload_length: payload.length }) };
  socket.write(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), more, payload ?? Buffer.alloc(0)]));
}

const by = { attribution: { name: 'Earshot', url: 'https://example.com' }, installed: true, version: '1' };
const model = (name) => ({ ...by, name, description: 'A stand-in', languages: ['en'] });
const INFO = {
  asr: [{ ...model('stand-in-stt'), models: [model('heard')] }],
  tts: [{ ...model('stand-in-tts'), voices: [{ ...model('hum'), speakers: null }] }],
};

const DOES = {
  describe: ({ socket }) => writeEvent(socket, 'info', INFO),
  transcribe: ({ heard }) => { heard.isLoud = false; },
  'audio-chunk': ({ heard, event }) => { heard.isLoud ||= isLoud(event.payload); },
  'audio-stop': ({ socket, heard }) => {
    writeEvent(socket, 'transcript', { text: heard.isLoud ? HEARD : '' });
    socket.end(); /* as many servers do: a connection an utterance */
  },
  synthesize: ({ socket, event }) => {
    const format = { rate: RATE, width: 2, channels: 1 };
    if (!event.data.text) return writeEvent(socket, 'error', { text: 'no text', code: 'empty' });
    writeEvent(socket, 'audio-start', format);
    for (const piece of pieces(hum(event.data.text, RATE), 2048)) writeEvent(socket, 'audio-chunk', format, piece);
    return writeEvent(socket, 'audio-stop');
  },
};

export async function startWyoming() {
  const sockets = new Set();
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    const heard = { isLoud: false };
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (data) => {
      bytes = Buffer.concat([bytes, data]);
      try {
        for (let event; (event = readEvent(bytes)); bytes = bytes.subarray(event.size))
          DOES[event.type]?.({ socket, heard, event });
      } catch { socket.destroy(); }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
