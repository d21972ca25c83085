/* /v1/webhooks: subscriptions and their secret. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { until } from '../harness/service.mjs';
import { apiForFile, refused } from './contract.mjs';

let receiver;
const received = [];
const { t, api } = apiForFile({}, async () => {
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      received.push({ headers: request.headers, body, url: request.url });
      response.end('ok');
    });
  });
  await new Promise((listening) => receiver.listen(0, '127.0.0.1', listening));
});
after(() => receiver.close());

const url = (path = '/hook') => `http://127.0.0.1:${receiver.address().port}${path}`;
const create = async (fields = {}) => {
  const answer = await api('POST', '/v1/webhooks', { url: url(), ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.webhook;
};

test('the secret is shown in full once', async () => {
  const webhook = await create();
  assert.match(webhook.secret, /^whsec_[A-Za-z0-9]{32}$/);
  const { body } = await api('GET', `/v1/webhooks/${webhook.id}`);
  assert.equal(body.webhook.secret, `********${webhook.secret.slice(-4)}`);
});

test("a secret of one's own is taken", async () => {
  assert.equal((await create({ secret: 'my-own-long-secret' })).secret, 'my-own-long-secret');
});

test('a URL alone is enough: all events, switched on', async () => {
  const webhook = await create();
  assert.deepEqual([webhook.events, webhook.enabled], [['*'], true]);
});

test('every fault is told', async () => {
  refused(await api('POST', '/v1/webhooks', { events: [], enabled: 'yes', secret: 'short' }), 400, 'VALIDATION_FAILED',
    'url', 'events', 'enabled', 'secret');
});

test('an event type that is none is a fault at its place', async () => {
  refused(await api('POST', '/v1/webhooks', { url: url(), events: ['call.ended', 'call.none'] }), 400,
    'VALIDATION_FAILED', 'events[1]');
});

test('only public addresses', async () => {
  refused(await api('POST', '/v1/webhooks', { url: 'http://10.0.0.1/' }), 400, 'URL_NOT_ALLOWED');
});

test('all events swallow the others', async () => {
  assert.deepEqual((await create({ events: ['call.ended', '*'] })).events, ['*']);
});

test('an update changes what is sent and shows the secret masked', async () => {
  const webhook = await create({ events: ['call.ended'] });
  const changed = (await api('PATCH', `/v1/webhooks/${webhook.id}`, { enabled: false, events: ['call.started'] }))
    .body.webhook;
  assert.deepEqual([changed.enabled, changed.events, changed.secret],
    [false, ['call.started'], `********${webhook.secret.slice(-4)}`]);
});

test('what was read can be sent back and changes nothing', async () => {
  const { id } = await create({ events: ['call.ended'], enabled: false });
  const { webhook } = (await api('GET', `/v1/webhooks/${id}`)).body;
  const same = (await api('PATCH', `/v1/webhooks/${id}`, webhook)).body.webhook;
  assert.deepEqual({ ...same, updatedAt: '' }, { ...webhook, updatedAt: '' });
});

test('who has read an older version is told so by If-Match, and writes over it without', async () => {
  const path = `/v1/webhooks/${(await create()).id}`;
  const read = (await api('GET', path)).headers.get('etag');
  assert.match(read, /^"\d+"$/);
  const [one, two] = ['http://127.0.0.1:9/first', 'http://127.0.0.1:9/second'];
  const first = await api('PATCH', path, { url: one }, { 'If-Match': read });
  assert.deepEqual([first.status, first.headers.get('etag') === read], [200, false]);
  refused(await api('PATCH', path, { url: two }, { 'If-Match': read }), 412, 'PRECONDITION_FAILED');
  assert.equal((await api('GET', path)).body.webhook.url, one);
  assert.equal((await api('PATCH', path, { url: two })).body.webhook.url, two);
});

test('rotation makes another secret, null switches on again', async () => {
  const webhook = await create({ enabled: false });
  const rotated = (await api('PATCH', `/v1/webhooks/${webhook.id}`, { rotateSecret: true, enabled: null }))
    .body.webhook;
  assert.match(rotated.secret, /^whsec_[A-Za-z0-9]{32}$/);
  assert.notEqual(rotated.secret, webhook.secret);
  assert.equal(rotated.enabled, true);
});

test('an update is checked as a whole', async () => {
  const webhook = await create();
  refused(await api('PATCH', `/v1/webhooks/${webhook.id}`, { rotateSecret: 1, url: null }), 400, 'VALIDATION_FAILED',
    'rotateSecret', 'url');
});

test('a removed subscription is not there', async () => {
  const webhook = await create();
  assert.deepEqual((await api('DELETE', `/v1/webhooks/${webhook.id}`)).body, { ok: true, id: webhook.id });
  refused(await api('GET', `/v1/webhooks/${webhook.id}`), 404, 'NOT_FOUND');
});

test('at most 50 in a workspace', async () => {
  const own = await t.newWorkspace();
  for (let i = 0; i < 50; i++) assert.equal((await own.api('POST', '/v1/webhooks', { url: url() })).status, 201);
  refused(await own.api('POST', '/v1/webhooks', { url: url() }), 409, 'SUBSCRIPTION_LIMIT_REACHED');
  assert.equal((await own.api('GET', '/v1/webhooks')).body.webhooks.length, 50);
});

test('subscriptions are listed newest first', async () => {
  const own = await t.newWorkspace();
  const ids = [];
  for (let i = 0; i < 3; i++) {
    ids.unshift((await own.api('POST', '/v1/webhooks', { url: url() })).body.webhook.id);
    const now = Date.now();
    await until(() => Date.now() > now, { what: 'the next millisecond' });
  }
  assert.deepEqual((await own.api('GET', '/v1/webhooks')).body.webhooks.map(({ id }) => id), ids);
});

test('event types', async () => {
  const { body: { events } } = await api('GET', '/v1/webhooks/events');
  assert.deepEqual(events.map((event) => event.type), ['call.started', 'call.agent_joined', 'call.user_joined',
    'call.user_left', 'transcript.user', 'transcript.assistant', 'call.error', 'call.ended', 'webhook.test']);
});

const isSigned = ({ headers, body }, secret) => {
  const hmac = createHmac('sha256', secret).update(`${headers['x-service-timestamp']}.${body}`);
  return headers['x-service-signature'] === `sha256=${hmac.digest('hex')}`;
};

test('a test event is signed and answered', async () => {
  const webhook = await create({ url: url('/test-event') });
  assert.deepEqual((await api('POST', `/v1/webhooks/${webhook.id}/test`)).body, { ok: true, status: 200 });
  const delivery = received.find((entry) => entry.url === '/test-event');
  assert.ok(isSigned(delivery, webhook.secret));
  const event = JSON.parse(delivery.body);
  assert.deepEqual([event.type, event.data, event.call], ['webhook.test', { subscriptionId: webhook.id },
    { id: null, roomName: null, metadata: {} }]);
  assert.equal(delivery.headers['x-service-delivery'], event.id);
});

test('a test event that nobody takes is an answer too', async () => {
  const dead = await create({ url: 'http://127.0.0.1:9/' });
  const { body } = await api('POST', `/v1/webhooks/${dead.id}/test`);
  assert.equal(body.ok, false);
  assert.ok(body.error);
});

/* A call that a subscription, its agent's webhook and one of its own are told of, and that has ended. */
const toldCall = async () => {
  const webhook = await create({ url: url('/log'), events: ['call.started', 'call.ended'] });
  const { body: { agent } } = await api('POST', '/v1/agents',
    { name: 'a', greetingMode: 'none', webhookUrl: url('/agent') });
  const { body: { callId } } = await api('POST', '/v1/calls',
    { agentId: agent.id, metadata: { order: 7 }, webhooks: [{ url: url('/call'), events: ['call.ended'] }] });
  await api('POST', `/v1/calls/${callId}/end`);
  const of = (path) => received.filter((entry) => entry.url === path).map((entry) => JSON.parse(entry.body))
    .filter((event) => event.call.id === callId);
  await until(() => of('/log').length >= 2 && of('/agent').length >= 2 && of('/call').length >= 1,
    { what: 'the deliveries' });
  return { webhook, agent, of };
};
let told;
const call = () => (told ??= toldCall());

