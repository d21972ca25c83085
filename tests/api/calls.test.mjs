/* /v1/calls: starting with every rule, the log, ending, speaking. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { apiForFile, faultOf, iso, refused, uuid } from './contract.mjs';

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
  await end(body.callId);
});

const claimsOf = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));

test('the token lets its caller into the room of the call for an hour', async () => {
  const { call, token } = await start();
  const claims = claimsOf(token);
  assert.equal(claims.sub, call.participantIdentity);
  assert.equal(claims.video.room, call.roomName);
  assert.equal(claims.video.roomJoin, true);
  assert.ok(Math.abs(claims.exp - Date.now() / 1000 - 3600) < 30);
  await end(call.id);
});

test('metadata, variables, identity, webhooks come back on the call', async () => {
  const { call, token } = await start({
    participant: { identity: 'ann', name: 'Ann', ttlSeconds: 60 }, metadata: { order: 7, userId: 'mine' },
      variables: { city: 'Ulm', other: 'x' }, language: 'en',
    webhooks: [{ url: 'http://127.0.0.1:9/h', secret: 'a-long-secret' },
    { url: 'http://127.0.0.1:9/i', events: ['call.ended', 'call.ended'] }],
  });
  assert.equal(call.participantIdentity, 'ann');
  const claims = claimsOf(token);
  assert.deepEqual([claims.sub, claims.name], ['ann', 'Ann']);
  assert.ok(Math.abs(claims.exp - Date.now() / 1000 - 60) < 30);
  assert.deepEqual(call.metadata, { order: 7, variables: { city: 'Ulm', other: 'x' }, agentId: agent.id,
    agentName: 'Desk', userId: t.workspace.workspaceId, language: 'en' });
  assert.deepEqual(call.webhooks[0], { url: 'http://127.0.0.1:9/h', events: ['*'], secret: '********cret',
    delivered: 0, failed: 0 });
  assert.equal(call.webhooks[1].secret, null);
  await end(call.id);
});

const bad = (fields) => api('POST', '/v1/calls', { agentId: agent.id, ...fields });

test('a start without an agent', async () => {
  refused(await api('POST', '/v1/calls', {}), 400, 'VALIDATION_FAILED', 'agentId');
});

test('every fault of a start is told at once', async () => {
  const answer = await bad({ participant: { identity: 'agent-x', ttlSeconds: 29 }, metadata: [1],
    variables: { 'a b': 'x', c: 1 }, webhooks: [{ url: 'x', events: ['none'] }] });
  refused(answer, 400, 'VALIDATION_FAILED', 'participant.identity', 'participant.ttlSeconds', 'metadata',
    'variables.a b', 'variables.c', 'webhooks[0].url', 'webhooks[0].events[0]');
});

test('metadata over 16 KiB', async () => {
  refused(await bad({ metadata: { x: 'y'.repeat(17000) } }), 400, 'VALIDATION_FAILED', 'metadata');
});

test('fields that config does not have are forbidden before other faults of it', async () => {
  const config = { voice: {}, turn: { interruption: { x: 1 } }, call: { maxDurationSeconds: -1 } };
  refused(await bad({ config }), 403, 'CONFIG_FIELD_NOT_ALLOWED', 'config.voice', 'config.turn.interruption.x');
});

test('bounds of config', async () => {
  const config = { call: { maxDurationSeconds: 86401 }, vad: { threshold: 2, minSpeechMs: 1 },
    prompt: { greeting: { mode: 'x' } } };
  refused(await bad({ config }), 400, 'VALIDATION_FAILED', 'config.call.maxDurationSeconds', 'config.vad.threshold',
    'config.vad.minSpeechMs', 'config.prompt.greeting.mode');
});

test('an agent that is not there is told before the language', async () => {
  refused(await bad({ agentId: 'ua_none', language: 'xx' }), 404, 'NOT_FOUND');
});

test('a webhook that is not public is told before the language', async () => {
  refused(await bad({ webhooks: [{ url: 'http://10.0.0.1/' }], language: 'xx' }), 400, 'URL_NOT_ALLOWED');
});

test('more than ten webhooks', async () => {
  refused(await bad({ webhooks: Array(11).fill({ url: 'http://127.0.0.1/' }) }), 400, 'VALIDATION_FAILED', 'webhooks');
});

test('languages that nobody knows, or that the agent cannot speak', async () => {
  for (const language of ['xx', '', 'ta']) refused(await bad({ language }), 400, 'UNSUPPORTED_LANGUAGE');
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

/* An agent with these engines; and the language in which a call of it runs. */
const speaker = async (voice, stt) => {
  const { body } = await api('POST', '/v1/agents', { name: 'L', greetingMode: 'none', voice, stt });
  return body.agent;
};
const speak = async ({ id }, language) => {
  const body = await start({ agentId: id, language });
  await end(body.callId);
  assert.equal(body.call.metadata.language, body.language);
  return body.language;
};
const hinglish = () => speaker({ provider: 'espeak', language: 'hinglish' },
  { provider: 'standin-stt', language: 'hi' });

