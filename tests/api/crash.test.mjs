/* A call that is running when its service dies: what was stored stays, the fresh start ends it, bills it to the last
 * durable moment and tells so. And a service that is asked to stop: its calls end in the same way, all settled. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { binary, startService, makeWorkspace, client, until } from '../harness/service.mjs';
import { adopt } from '../harness/faults.mjs';
import { startReceiver } from '../harness/receiver.mjs';
import { speechFile } from '../harness/browser.mjs';
import { sql } from '../harness/sql.mjs';

const REPLY = 'We are open from nine to five.';
const STANDIN = {
  ...Object.fromEntries(['STT', 'TTS', 'LLM'].map((kind) => [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true'])),
  EARSHOT_ENGINE_STANDIN_LLM_TEXT: REPLY, EARSHOT_SERVICE_DRAIN_GRACE: '1', EARSHOT_RTC_BIND: '127.0.0.1',
};
const DURABLE_S = 5; // contract: at least every 10 s; architecture: every 5 s

let service, workspace, agentId, receiver;

before(async () => {
  service = await startService({ env: STANDIN });
  workspace = await makeWorkspace(service);
  receiver = await startReceiver();
  const created = await workspace.api('POST', '/v1/agents', {
    name: 'Shop', greetingMode: 'static', greetingText: 'Good day.', webhookUrl: receiver.url('/ok'),
    voice: { provider: 'standin-tts' }, llm: { provider: 'standin-llm' }, stt: { provider: 'standin-stt' },
  });
  assert.equal(created.status, 201, created.text);
  agentId = created.body.agent.id;
});
after(async () => { receiver.close(); await service.close(); });

/* A caller who asks once and then listens; answers the call once it was answered and has lasted for so long. */
async function talk(seconds) {
  const wav = speechFile('When are you open?', { before: 1.5, after: 200 });
  const caller = spawn(binary, ['call', '--url', service.url, '--key', workspace.key, '--agent', agentId, '--in', wav,
    '--seconds', '200'],
    { stdio: 'ignore' });
  adopt(caller);
  caller.unref();
  const api = client(service, workspace.key);
  const running = async () => {
    const { body } = await api('GET', '/v1/calls?status=active&limit=1');
    const call = body?.calls?.[0];
    return call?.transcript.some(({ text }) => text === REPLY) && call.durationSeconds >= seconds && call;
  };
  return { call: await until(running, { what: 'the talk' }), caller };
}

const money = (usd) => Math.round(usd * 10000);
const cost = (call) => Math.floor((money(call.costPerMinute) * call.durationSeconds + 30) / 60);
const ended = (id) => receiver.deliveries.filter((one) => one.type === 'call.ended' && JSON.parse(one.body)
  .call.id === id);

async function checkEnd(id, seen, balanceBefore) {
  const { body } = await workspace.api('GET', `/v1/calls/${id}`);
  const { call } = body;
  assert.equal(call.status, 'ended');
  assert.equal(call.endReason, 'agent-shutdown');
  assert.deepEqual(call.transcript.slice(0, seen.transcript.length), seen.transcript);
  assert.equal(money(call.callCost), cost(call));
  await until(() => ended(id).length > 0, { what: 'call.ended' });
  const { data } = JSON.parse(ended(id)[0].body);
  assert.equal(data.reason, 'agent-shutdown');
  assert.equal(data.durationSeconds, call.durationSeconds);
  assert.equal(data.callCost, call.callCost);
  assert.deepEqual(data.transcript, call.transcript.map(({ timing, ...turn }) => turn)); // events have no timing
  const me = await workspace.api('GET', '/v1/me');
  assert.equal(money(me.body.workspaces[0].balance), balanceBefore - cost(call));
  assert.equal(new Set(ended(id).map((one) => one.id)).size, 1);
  return call;
}

async function balance() {
  const me = await workspace.api('GET', '/v1/me');
  return money(me.body.workspaces[0].balance);
}

/* How many milliseconds of the call are durable, as soon as that was written lately. */
const durableMs = (id) => until(() => {
  const row = sql(service, `SELECT seen_ms, seen_at_ms FROM calls WHERE id = '${id}'`);
  const [seenMs, atMs] = row.split('|').map(Number);
  return seenMs > 0 && Date.now() - atMs <= DURABLE_S * 1000 && seenMs;
}, { what: 'a checkpoint' });

test('a call survives the death of its service with all that was stored', { timeout: 240000 }, async () => {
  const first = await balance();
  const { call, caller } = await talk(8);
  const leastMs = await durableMs(call.id);
  await service.stop('SIGKILL');
  const diedAt = Date.now();
  await service.restart();
  workspace.api = client(service, workspace.key);
  const after = await checkEnd(call.id, call, first);
  const lasted = (Date.parse(after.endedAt) - Date.parse(after.userJoinedAt)) / 1000;
  assert.equal(after.durationSeconds, Math.ceil(lasted), 'billed to endedAt');
  assert.ok(lasted * 1000 >= leastMs, `durable to ${after.endedAt}`);
  assert.ok(Date.parse(after.endedAt) <= diedAt, `billed to ${after.endedAt}, after its death`);
  caller.kill();
  const again = await workspace.api('POST', `/v1/calls/${call.id}/end`);
  assert.equal(again.body.call.endReason, 'agent-shutdown');
});

test('a service that is asked to stop ends its calls after the grace and settles them', { timeout: 240000 },
  async () => {
  const first = await balance();
  const { call, caller } = await talk(4);
  const exit = await service.stop('SIGTERM');
  assert.equal(exit.code, 0);
  await service.restart();
  workspace.api = client(service, workspace.key);
  await checkEnd(call.id, call, first);
  caller.kill();
});
