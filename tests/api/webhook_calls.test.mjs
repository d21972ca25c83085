/* The three kinds of receivers of one call's events: what each gets, how it is signed, and what the call says of it
 * afterwards. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startService, makeWorkspace, until } from '../harness/service.mjs';
import { startReceiver, sign } from '../harness/receiver.mjs';

const STANDIN = Object.fromEntries(['STT', 'TTS', 'LLM'].map((kind) =>
  [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true']));

test('subscription, agent and call each get their events', async () => {
  const receiver = await startReceiver();
  const service = await startService({ env: { ...STANDIN, EARSHOT_WEBHOOKS_PAUSE_SCALE: '10000',
    EARSHOT_RTC_PORT: '0' } });
  try {
    const { api } = await makeWorkspace(service);
    const { agent } = (await api('POST', '/v1/agents', { name: 'A', greetingMode: 'none',
      stt: { provider: 'standin-stt' },
      voice: { provider: 'standin-tts' }, llm: { provider: 'standin-llm' }, webhookUrl: receiver.url('/agent') })).body;
    const { webhook } = (await api('POST', '/v1/webhooks', {
      url: receiver.url('/subscription'), events: ['call.started', 'call.ended'] })).body;
    const started = (await api('POST', '/v1/calls', { agentId: agent.id, metadata: { order: 7 }, webhooks: [
      { url: receiver.url('/signed'), secret: 'of the call' },
      { url: receiver.url('/ended'), events: ['call.ended'] },
      { url: receiver.url('/fail'), events: ['call.started'] },
      { url: receiver.url('/flaky'), events: ['call.ended'] },
    ] })).body;
    const callPath = `/v1/calls/${started.callId}`;
    await until(async () => (await api('GET', callPath)).body.call.agentJoinedAt, { what: 'the agent' });
    await api('POST', `${callPath}/end`);
    const webhooks = await until(async () => {
      const found = (await api('GET', callPath)).body.call.webhooks;
      return found.every(({ delivered, failed }, i) => delivered + failed === [3, 1, 1, 1][i]) && found;
    }, { what: 'the counts' });
    assert.deepEqual(webhooks.map(({ delivered, failed }) => [delivered, failed]), [[3, 0], [1, 0], [0, 1], [1, 0]]);
    assert.equal(webhooks[1].secret, null);
    assert.match(webhooks[0].secret, /^\*{8}/);

    const types = (path) => receiver.of(path).map((delivery) => delivery.type).sort();
    const all = ['call.agent_joined', 'call.ended', 'call.started'];
    await until(() => types('/agent').length === 3 && types('/subscription').length === 2, { what: 'the others' });
    assert.deepEqual(types('/signed'), all);
    assert.deepEqual(types('/agent'), all);
    assert.deepEqual(types('/ended'), ['call.ended']);
    assert.deepEqual(types('/subscription'), ['call.ended', 'call.started']);
    assert.equal(receiver.of('/fail').length, 4);
    assert.equal(receiver.of('/flaky').length, 3);

    for (const { path, signature, timestamp, body, id, type, headers } of receiver.deliveries) {
      const secret = { '/signed': 'of the call', '/subscription': webhook.secret }[path];
      assert.equal(signature, secret && sign(secret, timestamp, body), path);
      assert.equal(headers['content-type'], 'application/json');
      const event = JSON.parse(body);
      assert.equal(event.id, id);
      assert.equal(event.type, type);
      assert.deepEqual(event.call.metadata, { order: 7, agentId: agent.id, userId: agent.userId });
      assert.equal(event.call.id, started.callId);
    }
    const order = receiver.of('/agent').map(({ body }) => JSON.parse(body))
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    assert.deepEqual(order.map((event) => event.type), ['call.started', 'call.agent_joined', 'call.ended']);
    assert.equal(new Set(order.map((event) => event.createdAt)).size, 3);
  } finally {
    await service.close();
    receiver.close();
  }
});
