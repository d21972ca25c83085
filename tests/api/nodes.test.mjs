/* Two nodes on one PostgreSQL: each answers for the other's calls, keys stop everywhere, a killed node's calls are
 * ended by the other. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startPostgres } from '../harness/postgres.mjs';
import { SOON_MS, client, until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { named, silence, watchAt } from '../harness/stream.mjs';
import { refused, startApi } from './contract.mjs';

const isPostgres = process.env.TEST_DATABASE === 'postgresql';
let postgres, one, two;
before(async () => {
  if (!isPostgres) return;
  postgres = await startPostgres();
  const options = { database: postgres.url, env: { EARSHOT_SERVICE_MASTER_KEY: randomBytes(32).toString('hex') } };
  [one, two] = await Promise.all([startApi(options), startApi(options)]); /* migrations of both run at once */
});
after(async () => { await Promise.all([one?.close(), two?.close()]); await postgres?.stop(); });

const option = { skip: !isPostgres && 'needs PostgreSQL' };
const there = (workspace) => two.as(workspace.key);
const newCall = async (workspace) => {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents',
    { name: 'n', greetingMode: 'none', webhookUrl: '' });
  const { body } = await workspace.api('POST', '/v1/calls', { agentId: agent.id });
  return { agent, callId: body.callId };
};
const active = (api, id) => until(async () => (await api('GET', `/v1/calls/${id}`)).body.call.status === 'active',
  { what: 'the agent in the room' });

test('what one node writes the other one reads', option, async () => {
  const workspace = await one.newWorkspace();
  const { agent } = await newCall(workspace);
  assert.equal((await there(workspace)('PATCH', `/v1/agents/${agent.id}`, { name: 'changed' })).status, 200);
  assert.equal((await workspace.api('GET', `/v1/agents/${agent.id}`)).body.agent.name, 'changed');
});

test('say and end reach the node that has the call', option, async () => {
  const workspace = await one.newWorkspace();
  const { callId } = await newCall(workspace);
  await active(workspace.api, callId);
  assert.deepEqual((await there(workspace)('POST', `/v1/calls/${callId}/say`, { text: 'Hello.' })).body, { ok: true });
  const { body: { call } } = await there(workspace)('POST', `/v1/calls/${callId}/end`);
  assert.deepEqual([call.status, call.endReason], ['ended', 'api']);
  refused(await there(workspace)('POST', `/v1/calls/${callId}/say`, { text: 'Hello.' }), 409, 'CALL_NOT_ACTIVE');
});

test('a call of one node is watched on the other, turn by turn', option, async () => {
  const workspace = await one.newWorkspace();
  const { body: { agent } } = await workspace.api('POST', '/v1/agents',
    { name: 'n', greetingMode: 'static', greetingText: 'Hello there.' });
  const dir = mkdtempSync(join(tmpdir(), 'earshot-nodes-'));
  const caller = one.service.cli('call', '--agent', agent.id, '--in', silence(dir), '--seconds', '60',
    '--url', one.service.url, '--key', workspace.key).catch(() => {});
  const { id } = await until(async () => (await workspace.api('GET', '/v1/calls')).body.calls[0], { what: 'the call' });
  const stream = await watchAt(two.service.url, id, { Authorization: `Bearer ${workspace.key}` });
  assert.equal(stream.status, 200);
  const turns = (n) => until(() => named(stream, 'turn').length === n, { what: `turn ${n}` });
  await turns(1);
  await workspace.api('POST', `/v1/calls/${id}/say`, { text: 'One more thing.' });
  await turns(2);
  assert.equal(stream.isOver, false, 'it is told while the call goes on');
  await workspace.api('POST', `/v1/calls/${id}/end`);
  await until(() => stream.isOver, { what: 'the end of the stream' });
  assert.deepEqual(named(stream, 'turn').map(({ text }) => text), ['Hello there.', 'One more thing.']);
  assert.equal(stream.events.at(-1).event, 'end');
  await caller;
  rmSync(dir, { recursive: true, force: true });
});

test('more lines than may wait are the same conflict on every node', option, async () => {
  const workspace = await one.newWorkspace();
  const { callId } = await newCall(workspace);
  await active(workspace.api, callId);
  for (const api of [there(workspace), workspace.api]) {
    const say = () => api('POST', `/v1/calls/${callId}/say`, { text: 'Hello.' });
    const answers = await Promise.all(Array.from({ length: 40 }, say));
    const over = answers.filter((answer) => answer.status !== 200);
    assert.ok(over.length > 0, 'nobody has joined: the lines wait');
    for (const answer of over) refused(answer, 409, 'CONFLICT');
  }
});

test('ends of one call from another node all tell how it ended', option, async () => {
  const workspace = await one.newWorkspace();
  const { callId } = await newCall(workspace);
  await active(workspace.api, callId);
  const end = () => there(workspace)('POST', `/v1/calls/${callId}/end`);
  const answers = await Promise.all(Array.from({ length: 30 }, end));
  for (const { status, body } of answers) assert.deepEqual([status, body.call.endReason], [200, 'api']);
});