test('the own language may be sent by id or by iso', async () => {
  const agent = await hinglish();
  for (const language of ['hinglish', 'hi']) assert.equal(await speak(agent, language), 'hi');
});

test('Hindi and English need only a voice that speaks them', async () => {
  assert.equal(await speak(await hinglish(), 'en'), 'en');
  const english = await speaker({ provider: 'flite', language: 'en' }, {});
  for (const language of ['hi', 'hinglish', 'ta'])
    refused(await bad({ agentId: english.id, language }), 400, 'UNSUPPORTED_LANGUAGE');
});

test('any other language needs multilingual engines', async () => {
  refused(await bad({ agentId: (await hinglish()).id, language: 'ta' }), 400, 'UNSUPPORTED_LANGUAGE');
  const worldly = await speaker({ provider: 'standin-tts', language: 'en' },
    { provider: 'standin-stt', language: 'en' });
  for (const [language, iso] of [['ta', 'ta'], ['pa', 'pa'], ['or', 'or'], ['hinglish', 'hi']])
    assert.equal(await speak(worldly, language), iso);
});

test('a call in another language leaves its agent as it is', async () => {
  const worldly = await speaker({ provider: 'standin-tts', language: 'en' },
    { provider: 'standin-stt', language: 'en' });
  assert.equal(await speak(worldly, 'ta'), 'ta');
  const { body: { agent: after } } = await api('GET', `/v1/agents/${worldly.id}`);
  assert.deepEqual([after.voice, after.stt, after.updatedAt], [worldly.voice, worldly.stt, worldly.updatedAt]);
});

/* A workspace with an agent: { api, agentId }. */
const newDesk = async (limits) => {
  const { api: by, workspaceId } = await t.newWorkspace(limits);
  const { body } = await by('POST', '/v1/agents', { name: 'D', greetingMode: 'none' });
  return { api: by, workspaceId, agentId: body.agent.id };
};

test('on an empty balance no call is made', async () => {
  const { api: by, agentId } = await newDesk({ balance: 0 });
  refused(await by('POST', '/v1/calls', { agentId }), 402, 'INSUFFICIENT_BALANCE');
  assert.equal((await by('GET', '/v1/calls')).body.total, 0);
});

test('the language is told before the balance', async () => {
  const { api: by, agentId } = await newDesk({ balance: 0 });
  refused(await by('POST', '/v1/calls', { agentId, language: 'xx' }), 400, 'UNSUPPORTED_LANGUAGE');
});

test('the balance is told before the concurrent calls', async () => {
  const { api: by, agentId, workspaceId } = await newDesk({ calls: 1 });
  const { callId } = await start({ agentId }, by);
  sql(t.service, `UPDATE workspaces SET balance_usd4 = 0 WHERE id = '${workspaceId}'`);
  refused(await by('POST', '/v1/calls', { agentId }), 402, 'INSUFFICIENT_BALANCE');
  sql(t.service, `UPDATE workspaces SET balance_usd4 = 1 WHERE id = '${workspaceId}'`);
  refused(await by('POST', '/v1/calls', { agentId }), 429, 'CONCURRENT_CALL_LIMIT');
  await end(callId, by);
});

test('a call over the concurrent ones is refused until one has ended', async () => {
  const { api: by, agentId } = await newDesk({ calls: 1 });
  const { callId } = await start({ agentId }, by);
  refused(await by('POST', '/v1/calls', { agentId }), 429, 'CONCURRENT_CALL_LIMIT');
  await end(callId, by);
  await end((await start({ agentId }, by)).callId, by);
});

test('a call that was ended', async () => {
  const { callId } = await start();
  const { body: { call } } = await end(callId);
  assert.deepEqual([call.status, call.endReason, call.durationSeconds, call.callCost], ['ended', 'api', 0, 0]);
  assert.match(call.endedAt, iso);
});

test('ending is safe to repeat, by POST and DELETE', async () => {
  const { callId } = await start();
  const { body: { call } } = await end(callId);
  for (const again of [end(callId), api('DELETE', `/v1/calls/${callId}`), api('GET', `/v1/calls/${callId}`)])
    assert.deepEqual((await again).body.call, call);
});

test('DELETE ends a call', async () => {
  const { callId } = await start();
  assert.equal((await api('DELETE', `/v1/calls/${callId}`)).body.call.endReason, 'api');
});

const NO_CALL = '/v1/calls/0190a1b2-0000-7000-8000-000000000000';

