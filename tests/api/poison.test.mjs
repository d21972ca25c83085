/* Records that can never be written: the service ends when it is told to, starts again, and every call is ended; what
 * could not be told is named. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';

const END_MOST_MS = 40000; /* 1 s of grace, 10 s for the end, and some for a busy machine */
let service, workspace, agentId;

before(async () => {
  service = await startService({ env: { EARSHOT_SERVICE_DRAIN_GRACE: '1' } });
  workspace = await makeWorkspace(service, { calls: 10 });
  const { body } = await workspace.api('POST', '/v1/agents', { name: 'n', greetingMode: 'none' });
  agentId = body.agent.id;
});
after(() => service?.close());

async function newCall() {
  const { status, body, text } = await workspace.api('POST', '/v1/calls', { agentId });
  assert.equal(status, 201, text);
  return body.callId;
}

/* No event about it can be written: its body would be over the ceiling, whatever is left out. */
const makeUntellable = (id) =>
  sql(service, `UPDATE calls SET metadata_sent = '{"a":"${'x'.repeat(33 * 1024 * 1024)}"}' WHERE id = '${id}';`);

async function restart() {
  await service.restart();
  workspace.api = client(service, workspace.key);
}

async function checkEnded(ids) {
  for (const id of ids) {
    const ended = async () => {
      const { body } = await workspace.api('GET', `/v1/calls/${id}`);
      return body?.call?.status === 'ended' && body.call;
    };
    const call = await until(ended, { what: `the end of ${id}` });
    assert.equal(call.endReason, 'agent-shutdown');
  }
}

test('SIGTERM ends a service although the end of a call cannot be told', { timeout: 300000 }, async () => {
  const ids = [await newCall(), await newCall()];
  makeUntellable(ids[0]);
  const began = Date.now();
  const exit = await service.stop('SIGTERM');
  assert.equal(exit.code, 0);
  assert.ok(Date.now() - began < END_MOST_MS, `it took ${Date.now() - began} ms`);
  await restart();
  await checkEnded(ids);
  const { deadLetters } = await service.cli('show', '--json');
  assert.ok(deadLetters.event >= 1, JSON.stringify(deadLetters));
});

test('a start ends every call of a killed service, whatever is wrong with one', { timeout: 300000 }, async () => {
  const ids = [];
  for (let i = 0; i < 4; i++) ids.push(await newCall());
  makeUntellable(ids[1]);
  sql(service, `UPDATE call_webhooks SET settings = 'spoilt';
    UPDATE calls SET user_joined_ms = 1 WHERE id = '${ids[2]}';`);
  await service.stop('SIGKILL');
  await restart();
  await checkEnded(ids);
  assert.equal((await workspace.api('GET', '/v1/calls')).status, 200);
});
