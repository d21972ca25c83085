/* The three kinds of receivers of one call's events: what each gets, how it is signed, and what the call says of it
 * afterwards. The call is over, and all is delivered, before the first case looks. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { startService, makeWorkspace, until } from '../harness/service.mjs';
import { startReceiver, sign } from '../harness/receiver.mjs';

const STANDIN = Object.fromEntries(['STT', 'TTS', 'LLM'].map((kind) =>
  [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true']));
const ALL = ['call.agent_joined', 'call.ended', 'call.started'];

let receiver, service, agent, subscription, callId, webhooks;
const types = (path) => receiver.of(path).map((delivery) => delivery.type).sort();

before(async () => {
  receiver = await startReceiver();
  service = await startService({ env: { ...STANDIN, EARSHOT_WEBHOOKS_PAUSE_SCALE: '10000', EARSHOT_RTC_PORT: '0' } });
  const { api } = await makeWorkspace(service);
  ({ agent } = (await api('POST', '/v1/agents', { name: 'A', greetingMode: 'none', stt: { provider: 'standin-stt' },
    voice: { provider: 'standin-tts' }, llm: { provider: 'standin-llm' }, webhookUrl: receiver.url('/agent') })).body);
  subscription = (await api('POST', '/v1/webhooks', {
    url: receiver.url('/subscription'), events: ['call.started', 'call.ended'] })).body.webhook;
  ({ callId } = (await api('POST', '/v1/calls', { agentId: agent.id, metadata: { order: 7 }, webhooks: [
    { url: receiver.url('/signed'), secret: 'of the call' },
    { url: receiver.url('/ended'), events: ['call.ended'] },
    { url: receiver.url('/fail'), events: ['call.started'] },
    { url: receiver.url('/flaky'), events: ['call.ended'] },
  ] })).body);
  const callPath = `/v1/calls/${callId}`;
  await until(async () => (await api('GET', callPath)).body.call.agentJoinedAt, { what: 'the agent' });
  await api('POST', `${callPath}/end`);
  webhooks = await until(async () => {
    const found = (await api('GET', callPath)).body.call.webhooks;
    return found.every(({ delivered, failed }, i) => delivered + failed === [3, 1, 1, 1][i]) && found;
  }, { what: 'the counts' });
  await until(() => types('/agent').length >= 3 && types('/subscription').length >= 2, { what: 'the others' });
});
after(async () => {
  await service?.close();
  receiver?.close();
});

test('a call counts what each of its webhooks got, and hides their secrets', () => {
  assert.deepEqual(webhooks.map(({ delivered, failed }) => [delivered, failed]), [[3, 0], [1, 0], [0, 1], [1, 0]]);
  assert.equal(webhooks[1].secret, null);
  assert.match(webhooks[0].secret, /^\*{8}/);
});

test('subscription, agent and call each get their events', () => {
  assert.deepEqual(types('/signed'), ALL);
  assert.deepEqual(types('/agent'), ALL);
  assert.deepEqual(types('/ended'), ['call.ended']);
  assert.deepEqual(types('/subscription'), ['call.ended', 'call.started']);
});

test('an event that is refused is sent again until it is taken, four times at most', () => {
  assert.equal(receiver.of('/fail').length, 4);
  assert.equal(receiver.of('/flaky').length, 3);
});

test('the events of a subscription and of a call with a secret are signed, no others', () => {
  const secrets = { '/signed': 'of the call', '/subscription': subscription.secret };
  assert.ok(subscription.secret);
  for (const { path, signature, timestamp, body } of receiver.deliveries)
    assert.equal(signature, secrets[path] && sign(secrets[path], timestamp, body), path);
});

test('an event says in its body what its headers say, and tells of its call', () => {
  for (const { body, id, type, headers } of receiver.deliveries) {
    assert.equal(headers['content-type'], 'application/json');
    const event = JSON.parse(body);
    assert.equal(event.id, id);
    assert.equal(event.type, type);
    assert.deepEqual(event.call.metadata, { order: 7, agentId: agent.id, userId: agent.userId });
    assert.equal(event.call.id, callId);
  }
});

test('the events of a call stand in their order by their times', () => {
  const order = receiver.of('/agent').map(({ body }) => JSON.parse(body))
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  assert.deepEqual(order.map((event) => event.type), ['call.started', 'call.agent_joined', 'call.ended']);
  assert.equal(new Set(order.map((event) => event.createdAt)).size, 3);
});
