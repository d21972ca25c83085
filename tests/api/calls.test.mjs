/* /v1/calls: starting with every rule, the log, ending, speaking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from '../harness/sql.mjs';
import { apiForFile, iso, refused, uuid } from './contract.mjs';

let agent;
const { t, api } = apiForFile({}, async () => {
  agent = (await api('POST', '/v1/agents', { name: 'Desk', variables: { city: { defaultValue: 'Bonn' } },
    greetingMode: 'none' })).body.agent;
});

const start = async (fields = {}, by = api) => {
  const answer = await by('POST', '/v1/calls', { agentId: agent.id, ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};
const end = (id, by = api) => by('POST', `/v1/calls/${id}/end`);

test('an agent alone is enough', async () => {
  const body = await start();
  assert.match(body.callId, uuid);
  assert.match(body.livekitUrl, /^wss?:\/\//);
  assert.equal('language' in body, false);
  const { call } = body;
  assert.equal(call.id, body.callId);
  assert.ok(['created', 'active'].includes(call.status));
  assert.deepEqual([call.source, call.endReason, call.userJoinedAt, call.endedAt, call.callCost, call.durationSeconds],
    ['api', null, null, null, 0, 0]);
  assert.match(call.participantIdentity, /^caller-[A-Za-z0-9]{8}$/);
  assert.deepEqual(call.metadata, { variables: {}, agentId: agent.id, agentName: 'Desk',
    userId: t.workspace.workspaceId });
  assert.equal(call.costPerMinute, agent.costPerMinute);
  const claims = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url'));
  assert.equal(claims.sub, call.participantIdentity);
  assert.equal(claims.video.room, call.roomName);
  assert.equal(claims.video.roomJoin, true);
  assert.ok(Math.abs(claims.exp - Date.now() / 1000 - 3600) < 30);
  await end(body.callId);
});

test('metadata, variables, identity, webhooks come back on the call', async () => {
  const { call } = await start({
    participant: { identity: 'ann', name: 'Ann', ttlSeconds: 60 }, metadata: { order: 7, userId: 'mine' },
      variables: { city: 'Ulm', other: 'x' }, language: 'en',
    webhooks: [{ url: 'http://127.0.0.1:9/h', secret: 'a-long-secret' },
    { url: 'http://127.0.0.1:9/i', events: ['call.ended', 'call.ended'] }],
  });
  assert.equal(call.participantIdentity, 'ann');
  assert.deepEqual(call.metadata, { order: 7, variables: { city: 'Ulm', other: 'x' }, agentId: agent.id,
    agentName: 'Desk', userId: t.workspace.workspaceId, language: 'en' });
  assert.deepEqual(call.webhooks[0], { url: 'http://127.0.0.1:9/h', events: ['*'], secret: '********cret',
    delivered: 0, failed: 0 });
  assert.equal(call.webhooks[1].secret, null);
  await end(call.id);
});

test('faults, and the order of the refusals', async () => {
  const bad = (fields) => api('POST', '/v1/calls', { agentId: agent.id, ...fields });
  refused(await api('POST', '/v1/calls', {}), 400, 'VALIDATION_FAILED', 'agentId');
  refused(await bad({ participant: { identity: 'agent-x', ttlSeconds: 29 }, metadata: [1],
    variables: { 'a b': 'x', c: 1 }, webhooks: [{ url: 'x', events: ['none'] }] }), 400,
    'VALIDATION_FAILED', 'participant.identity', 'participant.ttlSeconds', 'metadata', 'variables.a b', 'variables.c',
    'webhooks[0].url', 'webhooks[0].events[0]');
  refused(await bad({ metadata: { x: 'y'.repeat(17000) } }), 400, 'VALIDATION_FAILED', 'metadata');
  refused(await bad({ config: { voice: {}, turn: { interruption: { x: 1 } }, call: { maxDurationSeconds: -1 } } }),
    403, 'CONFIG_FIELD_NOT_ALLOWED', 'config.voice',
    'config.turn.interruption.x');
  refused(await bad({ config: { call: { maxDurationSeconds: 86401 }, vad: { threshold: 2, minSpeechMs: 1 },
    prompt: { greeting: { mode: 'x' } } } }), 400, 'VALIDATION_FAILED',
    'config.call.maxDurationSeconds', 'config.vad.threshold', 'config.vad.minSpeechMs', 'config.prompt.greeting.mode');
  refused(await api('POST', '/v1/calls', { agentId: 'ua_none', language: 'xx' }), 404, 'NOT_FOUND');
  refused(await bad({ webhooks: [{ url: 'http://10.0.0.1/' }], language: 'xx' }), 400, 'URL_NOT_ALLOWED');
  for (const language of ['xx', '', 'ta']) refused(await bad({ language }), 400, 'UNSUPPORTED_LANGUAGE');
  refused(await bad({ webhooks: Array(11).fill({ url: 'http://127.0.0.1/' }) }), 400, 'VALIDATION_FAILED', 'webhooks');
});

test('an agent whose stored language nobody knows any more speaks the default one', async () => {
  const make = async () => (await api('POST', '/v1/agents', { name: 'Old', greetingMode: 'none' })).body.agent;
  const [old, empty] = [await make(), await make()];
  sql(t.service, `UPDATE agents SET settings = replace(settings, '"language":"en"', '"language":"xx"')
      WHERE id = '${old.id}';
    UPDATE agents SET settings = '{}' WHERE id = '${empty.id}';`);
  assert.equal((await api('GET', `/v1/agents/${old.id}`)).body.agent.voice.language, 'xx');
  for (const one of [old, empty]) await end((await start({ agentId: one.id })).callId);
});

test('language: the own one by id or iso, another one by what the engines speak', async () => {
  const make = async (voice, stt) => (await api('POST', '/v1/agents', { name: 'L', greetingMode: 'none', voice, stt }))
    .body.agent;
  const speak = async (speaker, language) => {
    const body = await start({ agentId: speaker.id, language });
    await end(body.callId);
    assert.equal(body.call.metadata.language, body.language);
    return body.language;
  };
  const hinglish = await make({ provider: 'espeak', language: 'hinglish' },
    { provider: 'standin-stt', language: 'hi' });
  assert.equal(await speak(hinglish, 'hinglish'), 'hi');
  assert.equal(await speak(hinglish, 'hi'), 'hi');
  assert.equal(await speak(hinglish, 'en'), 'en');
  const english = await make({ provider: 'flite', language: 'en' }, {});
  for (const language of ['hi', 'hinglish', 'ta']) refused(await api('POST', '/v1/calls',
    { agentId: english.id, language }), 400, 'UNSUPPORTED_LANGUAGE');
  refused(await api('POST', '/v1/calls', { agentId: hinglish.id, language: 'ta' }), 400, 'UNSUPPORTED_LANGUAGE');
  const worldly = await make({ provider: 'standin-tts', language: 'en' }, { provider: 'standin-stt', language: 'en' });
  for (const language of ['ta', 'pa', 'or', 'hinglish']) assert.equal(await speak(worldly, language),
    language === 'hinglish' ? 'hi' : language);
});

test('an empty balance and too many calls', async () => {
  const poor = await t.newWorkspace({ balance: 0 });
  const poorAgent = (await poor.api('POST', '/v1/agents', { name: 'P' })).body.agent;
  refused(await poor.api('POST', '/v1/calls', { agentId: poorAgent.id }), 402, 'INSUFFICIENT_BALANCE');
  refused(await poor.api('POST', '/v1/calls', { agentId: poorAgent.id, language: 'xx' }), 400, 'UNSUPPORTED_LANGUAGE');
  assert.equal((await poor.api('GET', '/v1/calls')).body.total, 0);
  const small = await t.newWorkspace({ calls: 1 });
  const smallAgent = (await small.api('POST', '/v1/agents', { name: 'S', greetingMode: 'none' })).body.agent;
  const { callId } = await start({ agentId: smallAgent.id }, small.api);
  refused(await small.api('POST', '/v1/calls', { agentId: smallAgent.id }), 429, 'CONCURRENT_CALL_LIMIT');
  await end(callId, small.api);
  await end((await start({ agentId: smallAgent.id }, small.api)).callId, small.api);
});

test('ending is safe to repeat, by POST and DELETE', async () => {
  const { callId } = await start();
  const { body: { call } } = await end(callId);
  assert.deepEqual([call.status, call.endReason, call.durationSeconds, call.callCost], ['ended', 'api', 0, 0]);
  assert.match(call.endedAt, iso);
  assert.deepEqual((await end(callId)).body.call, call);
  assert.deepEqual((await api('DELETE', `/v1/calls/${callId}`)).body.call, call);
  assert.deepEqual((await api('GET', `/v1/calls/${callId}`)).body.call, call);
  refused(await end('0190a1b2-0000-7000-8000-000000000000'), 404, 'NOT_FOUND');
  const second = await start();
  assert.equal((await api('DELETE', `/v1/calls/${second.callId}`)).body.call.endReason, 'api');
});

test('say: bounds, and only into an active call', async () => {
  const { callId } = await start();
  refused(await api('POST', `/v1/calls/${callId}/say`, { text: '' }), 400, 'VALIDATION_FAILED', 'text');
  refused(await api('POST', `/v1/calls/${callId}/say`, { text: 'x'.repeat(2001) }), 400, 'VALIDATION_FAILED', 'text');
  let answer;
  const deadline = Date.now() + 10000;
  do answer = await api('POST', `/v1/calls/${callId}/say`, { text: 'Hello.' });
    while (answer.status === 409 && Date.now() < deadline);
  assert.deepEqual(answer.body, { ok: true });
  await end(callId);
  refused(await api('POST', `/v1/calls/${callId}/say`, { text: 'Hello.' }), 409, 'CALL_NOT_ACTIVE');
  refused(await api('POST', '/v1/calls/0190a1b2-0000-7000-8000-000000000000/say', { text: 'x' }), 404, 'NOT_FOUND');
});

test('the log: newest first, pages, filters, totals that hold while calls are added', async () => {
  const own = await t.newWorkspace({ calls: 50 });
  const desk = (await own.api('POST', '/v1/agents', { name: 'D', greetingMode: 'none' })).body.agent;
  const ids = [];
  for (let i = 0; i < 7; i++) ids.unshift((await start({ agentId: desk.id }, own.api)).callId);
  const first = (await own.api('GET', '/v1/calls?limit=3')).body;
  assert.deepEqual([first.calls.map((call) => call.id), first.total], [ids.slice(0, 3), 7]);
  await start({ agentId: desk.id }, own.api);
  const second = (await own.api('GET', `/v1/calls?limit=3&before=${first.nextCursor}`)).body;
  assert.deepEqual([second.calls.map((call) => call.id), second.total], [ids.slice(3, 6), 8]);
  const third = (await own.api('GET', `/v1/calls?limit=3&before=${second.nextCursor}`)).body;
  assert.deepEqual([third.calls.map((call) => call.id), third.nextCursor], [ids.slice(6), null]);
  await end(ids[0], own.api);
  assert.deepEqual((await own.api('GET', '/v1/calls?status=ended')).body.calls.map((call) => call.id), [ids[0]]);
  assert.equal((await own.api('GET', '/v1/calls?agentId=ua_none')).body.total, 0);
  for (const [query, field] of [['status=x', 'status'], ['limit=0', 'limit'], ['limit=101', 'limit'],
    ['limit=x', 'limit'], ['before=nonsense', 'before']])
    refused(await own.api('GET', `/v1/calls?${query}`), 400, 'VALIDATION_FAILED', field);
});

test('a greeting and prompt of its own', async () => {
  const { callId } = await start({ config: { prompt: { system: 'Speak English.', greeting: { mode: 'none' } },
    turn: { minEndpointingDelayMs: 0, interruption: { enabled: false } },
    vad: { threshold: 0.7 }, call: { maxDurationSeconds: 60 } } });
  await end(callId);
});
