/* No event is lost when the service is killed at a random moment: every stored one is delivered or has used up its
 * attempts, none is invented, repeated ones are the same bytes under the same id. KILLS: how often (20; bench: 1,000).
 * */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { startService, makeWorkspace, client, until } from '../harness/service.mjs';
import { startReceiver, sign } from '../harness/receiver.mjs';

const KILLS = Number(process.env.KILLS ?? 20);
const SECRET = 'whsec_0123456789abcdef';
const STANDIN = Object.fromEntries(['STT', 'TTS', 'LLM'].map((kind) =>
  [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true']));

async function everyDelivery(api, webhookId) {
  const all = [];
  for (let before = ''; ;) {
    const { status, body } =
      await api('GET', `/v1/webhooks/${webhookId}/deliveries?limit=100${before ? `&before=${before}` : ''}`);
    assert.equal(status, 200, JSON.stringify(body));
    all.push(...body.deliveries);
    if (!body.nextCursor) return all;
    before = body.nextCursor;
  }
}

async function everyCall(api) {
  const all = [];
  for (let before = ''; ;) {
    const { body } = await api('GET', `/v1/calls?limit=100${before ? `&before=${before}` : ''}`);
    all.push(...body.calls);
    if (!body.nextCursor) return all;
    before = body.nextCursor;
  }
}

/* Calls start and end until the service dies under them. */
async function makeEvents(service, key, agentId, life) {
  const api = client(service, key);
  while (!life.isOver) {
    try {
      const { body } = await api('POST', '/v1/calls', { agentId });
      if (!body?.callId) continue;
      life.calls++;
      await api('POST', `/v1/calls/${body.callId}/end`);
    } catch { return; } // killed
  }
}

test(`nothing is lost by ${KILLS} kills`, { timeout: 240000 + KILLS * 10000 }, async () => {
  const receiver = await startReceiver();
  const service = await startService({ env: { ...STANDIN, EARSHOT_WEBHOOKS_PAUSE_SCALE: '10000', EARSHOT_RTC_PORT: '0',
    EARSHOT_RATE_LIMIT: '1000000', EARSHOT_RATE_BURST: '1000000', EARSHOT_LOG_LEVEL: 'error' } });
  try {
    const { key } = await makeWorkspace(service, { balance: 100000, calls: 1000 });
    let api = client(service, key);
    const agent = (await api('POST', '/v1/agents', { name: 'A', greetingMode: 'none', stt: { provider: 'standin-stt' },
      voice: { provider: 'standin-tts' }, llm: { provider: 'standin-llm' } })).body.agent;
    const hooks = {};
    for (const path of ['/ok', '/fail', '/flaky'])
      hooks[path] = (await api('POST', '/v1/webhooks', { url: receiver.url(path), events: ['*'], secret: SECRET }))
        .body.webhook.id;
    const life = { isOver: false, calls: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      life.isOver = false;
      const writers = [1, 2].map(() => makeEvents(service, key, agent.id, life));
      await new Promise((next) => setTimeout(next, 20 + Math.random() * 300));
      if (kill === KILLS - 1) await until(() => life.calls >= KILLS, { what: 'as many calls as kills' });
      life.isOver = true;
      await service.stop('SIGKILL');
      await Promise.all(writers);
      await service.restart();
    }
    api = client(service, key);
    const logs = await until(async () => {
      const found = {};
      for (const path of Object.keys(hooks)) found[path] = await everyDelivery(api, hooks[path]);
      return Object.values(found).flat().every((delivery) => delivery.state !== 'waiting') && found;
    }, { timeoutMs: 200000, what: 'every delivery to be settled' });
    await checkLogs(logs, receiver);
    await checkCalls(await everyCall(api), logs['/ok']);
    console.log(`${logs["/ok"].length} events, ${receiver.deliveries.length} deliveries, ${KILLS} kills`);
  } finally {
    await service.close();
    receiver.close();
  }
});

async function checkLogs(logs, receiver) {
  const ids = new Set(logs['/ok'].map((delivery) => delivery.eventId));
  assert.ok(ids.size >= KILLS, `${ids.size} events`);
  const bodies = new Map();
  for (const delivery of receiver.deliveries) {
    assert.ok(ids.has(delivery.id), `${delivery.id} was invented`);
    assert.equal(bodies.get(delivery.id) ?? delivery.body, delivery.body, 'a repeated event has other bytes');
    bodies.set(delivery.id, delivery.body);
    assert.equal(delivery.signature, sign(SECRET, delivery.timestamp, delivery.body));
    assert.equal(JSON.parse(delivery.body).id, delivery.id);
  }
  for (const [path, log] of Object.entries(logs)) {
    assert.equal(log.length, ids.size, `${path} has a delivery for each event`);
    const received = new Map();
    for (const { id } of receiver.of(path)) received.set(id, (received.get(id) ?? 0) + 1);
    for (const { eventId, state, attempts } of log) {
      assert.equal(state, path === '/fail' ? 'failed' : 'delivered', `${path} ${eventId}`);
      assert.ok(received.get(eventId) >= attempts,
        `${path} ${eventId}: ${received.get(eventId)} of ${attempts} arrived`);
      if (path === '/fail') assert.equal(attempts, 4);
    }
  }
}

/* What the calls say happened was told: the log of deliveries is not its own witness. */
async function checkCalls(calls, log) {
  const told = new Set(log.map((delivery) => `${delivery.callId} ${delivery.type}`));
  for (const call of calls) {
    assert.equal(call.status, 'ended', call.id);
    assert.ok(told.has(`${call.id} call.ended`), `${call.id}: call.ended`);
    if (call.agentJoinedAt) assert.ok(told.has(`${call.id} call.agent_joined`), `${call.id}: call.agent_joined`);
  }
  assert.ok(calls.length > 0);
}
