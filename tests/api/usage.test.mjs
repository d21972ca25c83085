/* GET /v1/usage: what ended calls came to, by day. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from '../harness/sql.mjs';
import { refused, startApi } from './contract.mjs';

let t, api;
before(async () => { t = await startApi(); ({ api } = t); });
after(() => t.close());

test('ended calls are summed up by day, agent and reason', async () => {
  const make = async (name) => (await api('POST', '/v1/agents', { name, greetingMode: 'none' })).body.agent.id;
  const [one, two] = [await make('one'), await make('two')];
  for (const agentId of [one, one, two]) {
    const { body: { callId } } = await api('POST', '/v1/calls', { agentId });
    await api('POST', `/v1/calls/${callId}/end`);
  }
  sql(t.service, // yesterday's, as they were summed up then
    `INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds, cost_usd4, replies, reply_p50_ms,
     reply_p95_ms) SELECT workspace_id, day - 1, agent_id, 'user-left', calls, 60, 1000, calls, 500 * calls,
     1500 * calls FROM usage_days
     UNION ALL SELECT workspace_id, day - 1, agent_id, 'no-user', 2, 0, 0, 0, 0, 0 FROM usage_days`);
  await api('POST', '/v1/calls', { agentId: one }); // not ended: not counted
  const { usage } = (await api('GET', '/v1/usage?days=7')).body;
  assert.equal(usage.days.length, 7);
  assert.deepEqual(usage.days.map((day) => day.date), usage.days.map((day) => day.date).toSorted());
  assert.deepEqual(usage.days.at(-1), {
    date: new Date().toISOString().slice(0, 10),
    calls: 3,
    seconds: 0,
    cost: 0,
    replyMs: null,
    replyP95Ms: null,
    reasons: [{ reason: 'api', calls: 3 }],
  });
  const before = [{ reason: 'no-user', calls: 4 }, { reason: 'user-left', calls: 3 }];
  assert.deepEqual(usage.days.at(-2).reasons, before);
  assert.deepEqual([usage.days.at(-2), usage.total].map((of) => [of.replyMs, of.replyP95Ms]),
    [[500, 1500], [500, 1500]], 'of a call, in the mean of those that measured it');
  assert.deepEqual(usage.days[0].reasons, []);
  assert.deepEqual(usage.reasons, [before[0], { reason: 'api', calls: 3 }, before[1]]);
  assert.deepEqual(usage.total.reasons, usage.reasons);
  assert.equal(usage.total.calls, 10);
  const ofTwo = (await api('GET', `/v1/usage?agentId=${two}&days=2`)).body.usage;
  assert.deepEqual(ofTwo.days.map(({ reasons }) => reasons), [
    [{ reason: 'no-user', calls: 2 }, { reason: 'user-left', calls: 1 }], [{ reason: 'api', calls: 1 }]]);
  assert.deepEqual((await api('GET', '/v1/usage?days=1')).body.usage.total.reasons, [{ reason: 'api', calls: 3 }]);
  assert.equal((await api('GET', '/v1/usage')).body.usage.days.length, 30);
  const other = await t.newWorkspace();
  assert.equal((await other.api('GET', '/v1/usage')).body.usage.total.calls, 0);
});

test('a wrong span is a fault, another workspace is refused', async () => {
  for (const days of ['0', '367', 'x', ''])
    refused(await api('GET', `/v1/usage?days=${days}`), 400, 'VALIDATION_FAILED', 'days');
  refused(await api('GET', '/v1/usage?userId=usr_other'), 403, 'FORBIDDEN');
});