test('a node that others took for dead starts no call until it has begun again', option, async () => {
  const workspace = await one.newWorkspace();
  const { agent, callId } = await newCall(workspace);
  const [node, epoch] = sql(one.service, `SELECT owner, owner_epoch + 1 FROM calls WHERE id = '${callId}'`).split('|');
  /* And held: what begins again writes the row. */
  sql(one.service, `BEGIN; UPDATE nodes SET epoch = ${epoch} WHERE id = '${node}';
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'held'; END $$;
    CREATE TRIGGER hold BEFORE UPDATE ON nodes FOR EACH ROW WHEN (OLD.epoch = ${epoch} AND OLD.id = '${node}')
    EXECUTE FUNCTION hold(); COMMIT`);
  const start = () => workspace.api('POST', '/v1/calls', { agentId: agent.id });
  refused(await start(), 503, 'UNAVAILABLE');
  sql(one.service, 'DROP TRIGGER hold ON nodes; DROP FUNCTION hold()');
  await until(async () => (await start()).status === 201, { what: 'the node to begin again' });
});

test('a rotated key stops on the other node', option, async () => {
  const workspace = await one.newWorkspace();
  const { agent } = await newCall(workspace);
  const old = two.as(agent.apiKey);
  assert.equal((await old('GET', '/v1/agents')).status, 200);
  await workspace.api('POST', `/v1/agents/${agent.id}/rotate-key`);
  /* A second on a machine with room; the contract says a few. */
  await until(async () => (await old('GET', '/v1/agents')).status === 401,
    { timeoutMs: SOON_MS, what: 'the old key to stop' });
});

test('a revoked key ends its streams on the other node before they show a sign of life', option, async () => {
  const workspace = await one.newWorkspace();
  const { callId } = await newCall(workspace);
  const made = ['--workspace', workspace.workspaceId, '--name', 'second', '--json'];
  const { apiKey } = await one.service.cli('key', 'create', ...made);
  const watch = (key) => watchAt(two.service.url, callId, { Authorization: `Bearer ${key}` });
  const [witness, stream] = [await watch(workspace.key), await watch(apiKey.key)];
  assert.deepEqual([witness.status, stream.status], [200, 200]);
  await one.service.cli('key', 'revoke', '--key', apiKey.id);
  await until(() => stream.isOver || witness.beats, { what: 'the end, or a sign of life' });
  assert.deepEqual([stream.isOver, named(stream, 'end'), witness.isOver], [true, [], false]);
  await workspace.api('POST', `/v1/calls/${callId}/end`);
  await until(() => witness.isOver, { what: 'the end' });
});

/* Two further nodes with limits; `use` gets both. */
async function withLimits(limits, use) {
  const options = { database: postgres.url, env: { ...one.service.env, ...limits } };
  for (const name of ['EARSHOT_DATA', 'EARSHOT_DATABASE_URL']) delete options.env[name];
  const nodes = await Promise.all([startApi(options), startApi(options)]);
  try {
    await use(...nodes);
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
  }
}

test('what one node lets pass counts on the other', option, () => withLimits(
  { EARSHOT_RATE_LIMIT: '600', EARSHOT_RATE_BURST: '5' }, async (first, second) => {
    const workspace = await first.newWorkspace();
    const ask = [first, second].map((node) => node.as(workspace.key));
    const look = async () => {
      const from = Date.now();
      let passed = 0;
      while (Date.now() - from < 4000) { // of a rate nothing but time can be awaited
        const answers = await Promise.all([0, 1, 0, 1].map((node) => ask[node]('GET', '/v1/me')));
        passed += answers.filter((answer) => answer.status === 200).length;
        await new Promise((next) => setTimeout(next, 50));
      }
      return { passed, seconds: (Date.now() - from) / 1000 };
    };
    /* The bursts of both, the rate, and what passes the other one before the news: two seconds at most. A node, or who
     * asks, that stands still meanwhile makes it another number: then another four seconds are looked at. */
    await until(async () => {
      const { passed, seconds } = await look();
      return passed <= 2 * 5 + 10 * seconds + 2 * 10 && passed >= 5 * seconds;
    }, { what: 'the rate of one node' });
  }));

test('failed authentications at one node count on the other', option, () => withLimits(
  { EARSHOT_AUTH_FAIL_LIMIT: '600' }, async (first, second) => {
    const fail = async (node) => (await node.as('nonsense')('GET', '/v1/me')).status;
    for (let i = 0; i < 12; i++) await Promise.all(Array.from({ length: 50 }, () => fail(first)));
    let failures = 0;
    await until(async () => { failures++; return await fail(second) === 429; }, { what: 'the news of the other node' });
    assert.ok(failures < 500, `${failures} failures: it was its own limit`);
  }));

test("a killed node's calls are ended by the other one, once", option, async () => {
  const workspace = await one.newWorkspace();
  const { callId } = await newCall(workspace);
  await active(workspace.api, callId);
  await one.service.stop('SIGKILL');
  const call = await until(async () => {
    const { body } = await client(two.service, workspace.key)('GET', `/v1/calls/${callId}`);
    return body.call.status === 'ended' && body.call;
  }, { what: 'the other node to end the call, which it does 15 s after the last sign of life' });
  assert.deepEqual([call.endReason, call.callCost], ['agent-shutdown', 0]);
});
