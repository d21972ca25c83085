/* Whole calls over network engines: a caller's question through a recogniser, a model and a voice that speak their
 * vendors' wires, and back to the caller's ear. Each stack is heard, answered and spoken; a model that is down is
 * replaced without losing the call. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingsOf, startVendors } from '../fake/vendors/server.mjs';
import { isLoud } from '../fake/vendors/sound.mjs';
import { speechFile } from '../harness/browser.mjs';
import { binary, makeWorkspace, startService, until } from '../harness/service.mjs';
import { buildOtelcol, checkTrace, startCollector, startOtelcol } from './collector.mjs';

const STACKS = [
  ['soniox', 'openai', 'cartesia'],
  ['deepgram', 'anthropic', 'elevenlabs'],
  ['deepgram-flux', 'openai', 'openai-tts'],
  ['openai-stt', 'anthropic', 'cartesia'],
];

/* What the agent wishes, over and under what the engines can do; and what each is asked in its own terms. */
const WISHES = {
  systemInstruction: 'You answer for Salon Lumiere.',
  voice: { speed: 0.2, volume: 2, emotion: 'calm' },
  stt: { language: 'hi' },
  llm: { temperature: 0.9, maxTokens: 77 },
};
const NAME = 'Salon Lumiere';
const ASKED = {
  soniox: ({ messages: [start] }) => [start.language_hints, start.context.terms.includes(NAME)],
  deepgram: ({ query }) => [query.get('language'), query.getAll('keyterm').includes(NAME)],
  'deepgram-flux': ({ query }) =>
    [query.get('model'), query.getAll('language_hint'), query.getAll('keyterm').includes(NAME)],
  'openai-stt': ({ form }) => [form.get('language'), form.get('prompt').includes(NAME)],
  openai: ({ body }) => [body.temperature, body.max_tokens, JSON.stringify(body.messages[0]).includes(NAME)],
  anthropic: ({ body }) => [body.temperature, body.max_tokens, JSON.stringify(body.system).includes(NAME)],
  cartesia: ({ messages: [order] }) => order.generation_config,
  elevenlabs: ({ messages: [first] }) => first.voice_settings,
  'openai-tts': ({ body }) => body.speed,
};
const IN_ITS_TERMS = {
  soniox: [['hi', 'en'], true],
  deepgram: ['multi', true],
  'deepgram-flux': ['flux-general-multi', ['hi', 'en'], true],
  'openai-stt': ['hi', true],
  openai: [0.9, 77, true],
  anthropic: [0.9, 77, true],
  cartesia: { speed: 0.6, volume: 2, emotion: 'calm' },
  elevenlabs: { speed: 0.7 },
  'openai-tts': 0.25,
};

const WIRE = {
  soniox: '/transcribe-websocket',
  deepgram: '/v1/listen',
  'deepgram-flux': '/v2/listen',
  'openai-stt': '/audio/transcriptions',
  openai: '/chat/completions',
  anthropic: '/v1/messages',
  cartesia: '/tts/websocket',
  elevenlabs: '/multi-stream-input',
  'openai-tts': '/audio/speech',
};

/* Their connections are opened before anything is asked, the sockets are open by themselves. */
const OVER_HTTP = ['openai', 'anthropic', 'openai-stt', 'openai-tts'];

let vendors, collector;
before(async () => { [vendors, collector] = [await startVendors(), await startCollector()]; });
after(() => { vendors.close(); collector.close(); });

/* Settings that switch these engines on, in the environment. */
function settings(engines, faults = {}) {
  const env = {};
  for (const engine of engines)
    for (const [name, value] of Object.entries({
      ...settingsOf(vendors, engine, faults[engine] ?? 'ok'),
      default: 'true',
    }))
      env[`EARSHOT_ENGINE_${engine.toUpperCase().replaceAll('-', '_')}_${name.toUpperCase()}`] = value;
  return env;
}

