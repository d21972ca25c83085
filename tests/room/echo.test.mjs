/* rtc/ against Chromium, without rooms: our ICE-lite peer echoes a fake microphone and a data channel. What comes
 * back is compared with what the microphone played. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, speechFile } from '../harness/browser.mjs';

const LINE = 'This sentence goes out of the browser and comes back to it again.';
const echoPeer = join(dirname(process.env.EARSHOT_BIN ?? 'build/earshot'), 'tests/room/echo_peer');

let server, url, context;

before(async () => {
  server = createServer((request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><audio id="out" autoplay></audio>'),
  );
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${server.address().port}/`;
  context = await openBrowser({ microphone: speechFile(LINE, { before: 1, after: 1 }) });
});

after(async () => {
  await context?.close();
  server?.close();
});

/* Starts the peer with an offer; answers { answer, ended } where ended resolves to its last words. */
async function startPeer(offer, args = []) {
  const child = spawn(echoPeer, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let answer = '', words = '';
  child.stdout.on('data', (data) => (answer += data));
  child.stderr.on('data', (data) => (words += data));
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve({ code, words })));
  child.stdin.end(offer);
  await new Promise((resolve) => child.stdout.on('close', resolve));
  if (!answer) throw new Error(`no answer: ${(await ended).words}`);
  return { answer, ended, child };
}

/* In the page: a connection with microphone and channel; leaves it in window.pc. */
function makeOffer() {
  return (async () => {
    const stream = await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
    });
    const pc = (window.pc = new RTCPeerConnection());
    pc.addTrack(stream.getAudioTracks()[0], stream);
    window.channel = pc.createDataChannel('_reliable');
    window.channel.binaryType = 'arraybuffer';
    window.remote = new Promise((resolve) => (pc.ontrack = (event) => resolve(event.track)));
    window.local = stream.getAudioTracks()[0];
    await pc.setLocalDescription(await pc.createOffer());
    return pc.localDescription.sdp;
  })();
}

/* In the page: applies the answer, waits for the connection, answers milliseconds. */
function connect(sdp) {
  return (async () => {
    const began = performance.now();
    await window.pc.setRemoteDescription({ type: 'answer', sdp });
    await new Promise((done, fail) => {
      const look = () => window.pc.connectionState === 'connected' && done();
      window.pc.addEventListener('connectionstatechange', look);
      setTimeout(() => fail(new Error(`still ${window.pc.connectionState}`)), 90000);
      look();
    });
    return performance.now() - began;
  })();
}

/* In the page: energy of both tracks in windows of 20 ms for so many seconds. */
function listen(seconds) {
  return (async () => {
    const track = await window.remote;
    const out = document.getElementById('out');
    out.srcObject = new MediaStream([track]); /* without it the decoder of the remote track stands still */
    const record = async (source) => {
      const reader = new MediaStreamTrackProcessor({ track: source }).readable.getReader();
      const energy = [];
      const until = performance.now() + seconds * 1000;
      while (performance.now() < until) {
        const { value, done } = await reader.read();
        if (done) break;
        const samples = new Float32Array(value.numberOfFrames);
        value.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
        energy.push({ at: performance.now(), rms: Math.hypot(...samples) / Math.sqrt(samples.length) });
        value.close();
      }
      reader.cancel();
      return energy;
    };
    const count = async () => {
      const stats = [...(await window.pc.getStats()).values()];
      const inbound = stats.find((s) => s.type === 'inbound-rtp' && s.kind === 'audio');
      const remote = stats.find((s) => s.type === 'remote-inbound-rtp');
      return {
        received: inbound?.packetsReceived ?? 0,
        lost: inbound?.packetsLost ?? 0,
        remoteLost: remote?.packetsLost ?? 0,
        rtt: remote?.roundTripTime,
      };
    };
    const before = await count();
    const [sent, heard] = await Promise.all([record(window.local.clone()), record(track)]);
    const after = await count();
    const grown = (name) => after[name] - before[name];
    return {
      sent,
      heard,
      received: grown('received'),
      lost: grown('lost'),
      remoteLost: grown('remoteLost'),
      rtt: after.rtt,
    };
  })();
}