test("a call tells the subscribers, the agent's webhook and its own", async () => {
  const { agent, of } = await call();
  const ended = of('/call')[0];
  assert.deepEqual([ended.type, ended.data.reason, ended.data.durationSeconds], ['call.ended', 'api', 0]);
  assert.deepEqual(ended.call.metadata, { order: 7, agentId: agent.id, userId: t.workspace.workspaceId });
});

const logOf = (webhook) => until(async () => {
  const { body } = await api('GET', `/v1/webhooks/${webhook.id}/deliveries`);
  return body.deliveries.length >= 2 && body.deliveries.every((entry) => entry.state === 'delivered')
    && body.deliveries;
}, { what: 'the log' });

test('the log shows what was delivered', async () => {
  const deliveries = await logOf((await call()).webhook);
  assert.deepEqual(deliveries.map((entry) => [entry.type, entry.status, entry.attempts]).sort(),
    [['call.ended', 200, 1], ['call.started', 200, 1]]);
});

test('an event is sent again', async () => {
  const { webhook, of } = await call();
  const [newest] = await logOf(webhook);
  const again = await api('POST', `/v1/webhooks/${webhook.id}/deliveries/${newest.id}/resend`);
  assert.equal(again.body.delivery.eventId, newest.eventId);
  await until(() => of('/log').length >= 3, { what: 'the event again' });
});

