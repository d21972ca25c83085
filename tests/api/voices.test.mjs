/* POST /v1/voices/preview: a voice is heard before an agent has it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../harness/service.mjs';
import { apiForFile, refused } from './contract.mjs';

const { t, api } = apiForFile({});
const voice = { provider: 'standin-tts' };
const preview = (body, key = t.workspace.key, headers = {}) => fetch(`${t.service.url}/v1/voices/preview`, {
  method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body) });
const sound = async (answer) => {
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'audio/wav');
  const wav = Buffer.from(await answer.arrayBuffer());
  assert.equal(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 12), 'RIFFWAVE');
  assert.equal(wav.readUInt32LE(24), 24000);
  assert.equal(wav.readUInt32LE(40), wav.length - 44);
  assert.ok(wav.subarray(44).some((byte) => byte !== 0), 'it is no silence');
  return (wav.length - 44) / 48000;
};

test('a voice says the sample of its language, or what is sent', async () => {
  const standard = await sound(await preview({ voice }));
  const short = await sound(await preview({ voice, text: 'Hi.' }));
  const hindi = await sound(await preview({ voice: { ...voice, language: 'hi' } }));
  assert.ok(short < standard && short > 0.1, `${short} of ${standard}`);
  assert.ok(hindi > 0.5);
});

test('what cannot be heard stands at its field', async () => {
  refused(await api('POST', '/v1/voices/preview', { voice: { provider: 'nobody', speed: 9, language: 'xx' },
    text: '' }), 400, 'VALIDATION_FAILED', 'voice.provider', 'voice.speed', 'voice.language', 'text');
  refused(await api('POST', '/v1/voices/preview', { voice, text: 'x'.repeat(201) }), 400, 'VALIDATION_FAILED', 'text');
  refused(await api('POST', '/v1/voices/preview', { voice: { provider: 'elevenlabs' } }), 400, 'VALIDATION_FAILED',
    'voice.provider');
});

test("who has no money left, an agent's key and a publishable one hear nothing", async () => {
  const poor = await t.newWorkspace({ balance: 0 });
  refused(await poor.api('POST', '/v1/voices/preview', { voice }), 402, 'INSUFFICIENT_BALANCE');
  const { agent } = (await api('POST', '/v1/agents', { name: 'Desk', embed: { enabled: true } })).body;
  refused(await t.as(agent.apiKey)('POST', '/v1/voices/preview', { voice }), 403, 'FORBIDDEN');
  refused(await t.as(agent.publicKey)('POST', '/v1/voices/preview', { voice }), 403, 'FORBIDDEN');
});

test("a workspace hears one voice at a time and has few that wait; another's is heard meanwhile", async () => {
  const text = 'A sentence of some length: all of them are asked for before the first was heard. '.repeat(2);
  const other = await t.newWorkspace();
  /* On a slow machine the last of them may come when the first was heard: then all ask again. */
  await until(async () => {
    const own = Promise.all(Array.from({ length: 6 }, () => preview({ voice, text })));
    assert.ok(await sound(await preview({ voice, text: 'Hi.' }, other.key)) > 0.1);
    const answers = await own;
    const refusals = answers.filter(({ status }) => status === 429);
    assert.ok(refusals.length <= 3);
    for (const answer of refusals) assert.equal(answer.headers.get('retry-after'), '2');
    for (const answer of answers.filter((one) => !refusals.includes(one))) await sound(answer);
    return refusals.length === 3;
  }, { what: 'six that ask at once' });
});

test('an Idempotency-Key keeps no sound: asked again, it is spoken again', async () => {
  const headers = { 'Idempotency-Key': 'one' };
  for (const body of [{ voice, text: 'Hi.' }, { voice, text: 'Hi.' }]) {
    const answer = await preview(body, t.workspace.key, headers);
    assert.equal(answer.headers.get('idempotent-replayed'), null);
    await sound(answer);
  }
});
