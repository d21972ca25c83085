/* The stand-in engines of both sides, OpenAI's wires for speech, chat and hearing with delays: what is heard is told by how long the voice
 * was, so that one part of a turn and the whole of it are other words. PHRASES: a JSON list of [milliseconds of voice, text]. */
import { createServer } from 'node:http';
import { hum, pieces, sleep } from '../../tests/fake/vendors/sound.mjs';
import { readForm } from '../../tests/fake/vendors/speech.mjs';

const PHRASES = JSON.parse(process.env.PHRASES);
const DELAYS_MS = { stt: 100, llm: 200, tts: 100 };
const ANSWER = 'We are open from nine to five every day.';
const RATE = 24000, LOUD = 500;

/* The samples behind the head of a WAV, and how many there are a second. */
function readWav(file) {
  const at = file.indexOf('data');
  return { rate: file.readUInt32LE(24), channels: file.readUInt16LE(22), samples: file.subarray(at + 8) };
}

function voiceMs({ rate, channels, samples }) {
  const frame = Math.round(rate / 50) * 2 * channels;
  let first = -1, last = -1;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    let sum = 0;
    for (let i = at; i < at + frame; i += 2) sum += samples.readInt16LE(i) ** 2;
    if (Math.sqrt(sum / (frame / 2)) < LOUD) continue;
    if (first < 0) first = at;
    last = at + frame;
  }
  return first < 0 ? 0 : ((last - first) / frame) * 20;
}

function heard(ms) {
  if (ms < 200) return '';
  return PHRASES.reduce((best, one) => (Math.abs(one[0] - ms) < Math.abs(best[0] - ms) ? one : best))[1];
}

async function transcribe(response, { bytes, type }) {
  const ms = voiceMs(readWav(readForm(bytes, type).get('file').data));
  await sleep(DELAYS_MS.stt);
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ text: heard(ms), usage: { type: 'duration', seconds: 2 } }));
  if (process.env.SHOW) console.error('heard', ms, heard(ms));
}

async function chat(response, { bytes }) {
  const { model, stream_options: options } = JSON.parse(bytes);
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1790000000, model };
  const send = (part) => response.write(`data: ${JSON.stringify({ ...head, ...part })}\n\n`);
  const delta = (content, reason = null) => send({ choices: [{ index: 0, delta: content, finish_reason: reason }] });
  await sleep(DELAYS_MS.llm);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const content of ANSWER.split(/(?<= )/)) { delta({ role: 'assistant', content }); await sleep(5); }
  delta({}, 'stop');
  if (options?.include_usage)
    send({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 } });
  response.end('data: [DONE]\n\n');
}

async function speak(response, { bytes }) {
  await sleep(DELAYS_MS.tts);
  response.writeHead(200, { 'Content-Type': 'audio/pcm' });
  for (const piece of pieces(hum(JSON.parse(bytes).input, RATE), RATE / 5)) { response.write(piece); await sleep(5); }
  response.end();
}

const routes = {
  '/v1/audio/transcriptions': transcribe, '/v1/chat/completions': chat, '/v1/audio/speech': speak,
};

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const route = routes[new URL(request.url, 'http://engines').pathname];
  if (!route) { response.writeHead(404); response.end(); return; }
  route(response, { bytes: Buffer.concat(parts), type: request.headers['content-type'] })
    .catch((error) => { console.error(error); response.destroy(); });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
