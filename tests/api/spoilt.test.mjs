/* A row that cannot be read: its workspace's lists go on without it, and the operator is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { apiForFile, refused } from './contract.mjs';

const { t, api } = apiForFile();

const make = async (path, body) => Object.values((await api('POST', path, body)).body)[0].id;
const ids = async (path) => Object.values((await api('GET', path)).body)[0].map(({ id }) => id);
const spoil = (table, id) => sql(t.service, `UPDATE ${table} SET settings = 'spoilt' WHERE id = '${id}';`);
const setAside = (kind) => until(async () => (await t.service.cli('show', '--json')).deadLetters[kind] >= 1,
  { what: `a dead letter of a spoilt ${kind}` });

async function check(path, table, kind, body) {
  const [good, spoilt, last] = [await make(path, body(1)), await make(path, body(2)), await make(path, body(3))];
  spoil(table, spoilt);
  assert.deepEqual((await ids(path)).sort(), [good, last].sort());
  await setAside(kind);
}

test('a list of subscriptions goes on without one that does not read', () =>
  check('/v1/webhooks', 'webhooks', 'webhook', () => ({ url: 'http://127.0.0.1:9/' })));

test('a list of tools goes on without one that does not read', () =>
  check('/v1/tools', 'tools', 'tool', (i) => ({ name: `t${i}`, description: 'd', url: 'http://127.0.0.1:9/' })));

test('a list of agents goes on without one that does not read', () =>
  check('/v1/agents', 'agents', 'agent', (i) => ({ name: `a${i}` })));

test('an agent is shown without a tool that does not read', async () => {
  const tools = [1, 2].map((i) => ({ name: `own${i}`, description: 'd', url: 'http://127.0.0.1:9/' }));
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a', tools });
  spoil('tools', agent.tools[0].id);
  const answer = await api('GET', `/v1/agents/${agent.id}`);
  assert.deepEqual(answer.body.agent.tools.map(({ id }) => id), [agent.tools[1].id]);
});

test('the record itself cannot be shown', async () => {
  const id = await make('/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  spoil('webhooks', id);
  refused(await api('GET', `/v1/webhooks/${id}`), 500, 'INTERNAL_ERROR');
});