/* What a caller who asks one question is told. */
async function call(service, wishes = {}) {
  const { key, api } = await makeWorkspace(service);
  const made = await api('POST', '/v1/agents', {
    name: 'Desk',
    instructions: 'You answer for Salon Lumiere.',
    greeting: { mode: 'none' },
    ...wishes,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const reply = join(service.data, `${made.body.agent.id}.wav`),
    question = speechFile('What are your opening hours?', { before: 0.5, after: 0.5 });
  const { stdout } = await new Promise((resolve) =>
    execFile(
      binary,
      [
        'call',
        '--agent',
        made.body.agent.id,
        '--in',
        question,
        '--out',
        reply,
        '--url',
        service.url,
        '--key',
        key,
        '--json',
      ],
      { env: service.env, maxBuffer: 1 << 24 },
      (error, out, stderr) => resolve({ stdout: out, stderr }),
    ),
  );
  const events = stdout.trim().split('\n').map((line) => JSON.parse(line));
  const ended = await until(
    async () => (await api('GET', '/v1/calls?limit=1')).body.calls.find((one) => one.status === 'ended'),
    { what: 'the end of the call' },
  );
  return { events, ended, sound: readFileSync(reply) };
}

const said = (events, type) => events.filter((event) => event.type === type).map((event) => event.text).join(' ');

for (const stack of STACKS) {
  test(`${stack.join(', ')} carry a call`, async () => {
    const traces = stack === STACKS[0]; // the collector is told of one call alone
    const env = { ...settings(stack), ...(traces ? { EARSHOT_OTEL_ENDPOINT: collector.url } : {}) };
    const service = await startService({ env }), from = vendors.seen.length;
    try {
      const { events, sound, ended } = await call(service, WISHES);
      assert.match(said(events, 'you'), /What are your opening hours\?/);
      assert.match(said(events, 'agent'), /We are open from nine to five every day\./);
      assert.ok(sound.length > 100000, `${sound.length} bytes were heard`);
      for (const engine of stack) {
        const asked = vendors.seen.slice(from).find((one) => one.path.endsWith(WIRE[engine]));
        assert.ok(asked, `${engine} was not asked`);
        assert.deepEqual(ASKED[engine](asked), IN_ITS_TERMS[engine], engine);
      }
      const here = vendors.seen.slice(from), asked = here.findIndex((one) => one.body || one.form);
      const ahead = here.slice(0, asked).filter((one) => one.isAhead);
      assert.equal(ahead.length, stack.filter((engine) => OVER_HTTP.includes(engine)).length);
      assert.ok(!service.output.includes('call.error'), service.output);
      if (traces) await checkTrace(collector, ended, stack[1]);
    } finally {
      await service.close();
    }
  });
}

test('the OpenTelemetry Collector takes the trace of a call', async (t) => {
  if (!process.env.EARSHOT_OTELCOL) return t.skip('EARSHOT_OTELCOL=1 builds it: a minute of CPU and its modules');
  const missing = await buildOtelcol();
  if (missing) return t.skip(missing);
  const real = await startOtelcol(), stack = STACKS[1];
  const service = await startService({ env: { ...settings(stack), EARSHOT_OTEL_ENDPOINT: real.url } });
  try {
    const { ended } = await call(service);
    await checkTrace(real, ended, stack[1]);
    const text = await (await fetch(`${service.url}/metrics`)).text();
    assert.match(text, /^earshot_trace_spans_total\{outcome="sent"\} [1-9]/m);
    assert.doesNotMatch(text, /^earshot_trace_spans_total\{outcome="lost"\} [1-9]/m);
  } finally {
    await service.close();
    real.close();
  }
});

/* Frames of 20 ms at 16 kHz in which something is heard. */
function loudFrames(sound) {
  const frames = Array.from({ length: Math.floor((sound.length - 44) / 640) }, (_, i) =>
    sound.subarray(44 + i * 640, 44 + (i + 1) * 640));
  return frames.filter(isLoud).length;
}

test('two calls at once speak over one connection, and each hears its own', async () => {
  const env = { ...settings(['soniox', 'openai', 'cartesia']), EARSHOT_RTC_LOOPS: '1' };
  const service = await startService({ env }), from = vendors.seen.length;
  try {
    const heard = await Promise.all([call(service), call(service)]); // of two workspaces
    const connections = vendors.seen.slice(from).filter((one) => one.path === WIRE.cartesia);
    assert.equal(connections.length, 1);
    const contexts = connections[0].messages.filter((order) => order.transcript).map((order) => order.context_id);
    assert.ok(contexts.length >= 2 && new Set(contexts).size === contexts.length, contexts.join());
    for (const { events, sound } of heard) {
      assert.match(said(events, 'agent'), /We are open from nine to five every day\./);
      const loud = loudFrames(sound); // greeting and answer, 40 characters each, 16 a second
      assert.ok(loud >= 240 && loud <= 262, `${loud} frames were heard`);
    }
    assert.ok(!service.output.includes('call.error'), service.output);
  } finally {
    await service.close();
  }
});

/* Frames of speech so far, by how they were made. */
async function framesOf(service) {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^earshot_voice_frames_total\{how="(\w+)"\} (\d+)$/gm)].map(([, how, n]) => [how, Number(n)]),
  );
}

for (const [voice, format, fault] of [
  ['elevenlabs', 'opus', 'ok'], ['elevenlabs', 'opus-raw', 'raw'], ['openai-tts', 'opus', 'ok'],
]) {
  test(`${format} of ${voice} goes to the caller as it is`, async () => {
    const env = settings(['soniox', 'openai', voice], { [voice]: fault });
    env[`EARSHOT_ENGINE_${voice.toUpperCase().replaceAll('-', '_')}_FORMAT`] = format;
    const service = await startService({ env });
    try {
      const { events, sound } = await call(service);
      assert.match(said(events, 'agent'), /We are open from nine to five every day\./);
      const loud = loudFrames(sound); // greeting and answer of 40 characters, 16 a second, in 20 ms
      assert.ok(loud >= 240 && loud <= 262, `${loud} frames were heard`);
      const made = await until(async () => {
        const counted = await framesOf(service);
        return counted.relayed && counted;
      }, { what: 'the frames to be counted' });
      assert.ok(made.relayed >= 250 && !made.encoded, JSON.stringify(made));
      assert.ok(!service.output.includes('call.error'), service.output);
    } finally {
      await service.close();
    }
  });
}

test('a model that is down is replaced within the call, and the key is in no log', async () => {
  const env = settings(['soniox', 'openai', 'anthropic', 'cartesia'], { openai: 'refused' });
  delete env.EARSHOT_ENGINE_ANTHROPIC_DEFAULT;
  env.EARSHOT_ENGINE_OPENAI_KEY = 'sk-very-secret-key-0123456789';
  const service = await startService({ env });
  try {
    const { events } = await call(service);
    assert.match(said(events, 'agent'), /We are open from nine to five every day\./);
    assert.match(service.output, /call\.error.*stage=(llm|greeting)/);
    assert.doesNotMatch(service.output, /very-secret/);
    assert.doesNotMatch(JSON.stringify(events), /very-secret|Incorrect/);
  } finally {
    await service.close();
  }
});
