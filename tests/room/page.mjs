/* A page with livekit-client in a headless Chromium whose microphone is a 300 Hz tone. The page keeps what it sees
 * in `seen`. */
import { createServer } from 'node:http';
import { readFileSync, writeFileSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openBrowser } from '../harness/browser.mjs';
import { sine } from './rooms.mjs';

const require = createRequire(import.meta.url);
const library = join(dirname(require.resolve('livekit-client')), 'livekit-client.umd.js');

/* Runs in the page: join(url, token, options) and what came of it. */
const script = `
window.seen = { events: [], streams: [], transcripts: [], tracks: 0, ended: null, states: [] };
window.join = async (url, token, options = {}) => {
  const room = window.room = new LivekitClient.Room(options);
  const events = LivekitClient.RoomEvent;
  room.on(events.TrackSubscribed, (track) => {
    seen.tracks++;
    window.track = track;
    document.body.append(track.attach());
  });
  room.on(events.Disconnected, (reason) => { seen.ended = reason; });
  for (const name of ['Reconnecting', 'SignalReconnecting', 'Reconnected', 'LocalTrackSubscribed',
    'LocalTrackUnpublished'])
    room.on(events[name], () => seen.events.push(name));
  room.on(events.TranscriptionReceived, (segments) =>
    seen.transcripts.push(...segments.map(({ text, final, id }) => ({ text, final, id }))));
  room.on(events.ParticipantAttributesChanged, (changed, participant) =>
    seen.states.push(participant.attributes['lk.agent.state']));
  room.registerTextStreamHandler('lk.transcription', async (reader, sender) => {
    const stream = { sender: sender.identity, attributes: reader.info.attributes, text: '', done: false };
    seen.streams.push(stream);
    for await (const part of reader) stream.text += part;
    stream.attributes = reader.info.attributes;
    stream.done = true;
  });
  await room.connect(url, token);
};
/* Strongest frequency and loudness of the agent's track, once that is its tone; else what was heard last. */
window.hear = async () => {
  const context = window.context ??= new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 8192;
  context.createMediaStreamSource(new MediaStream([track.mediaStreamTrack])).connect(analyser);
  const bins = new Float32Array(analyser.frequencyBinCount);
  let heard = null;
  for (let i = 0; i < 1800; i++) {
    await new Promise((next) => setTimeout(next, 50));
    analyser.getFloatFrequencyData(bins);
    const top = bins.indexOf(Math.max(...bins));
    heard = { hz: (top * context.sampleRate) / analyser.fftSize, db: bins[top] };
    if (heard.db > -60 && Math.abs(heard.hz - 440) < 12) break;
  }
  return heard;
};`;

/* A WAV file of a tone. */
function toneFile(hz, seconds = 60, rate = 48000) {
  const samples = sine(hz, rate, rate * seconds);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0); head.writeUInt32LE(36 + samples.byteLength, 4); head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22); head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28); head.writeUInt16LE(2, 32); head.writeUInt16LE(16, 34);
  head.write('data', 36); head.writeUInt32LE(samples.byteLength, 40);
  const file = join(mkdtempSync(join(tmpdir(), 'earshot-tone-')), 'tone.wav');
  writeFileSync(file, Buffer.concat([head, Buffer.from(samples.buffer)]));
  return file;
}

export async function openPages() {
  const files = {
    '/': [
      'text/html',
      '<!doctype html><meta charset="utf-8"><title>room</title><script src="client.js"></script>' +
        '<script src="page.js"></script><body>',
    ],
    '/client.js': ['text/javascript', readFileSync(library)],
    '/page.js': ['text/javascript', script],
  };
  const web = createServer((request, response) => {
    const [type, body] = files[request.url] ?? ['text/plain', ''];
    response.writeHead(files[request.url] ? 200 : 404, { 'content-type': type }).end(body);
  });
  await new Promise((done) => web.listen(0, '127.0.0.1', done));
  const browser = await openBrowser({ microphone: toneFile(300) });
  const open = async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${web.address().port}/`);
    page.seen = () => page.evaluate(() => window.seen);
    return page;
  };
  return { browser, open, close: async () => { await browser.close(); web.close(); } };
}