test('the events of a call tell who was told, page by page, and of what was sent again', async () => {
  const webhook = await create({ events: ['call.started', 'call.ended'] });
  const { agent } = (await api('POST', '/v1/agents', { name: 'told', greetingMode: 'none' })).body;
  const { callId } = (await api('POST', '/v1/calls', { agentId: agent.id,
    webhooks: [{ url: url('/own'), events: ['call.ended'] }] })).body;
  await api('POST', `/v1/calls/${callId}/end`);
  const path = `/v1/calls/${callId}/events`;
  const mine = (event) => event.deliveries.filter((one) => one.webhookId === webhook.id || one.webhookId === null);
  const all = async () => (await api('GET', path)).body.events;
  const events = await until(async () => {
    const found = await all();
    return found.every((event) => mine(event).every(({ state }) => state === 'delivered')) && found;
  }, { what: 'the deliveries' });
  assert.deepEqual([events[0].type, events.at(-1).type], ['call.started', 'call.ended']);
  assert.deepEqual(mine(events[0]).map((one) => [one.webhookId, one.url, one.status]), [[webhook.id, url(), 200]]);
  assert.deepEqual(mine(events.at(-1)).map(({ url: to }) => to).sort(), [url(), url('/own')]);
  const first = (await api('GET', `${path}?limit=1`)).body;
  assert.deepEqual(first.events.map(({ id }) => id), [events[0].id]);
  const rest = (await api('GET', `${path}?after=${first.nextCursor}`)).body;
  assert.deepEqual([rest.events.map(({ id }) => id), rest.nextCursor], [events.slice(1).map(({ id }) => id), null]);
  await api('POST', `/v1/webhooks/${webhook.id}/deliveries/${mine(events[0])[0].id}/resend`);
  await until(async () => mine((await all())[0]).filter(({ state }) => state === 'delivered').length === 2,
    { what: 'the second delivery' });
  await api('DELETE', `/v1/webhooks/${webhook.id}`);
  assert.deepEqual(mine((await all())[0]).map((one) => one.url), ['', '']);
  for (const after of ['x', '12x', '-1'])
    refused(await api('GET', `${path}?after=${after}`), 400, 'VALIDATION_FAILED', 'after');
  refused(await api('GET', '/v1/calls/00000000-0000-4000-8000-000000000000/events'), 404, 'NOT_FOUND');
});

test('a delivery that is none is not sent again', async () => {
  const webhook = await create();
  refused(await api('POST', `/v1/webhooks/${webhook.id}/deliveries/none/resend`), 404, 'NOT_FOUND');
});
