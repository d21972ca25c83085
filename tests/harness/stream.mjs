/* A call watched as server-sent events, and a caller's silence. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/* Half a second of silence at 16 kHz. */
export function silence(dir) {
  const file = join(dir, 'silence.wav');
  const head = Buffer.alloc(44);
  head.write('RIFF', 0); head.writeUInt32LE(36 + 16000, 4); head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22); head.writeUInt32LE(16000, 24);
  head.writeUInt32LE(32000, 28); head.writeUInt16LE(2, 32); head.writeUInt16LE(16, 34); head.write('data', 36);
  head.writeUInt32LE(16000, 40);
  writeFileSync(file, Buffer.concat([head, Buffer.alloc(16000)]));
  return file;
}

/* answers { status, type, events, beats, isOver, close() }; events grow as they come, beats counts signs of life. */
export async function watchAt(url, callId, headers) {
  const cut = new AbortController();
  const response = await fetch(`${url}/v1/calls/${callId}/stream`, { headers, signal: cut.signal });
  const type = response.headers.get('content-type');
  const stream = { status: response.status, type, events: [], beats: 0, isOver: false, close: () => cut.abort() };
  let rest = '';
  const read = async () => {
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + part).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const fields = block.split('\n').map((line) => line.match(/^(\w*): (.*)$/).slice(1));
        const { event, id, data } = Object.fromEntries(fields);
        stream.beats += block === ': still here';
        if (event) stream.events.push({ event, id, data: JSON.parse(data) });
      }
    }
  };
  read().catch((error) => { if (!cut.signal.aborted) stream.fault = error; }).then(() => { stream.isOver = true; });
  return stream;
}

export const named = (stream, name) =>
  stream.events.filter(({ event }) => event === name).map(({ data }) => data);
