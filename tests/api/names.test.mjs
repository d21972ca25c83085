/* Host names that never answer: they delay their own tenant's requests, nobody else's, and not the end of the service.
 * */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { startService, makeWorkspace, until } from '../harness/service.mjs';
import { startNames } from '../harness/names.mjs';
import { startReceiver } from '../harness/receiver.mjs';

const DEAD = 40;
const TIMEOUT_MS = 30000; // of a tool's run

const seen = {};
let names, service, receiver, hostile, other;
before(async () => {
  names = await startNames();
  receiver = await startReceiver();
  service = await startService({ env: { EARSHOT_EGRESS_NAMESERVER: names.address } });
  hostile = (await makeWorkspace(service, { name: 'Hostile' })).api;
  other = (await makeWorkspace(service, { name: 'Other' })).api;
  await playThrough();
});
after(async () => {
  await service?.close();
  receiver?.close();
  names?.close();
});

async function makeTool(api, host) {
  names.answers[host] = ['127.0.0.1'];
  const url = receiver.url('/ok').replace('127.0.0.1', host);
  const { status, text, body } = await api('POST', '/v1/tools',
    { name: host.replace(/\W/g, ''), description: 'd', url, timeoutMs: TIMEOUT_MS });
  assert.equal(status, 201, text);
  return body.tool.id;
}

/* Once for all cases, which look at what was seen: the end of the service is the end of the play. */
async function playThrough() {
  const dead = [];
  for (let i = 0; i < DEAD; i++) dead.push(await makeTool(hostile, `dead${i}.example`));
  const good = await makeTool(other, 'good.example');
  for (let i = 0; i < DEAD; i++) names.answers[`dead${i}.example`] = 'silent';
  const asked = { ...names.asked };
  let answered = 0;
  const runs = dead.map((id) => hostile('POST', `/v1/tools/${id}/test`, {}).then(() => { answered++; }, () => {}));
  await until(() => dead.some((_, i) => names.asked[`dead${i}.example`] > asked[`dead${i}.example`]),
    { what: 'a dead name to be asked for' });
  seen.run = await other('POST', `/v1/tools/${good}/test`, {});
  seen.saved = await other('PUT', `/v1/tools/${good}`, { url: receiver.url('/ok')
    .replace('127.0.0.1', 'good.example') });
  seen.answered = answered;
  const from = Date.now();
  seen.code = (await service.stop()).code;
  seen.endMs = Date.now() - from;
  await Promise.all(runs);
}

test('names that never answer delay no other tenant', () => {
  assert.equal(seen.run.body.success, true, seen.run.text);
  assert.equal(seen.saved.status, 200, seen.saved.text);
  assert.ok(seen.answered < DEAD / 2, `${seen.answered} of the dead names were given up before`);
});

test('names that never answer do not delay the end of the service', () => {
  assert.equal(seen.code, 0);
  assert.ok(seen.endMs < TIMEOUT_MS - 10000, 'the end does not wait for the names');
});
