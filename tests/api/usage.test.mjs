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
    `INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds, cost_usd4)
     SELECT workspace_id, day - 1, agent_id, 'user-left', calls, 60, 1000 FROM usage_days
     UNION ALL SELECT workspace_id, day - 1, agent_id, 'no-user', 2, 0, 0 FROM usage_days`);
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

/* Nearest rank, of the replies themselves. */
const percentile = (all, percent) => all.toSorted((a, b) => a - b)[Math.ceil((all.length * percent) / 100) - 1];

test('reply times are percentiles of all replies, of a day and of the span', async () => {
  const { api, workspaceId } = await t.newWorkspace();
  const today = Math.floor(Date.now() / 86400000);
  // an agent of many quick replies and one of few slow ones: the mean of their medians would be far off
  const replies = [[today, 'ua_quick', 400, (n) => 420 + (n % 211)], [today, 'ua_slow', 30, (n) => 2600 + 90 * n],
    [today - 2, 'ua_slow', 7, () => 900], [today - 40, 'ua_slow', 50, () => 8000]]
    .flatMap(([day, agent, count, ms]) => Array.from({ length: count }, (_, n) => ({ day, agent, ms: ms(n) })));
  const columns = sql(t.service, t.service.env.EARSHOT_DATABASE_URL
    ? "SELECT column_name FROM information_schema.columns WHERE table_name = 'usage_replies'"
    : "SELECT name FROM pragma_table_info('usage_replies')").split('\n').filter((name) => name.startsWith('ms_'));
  const sizes = columns.map((name) => Number(name.slice(3))).toSorted((a, b) => a - b);
  const rows = {};
  for (const reply of replies) (rows[`${reply.day}, '${reply.agent}'`] ??= []).push(reply);
  sql(t.service, Object.entries(rows).map(([key, all]) => `INSERT INTO usage_replies (workspace_id, day, agent_id,
    ${sizes.map((ms) => `ms_${ms}`)}) VALUES ('${workspaceId}', ${key}, ${sizes.map((from, n) =>
    all.filter(({ ms }) => ms >= from && ms < (sizes[n + 1] ?? Infinity)).length)});`).join(''));
  const check = (of, those, what) => {
    const all = replies.filter(those).map(({ ms }) => ms);
    for (const [got, percent] of [[of.replyMs, 50], [of.replyP95Ms, 95]]) {
      const want = percentile(all, percent);
      assert.ok(Math.abs(got - want) <= 0.15 * want, `${what}, p${percent}: ${got}, is ${want}`);
    }
  };
  const { usage } = (await api('GET', '/v1/usage')).body;
  check(usage.days.at(-1), ({ day }) => day === today, 'today');
  check(usage.days.at(-3), ({ day }) => day === today - 2, 'two days ago');
  assert.equal(usage.days.at(-2).replyMs, null);
  check(usage.total, ({ day }) => day > today - 30, '30 days');
  check((await api('GET', '/v1/usage?days=60')).body.usage.total, () => true, '60 days');
  const slow = (await api('GET', '/v1/usage?agentId=ua_slow')).body.usage;
  check(slow.total, ({ day, agent }) => day > today - 30 && agent === 'ua_slow', 'of an agent');
  const none = (await api('GET', '/v1/usage?days=1&agentId=ua_none')).body.usage.total;
  assert.deepEqual([none.replyMs, none.replyP95Ms], [null, null]);
});

test('a wrong span is a fault, another workspace is refused', async () => {
  for (const days of ['0', '367', 'x', ''])
    refused(await api('GET', `/v1/usage?days=${days}`), 400, 'VALIDATION_FAILED', 'days');
  refused(await api('GET', '/v1/usage?userId=usr_other'), 403, 'FORBIDDEN');
});
