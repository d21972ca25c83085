/* Every network engine against its vendor's stand-in, as `earshot doctor` tries it: a sentence spoken, heard or
 * answered; and each fault told by its class, in time, without the key. That the stand-ins speak the vendors' wires
 * is clients.test.mjs. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES, settingsOf, startVendors } from '../fake/vendors/server.mjs';
import { binary } from '../harness/service.mjs';

const KEY = 'sk-very-secret-key-0123456789';
const KIND = {
  spoke: /spoke \d+\.\d s of sound, the first after (\d+) ms/,
  heard: /heard "What are your opening hours\?" after (\d+) ms/,
  made: /made "8 numbers" after (\d+) ms/,
  answered: /answered "We are open from nine to five every day\." after (\d+) ms/,
};
const DOES = {
  soniox: 'heard',
  deepgram: 'heard',
  'deepgram-flux': 'heard',
  'openai-live': 'heard',
  'openai-stt': 'heard',
  cartesia: 'spoke',
  elevenlabs: 'spoke',
  'openai-tts': 'spoke',
  openai: 'answered',
  'openai-embeddings': 'made',
  anthropic: 'answered',
};

let vendors, folder;
before(async () => { vendors = await startVendors(); folder = mkdtempSync(join(tmpdir(), 'earshot-vendors-')); });
after(async () => { await vendors.close(); rmSync(folder, { recursive: true }); });

/* What the doctor says of one engine with these settings. The one that would listen on this machine is off: it would
 * take longer than all others. */
function examine(engine, settings) {
  const sets = Object.entries(settings).flatMap(([name, value]) => ['--set', `engine.${engine}.${name}=${value}`]);
  sets.push('--set', 'engine.pocketsphinx.enabled=false');
  const env = { PATH: process.env.PATH, EARSHOT_DATA: folder };
  return new Promise((resolve) => execFile(binary, ['doctor', ...sets], { env }, (error, stdout, stderr) => {
    assert.doesNotMatch(stdout + stderr, new RegExp(KEY), 'the key is shown');
    const line = stdout.split('\n').find((one) => one.includes(` ${engine}: `));
    assert.ok(line, `the doctor says nothing of ${engine}: ${stdout}${stderr}`);
    resolve(line);
  }));
}

const all = Object.keys(ENGINES);
const each = (fault, check) =>
  Promise.all(all.map(async (engine) => check(engine, await examine(engine, settingsOf(vendors, engine, fault, KEY)))));

test('every engine does what it is for', () => each('ok', (engine, line) => {
  assert.match(line, /^good/);
  assert.match(line, KIND[DOES[engine]]);
}));

test('a slow first byte is waited for', () => each('slow', (engine, line) => {
  const ms = Number(KIND[DOES[engine]].exec(line)?.[1]);
  assert.ok(ms >= 1500, line);
}));

test('finals that come twice do no harm', () => each('twice', (engine, line) => assert.match(line, /^good/)));

for (const [fault, sentence] of Object.entries({
  refused: /refused the key \((HTTP 401|.*Incorrect key provided: \*+)/,
  rate: /quota is used up \(HTTP 429/,
  ratedate: /quota is used up \(HTTP 429/,
  down: /could not be reached \(HTTP 503/,
  cut: /could not be reached/,
  garbage: /could not be understood/,
})) {
  test(`${fault} is told by its class`, () => each(fault, (engine, line) => {
    if (fault === 'cut' && ['openai-stt', 'openai-embeddings'].includes(engine))
      return; /* one short answer: nothing to cut */
    assert.match(line, /^fault/);
    assert.match(line, sentence, `${engine}: ${line}`);
  }));
}

for (const [fault, what] of [['silent', 'never answers'], ['stall', 'falls silent in the middle']]) {
  test(`a vendor that ${what} is given up in time`, () => each(fault, (engine, line) => {
    if (fault === 'stall' && ['openai-stt', 'openai-embeddings'].includes(engine))
      return undefined; /* one short answer: no middle */
    if (engine.startsWith('deepgram'))
      /* answers no request for last words when it holds none: only the ping finds that it is gone */
      return assert.match(line, /^warning.* heard nothing/);
    assert.match(line, /^fault/);
    return assert.match(line, /(did not answer in time|could not be reached)/);
  }));
}

test('a name that does not resolve and a port where nobody listens are told', async () => {
  for (const engine of all)
    for (const url of ['http://no-such-vendor.invalid/v1', 'http://127.0.0.1:9/v1'])
      assert.match(await examine(engine, { url, key: KEY }), /^fault.*could not be reached/);
});

/* Voices that may be asked for Opus. */
const OPUS = ['elevenlabs', 'openai-tts'];
const eachOpus = (fault, check) =>
  Promise.all(OPUS.map(async (engine) =>
    check(await examine(engine, { ...settingsOf(vendors, engine, fault, KEY), format: 'opus' }))));

test('Opus of a voice is read to its end', async () => {
  for (const fault of ['ok', 'slow', 'twice', 'skips'])
    await eachOpus(fault, (line) => assert.match(line, /^good.* spoke 1\.[78] s of sound/));
  assert.equal(vendors.seen.filter((one) => one.path === '/v1/audio/speech').at(-1).body.response_format, 'opus');
  const eleven = vendors.seen.filter((one) => one.path.endsWith('/multi-stream-input')).at(-1);
  assert.equal(eleven.query.get('output_format'), 'opus_48000_32');
});

test('Opus that is damaged or cut is told by its class', async () => {
  for (const fault of ['nohead', 'damaged', 'truncated', 'garbage'])
    await eachOpus(fault, (line) => assert.match(line, /^fault.*could not be understood/, fault));
  for (const fault of ['cut', 'silent', 'down'])
    await eachOpus(fault, (line) => assert.match(line, /^fault.*(could not be reached|did not answer in time)/, fault));
});

test('Opus in no container is read where the settings say so, and else refused', async () => {
  const settings = settingsOf(vendors, 'elevenlabs', 'raw', KEY);
  assert.match(await examine('elevenlabs', { ...settings, format: 'opus-raw' }), /^good.* spoke 1\.[78] s of sound/);
  assert.match(await examine('elevenlabs', { ...settings, format: 'opus' }), /^fault.*could not be understood/);
});

test('wishes reach each vendor in its own terms', async () => {
  const asked = (path) => vendors.seen.filter((one) => one.path === path).at(-1);
  await each('ok', () => {});
  assert.equal(asked('/v1/audio/speech').body.response_format, 'wav');
  assert.equal(asked('/v1/audio/transcriptions').form.get('language'), 'en');
  assert.deepEqual(asked('/transcribe-websocket').messages[0].language_hints, ['en']);
  assert.equal(asked('/v1/listen').query.get('language'), 'en');
  assert.equal(asked('/v2/listen').query.get('model'), 'flux-general-en');
  const cartesia = asked('/tts/websocket').messages[0];
  assert.deepEqual([cartesia.language, cartesia.generation_config.speed, cartesia.continue], ['en', 1, false]);
  const eleven = vendors.seen.filter((one) => one.path.endsWith('/multi-stream-input')).at(-1);
  assert.equal(eleven.query.get('language_code'), 'en');
  assert.deepEqual(
    eleven.messages.slice(0, 3).map((message) => message.text ?? (message.close_context && 'close')),
    [' ', 'What are your opening hours? ', 'close'],
  );
});