/* In the page: sends a message, answers how many bytes came back and whether they are the same. */
function exchange(size) {
  return (async () => {
    const bytes = new Uint8Array(size).map((_, i) => (i * 7) & 255);
    if (window.channel.readyState !== 'open')
      await new Promise((open) => window.channel.addEventListener('open', open, { once: true }));
    const back = new Promise((resolve) => (window.channel.onmessage = (event) => resolve(new Uint8Array(event.data))));
    window.channel.send(bytes);
    const got = await back;
    return got.length === size && got.every((b, i) => b === bytes[i]);
  })();
}

/* Energies as one value each 20 ms on a common clock. */
function envelope(frames, from, count) {
  const out = new Array(count).fill(0);
  for (const { at, rms } of frames) {
    const slot = Math.floor((at - from) / 20);
    if (slot >= 0 && slot < count) out[slot] = Math.max(out[slot], rms);
  }
  return out;
}

function correlation(a, b) {
  const mean = (x) => x.reduce((sum, v) => sum + v, 0) / x.length;
  const [ma, mb] = [mean(a), mean(b)];
  let ab = 0, aa = 0, bb = 0;
  a.forEach((v, i) => ((ab += (v - ma) * (b[i] - mb)), (aa += (v - ma) ** 2), (bb += (b[i] - mb) ** 2)));
  return ab / Math.sqrt(aa * bb || 1);
}

/* The best match within 0 to 600 ms of delay. */
function match(sent, heard) {
  const from = Math.max(sent[0].at, heard[0].at);
  const count = Math.floor((Math.min(sent.at(-1).at, heard.at(-1).at) - from) / 20);
  const [a, b] = [envelope(sent, from, count), envelope(heard, from, count)];
  let best = 0;
  for (let delay = 0; delay < 30; delay++)
    best = Math.max(best, correlation(a.slice(0, count - delay), b.slice(delay)));
  return best;
}

async function open(args) {
  const page = await context.newPage();
  await page.goto(url);
  const peer = await startPeer(await page.evaluate(makeOffer), args);
  const took = await page.evaluate(connect, peer.answer);
  return { page, peer, took };
}

async function close({ page, peer }) {
  await page.evaluate(() => window.pc.close());
  const { code, words } = await peer.ended;
  await page.close();
  assert.equal(code, 0, words);
  return Number(/echoed (\d+)/.exec(words)?.[1]);
}

/* A busy machine may hold up the browser or our peer, which is no fault of theirs: what should be so must be so once in
 * that many times. */
const TIMES = 10;

/* A connection that needed none of its second attempts. */
async function openAtOnce(args) {
  for (let n = 1; ; n++) {
    const call = await open(args);
    if (call.took < 2000 || n === TIMES) return call;
    await close(call);
  }
}

/* What is not as it should be in six seconds of a call. */
async function faultsOf(call) {
  const got = await call.page.evaluate(listen, 6);
  const likeness = Math.min(got.sent.length, got.heard.length) > 100 ? match(got.sent, got.heard) : 0;
  return [
    [got.received > 200, `${got.received} packets`],
    [got.lost === 0, `${got.lost} lost`],
    [likeness > 0.8, `the envelopes' correlation is ${likeness}`],
    [got.rtt >= 0 && got.rtt < 0.2, `round trip ${got.rtt}`],
    [got.remoteLost === 0, `${got.remoteLost} lost on the way out`],
  ].filter(([isGood]) => !isGood).map(([, text]) => text);
}

for (const role of ['passive', 'active']) {
  test(`Chromium hears itself through our peer, which is ${role} in DTLS`, async () => {
    const call = await openAtOnce([role]);
    assert.ok(call.took < 2000, `connected after ${call.took} ms`);
    let faults = await faultsOf(call);
    for (let n = 1; faults.length && n < TIMES; n++) faults = await faultsOf(call);
    assert.deepEqual(faults, []);
    const echoed = await close(call);
    assert.ok(echoed > 200, `${echoed} echoed`);
  });
}

test('Chromium gets its messages back whole', async () => {
  const call = await open();
  for (const size of [1, 1000, 1200, 16384, 60000])
    assert.ok(await call.page.evaluate(exchange, size), `${size} bytes`);
  await close(call);
});