test('a call that is not there', async () => {
  refused(await api('POST', `${NO_CALL}/end`), 404, 'NOT_FOUND');
  refused(await api('POST', `${NO_CALL}/say`, { text: 'x' }), 404, 'NOT_FOUND');
});

test('a line is said in an active call', async () => {
  const { callId } = await start();
  const say = () => api('POST', `/v1/calls/${callId}/say`, { text: 'Hello.' });
  const said = await until(async () => {
    const answer = await say();
    return answer.status !== 409 && answer;
  }, { what: 'the agent in the room' });
  assert.deepEqual(said.body, { ok: true });
  await end(callId);
  refused(await say(), 409, 'CALL_NOT_ACTIVE');
});

test('bounds of a line', async () => {
  const { callId } = await start();
  for (const text of ['', 'x'.repeat(2001)])
    refused(await api('POST', `/v1/calls/${callId}/say`, { text }), 400, 'VALIDATION_FAILED', 'text');
  await end(callId);
});

test('pages of the log, newest first, hold while calls are added', async () => {
  const { api: by, agentId } = await newDesk({ calls: 50 });
  const ids = [];
  for (let i = 0; i < 7; i++) ids.unshift((await start({ agentId }, by)).callId);
  const page = async (query) => {
    const { body: { calls, ...rest } } = await by('GET', `/v1/calls?limit=3${query}`);
    return { ids: calls.map(({ id }) => id), ...rest };
  };
  const first = await page('');
  assert.deepEqual([first.ids, first.total], [ids.slice(0, 3), 7]);
  await start({ agentId }, by);
  const second = await page(`&before=${first.nextCursor}`);
  assert.deepEqual([second.ids, second.total], [ids.slice(3, 6), 8]);
  const third = await page(`&before=${second.nextCursor}`);
  assert.deepEqual([third.ids, third.nextCursor], [ids.slice(6), null]);
});

test('the log by status and by agent', async () => {
  const { api: by, agentId } = await newDesk({ calls: 5 });
  const [ended] = [(await start({ agentId }, by)).callId, (await start({ agentId }, by)).callId];
  await end(ended, by);
  assert.deepEqual((await by('GET', '/v1/calls?status=ended')).body.calls.map(({ id }) => id), [ended]);
  assert.equal((await by('GET', `/v1/calls?agentId=${agentId}`)).body.total, 2);
  assert.equal((await by('GET', '/v1/calls?agentId=ua_none')).body.total, 0);
});

test('the log by end reason, by source and by day', async () => {
  const { api: by, agentId } = await newDesk({ calls: 5 });
  const [ended, running] = [(await start({ agentId }, by)).callId, (await start({ agentId }, by)).callId];
  const { call } = (await end(ended, by)).body;
  const found = async (query) => {
    const { body: { calls, total } } = await by('GET', `/v1/calls?${query}`);
    assert.equal(total, calls.length, query);
    return calls.map(({ id }) => id);
  };
  const day = call.createdAt.slice(0, 10);
  const all = await found(`day=${day}`); // midnight may have come between the two
  assert.equal(all.at(-1), ended);
  assert.deepEqual(await found('endReason=api'), [ended]);
  assert.deepEqual(await found(`endReason=api&source=api&agentId=${agentId}&status=ended&day=${day}`), [ended]);
  assert.deepEqual(await found('source=api'), [running, ended]);
  for (const query of ['endReason=user-left', 'source=embed', 'day=2020-02-29', 'endReason=api&status=created'])
    assert.deepEqual(await found(query), [], query);
});

test('faults of the query of the log', async () => {
  const queries = [['endReason=', 'endReason'], ['endReason=bored', 'endReason'], ['source=x', 'source'],
    ['day=2026-02-30', 'day'], ['day=today', 'day'], ['status=x', 'status'], ['limit=0', 'limit'],
    ['limit=101', 'limit'], ['limit=x', 'limit'], ['before=nonsense', 'before']];
  for (const [query, field] of queries)
    refused(await api('GET', `/v1/calls?${query}`), 400, 'VALIDATION_FAILED', field);
});

test('a number of the query that is out of bounds is told from what is no number', async () => {
  const told = async (limit) => faultOf(await api('GET', `/v1/calls?limit=${limit}`), 'limit');
  assert.equal(await told('-1'), await told('101'));
  assert.notEqual(await told('-'), await told('101'));
  assert.notEqual(await told('1-'), await told('101'));
});

test('a greeting and prompt of its own', async () => {
  const { callId } = await start({ config: { prompt: { system: 'Speak English.', greeting: { mode: 'none' } },
    turn: { minEndpointingDelayMs: 0, interruption: { enabled: false } },
    vad: { threshold: 0.7 }, call: { maxDurationSeconds: 60 } } });
  await end(callId);
});
