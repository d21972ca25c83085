/* POST /v1/embed/calls: the publishable key on a web page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../harness/service.mjs';
import { apiForFile, refused, startApi } from './contract.mjs';

const { t, api } = apiForFile();

const make = async (embed, fields = {}) => (await api('POST', '/v1/agents',
  { name: 'e', greetingMode: 'none', embed: { enabled: true, ...embed }, ...fields })).body.agent;
const press = (agent, origin, body = {}) => t.as(agent.publicKey)('POST', '/v1/embed/calls', body,
  origin ? { Origin: origin } : {});

test('the answer is that of a start, without the call', async () => {
  const agent = await make({ maxCallSeconds: 40 }, { variables: { city: { defaultValue: 'Bonn' } } });
  const answer = await press(agent, 'https://any.example', {
    variables: { city: 'Ulm', unknown: 'x' }, language: 'en', participant: { name: 'Ann', identity: 'ignored' },
    config: { voice: 1 } });
  assert.equal(answer.status, 201, answer.text);
  assert.deepEqual(Object.keys(answer.body).sort(), ['callId', 'language', 'livekitUrl', 'token']);
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://any.example');
  const { call } = (await api('GET', `/v1/calls/${answer.body.callId}`)).body;
  assert.equal(call.source, 'embed');
  assert.deepEqual(call.metadata.variables, { city: 'Ulm' });
  assert.notEqual(call.participantIdentity, 'ignored');
  await api('DELETE', `/v1/calls/${call.id}`);
});

const allowsOrigin = (answer) => answer.headers.get('access-control-allow-origin');

test('a button that is switched off', async () => {
  refused(await press(await make({ enabled: false }), 'https://a.example'), 403, 'EMBED_DISABLED');
});

test('a page with a rotated key starts no more calls', async () => {
  const agent = await make({ maxCallSeconds: 40 });
  const { body } = await api('POST', `/v1/agents/${agent.id}/rotate-public-key`);
  assert.deepEqual([body.agent.apiKey, body.agent.embed], [agent.apiKey, agent.embed]);
  const old = await until(async () => {
    const answer = await press(agent, 'https://a.example');
    if (answer.status === 201) await api('DELETE', `/v1/calls/${answer.body.callId}`);
    return answer.status !== 201 && answer;
  }, { what: 'the old key to stop' });
  refused(old, 401, 'UNAUTHORIZED');
  const answer = await press({ publicKey: body.publicKey }, 'https://a.example');
  assert.equal(answer.status, 201, answer.text);
  await api('DELETE', `/v1/calls/${answer.body.callId}`);
});

const LISTED = { allowedOrigins: ['a.example', '*.b.example', 'c.example:8443'] };

test('origins of the list may start calls and read the answer', async () => {
  const agent = await make(LISTED);
  for (const origin of ['https://a.example', 'http://a.example:81', 'https://x.b.example', 'https://c.example:8443']) {
    const answer = await press(agent, origin);
    assert.equal(answer.status, 201, origin + answer.text);
    assert.equal(allowsOrigin(answer), origin);
    await api('DELETE', `/v1/calls/${answer.body.callId}`);
  }
});

test('other origins may neither', async () => {
  const agent = await make(LISTED);
  for (const origin of ['https://b.example', 'https://xa.example', 'https://c.example', 'null', undefined]) {
    const answer = await press(agent, origin);
    refused(answer, 403, 'ORIGIN_NOT_ALLOWED');
    assert.equal(allowsOrigin(answer), null);
  }
});

test('the limit of a day', async () => {
  refused(await press(await make({ dailySpendLimit: 0 }), 'https://a.example'), 402, 'DAILY_LIMIT_REACHED');
});

test('an allowed page can read what it did wrong', async () => {
  const answer = await press(await make(LISTED), 'https://a.example', { variables: 7 });
  refused(answer, 400, 'VALIDATION_FAILED', 'variables');
  assert.equal(allowsOrigin(answer), 'https://a.example');
});

/* What a token says. */
const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));

test('a visitor that joins none of its calls holds ten, for as long as their tokens are good', async () => {
  const own = await t.newWorkspace({ calls: 30 });
  const { body: { agent } } = await own.api('POST', '/v1/agents',
    { name: 'e', greetingMode: 'none', embed: { enabled: true } });
  const started = [];
  const from = Date.now() / 1000;
  for (let i = 0; i < 10; i++) {
    const answer = await press(agent, 'https://a.example');
    assert.equal(answer.status, 201, answer.text);
    started.push(answer.body);
  }
  const { exp } = claims(started[0].token);
  assert.ok(exp > from + 118 && exp < Date.now() / 1000 + 122, `the token was good for ${exp - from} s`);
  refused(await press(agent, 'https://a.example'), 429, 'CONCURRENT_CALL_LIMIT');
  const other = await own.api('POST', '/v1/agents', { name: 'f', greetingMode: 'none', embed: { enabled: true } });
  assert.equal((await press(other.body.agent, 'https://a.example')).status, 201);
  assert.equal((await own.api('POST', '/v1/calls', { agentId: agent.id })).status, 201);
  await own.api('DELETE', `/v1/calls/${started[0].callId}`);
  assert.equal((await press(agent, 'https://a.example')).status, 201);
});

test("one visitor's answer is not another's", async () => {
  const proxied = await startApi({ env: { EARSHOT_SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
  try {
    const { body: { agent } } = await proxied.api('POST', '/v1/agents',
      { name: 'e', greetingMode: 'none', embed: { enabled: true } });
    const from = (address) => proxied.as(agent.publicKey)('POST', '/v1/embed/calls', {},
      { 'X-Forwarded-For': address, 'Idempotency-Key': 'same' });
    const one = await from('198.51.100.1'), again = await from('198.51.100.1'), two = await from('198.51.100.2');
    assert.deepEqual([one.status, again.status, two.status], [201, 201, 201]);
    assert.equal(again.body.token, one.body.token);
    assert.notEqual(two.body.callId, one.body.callId);
    const [a, b] = [await from('2001:db8:1:2::1'), await from('2001:db8:1:2:ffff::9')];
    assert.equal(a.body.callId, b.body.callId); // one /64 is one address
  } finally {
    await proxied.close();
  }
});

test('a preflight is for any origin', async () => {
  const answer = await t.as()('OPTIONS', '/v1/embed/calls', undefined,
    { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' });
  assert.deepEqual([answer.status, allowsOrigin(answer)], [204, 'https://a.example']);
  assert.match(answer.headers.get('access-control-allow-headers'), /Authorization/);
  assert.equal(answer.headers.get('access-control-max-age'), '600');
});

test('so is a 401', async () => {
  const answer = await t.as('pk_x')('POST', '/v1/embed/calls', {}, { Origin: 'https://a.example' });
  refused(answer, 401, 'UNAUTHORIZED');
  assert.equal(allowsOrigin(answer), 'https://a.example');
});
