/* A database that does not answer: requests are answered in time, one workspace's locked rows are nobody else's matter,
 * and the service ends when it is told to. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { before, describe, test } from 'node:test';
import { freeze, hold } from '../harness/away.mjs';
import { until } from '../harness/service.mjs';
import { startApi } from './contract.mjs';

const isPostgres = process.env.TEST_DATABASE === 'postgresql';
/* 15 s and 10 s, and some for a busy machine: without their limits both would wait for the database. */
const ANSWER_MOST_MS = 40000, END_MOST_MS = 40000;

async function newAgent(workspace) {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents',
    { name: 'n', greetingMode: 'none', webhookUrl: '' });
  return agent;
}

async function startCall(workspace, agent) {
  const { body: { callId } } = await workspace.api('POST', '/v1/calls', { agentId: agent.id });
  await until(async () => (await workspace.api('GET', `/v1/calls/${callId}`)).body.call.status === 'active',
    { what: 'the agent' });
  return callId;
}

/* Runs the case with the database frozen from where it says so; whatever happens, it is let go before the end. */
async function withFreezing(options, run) {
  const api = await startApi(options);
  let thaw = async () => {};
  try {
    await run(api, { freeze: async () => { thaw = await freeze(api.service); }, thaw: () => thaw() });
  } finally {
    await thaw();
    await api.close();
  }
}

async function timed(promise) {
  const began = Date.now();
  const answer = await promise;
  return { ...answer, ms: Date.now() - began };
}

describe('a database that stands still', () => {
  const seen = {};

  before(() => withFreezing({}, async (api, database) => {
    const workspace = await api.newWorkspace();
    const agent = await newAgent(workspace);
    await database.freeze();
    const path = `/v1/agents/${agent.id}`;
    const change = () => workspace.api('PATCH', path, { name: 'm' });
    const look = () => workspace.api('GET', path);
    seen.answers = await Promise.all([...Array(6)].flatMap(() => [timed(change()), timed(look())]));
    const last = [...Array(20)].map(() => change().catch(() => null));
    seen.end = await timed(api.service.stop('SIGTERM'));
    await Promise.all(last);
    await database.thaw();
    await api.service.restart();
    seen.agent = (await look()).body.agent;
  }));

  test('requests are answered in time', () => {
    for (const [i, answer] of seen.answers.entries()) {
      assert.equal(answer.status, isPostgres || i % 2 === 0 ? 503 : 200);
      assert.ok(answer.ms < ANSWER_MOST_MS, `answered after ${answer.ms} ms`);
    }
  });

  test('the service ends while requests wait', () => {
    assert.ok(seen.end.ms < END_MOST_MS, `it ended after ${seen.end.ms} ms`);
  });

  test('what was refused is not written', () => {
    assert.equal(seen.agent.name, 'n');
  });
});

/* The call's end cannot be written: it is given up, and the next start ends the call. */
test('a call that cannot be ended does not hold the end of the service',
  () => withFreezing({ env: { EARSHOT_SERVICE_DRAIN_GRACE: '1' } },
  async (api, database) => {
    const workspace = await api.newWorkspace();
    const callId = await startCall(workspace, await newAgent(workspace));
    await database.freeze();
    const began = Date.now();
    api.service.mayBeCut = true;
    await api.service.stop('SIGTERM');
    assert.ok(Date.now() - began < END_MOST_MS, `it ended after ${Date.now() - began} ms`);
    await database.thaw();
    await api.service.restart();
    const { body: { call } } = await workspace.api('GET', `/v1/calls/${callId}`);
    assert.deepEqual([call.status, call.endReason], ['ended', 'agent-shutdown']);
  }));

/* Somebody holds a workspace's row: its starts are told in time; others start and go on, and no lease is lost. */
test('a locked workspace holds up nobody else', { skip: !isPostgres && 'needs PostgreSQL' }, async () => {
  const api = await startApi();
  try {
    const [held, free] = [await api.newWorkspace({ calls: 20 }), await api.newWorkspace({ calls: 20 })];
    const agents = [await newAgent(held), await newAgent(free)];
    const running = await Promise.all([1, 2, 3].map(() => startCall(free, agents[1])));
    const release = await hold(api.service,
      `BEGIN; SELECT 1 FROM workspaces WHERE id = '${held.workspaceId}' FOR UPDATE;`);
    const starts = [...Array(12)].map(() => timed(held.api('POST', '/v1/calls', { agentId: agents[0].id })));
    running.push(await startCall(free, agents[1]));
    const refused = await Promise.all(starts);
    for (const answer of refused) assert.equal(answer.status, 503);
    assert.ok(Math.max(...refused.map((answer) => answer.ms)) < ANSWER_MOST_MS);
    for (const id of running) assert.equal((await free.api('GET', `/v1/calls/${id}`)).body.call.status, 'active');
    await release();
    await startCall(held, agents[0]);
    assert.doesNotMatch(api.service.output, /lease_lost/);
  } finally {
    await api.close();
  }
});

test('a name server that never answers does not hold the end', async () => {
  const deaf = createSocket('udp4');
  await new Promise((bound) => deaf.bind(0, '127.0.0.1', bound));
  const api = await startApi({ env: { EARSHOT_EGRESS_NAMESERVER: `127.0.0.1:${deaf.address().port}` } });
  try {
    const workspace = await api.newWorkspace();
    const asked = new Promise((came) => deaf.once('message', came));
    const waiting = [...Array(12)].map((_, i) => workspace.api('POST', '/v1/agents',
      { name: 'n', webhookUrl: `https://never-${i}.example/x` }).catch(() => null));
    await asked;
    api.service.mayBeCut = true;
    const began = Date.now();
    await api.service.stop('SIGTERM');
    assert.ok(Date.now() - began < END_MOST_MS, `it ended after ${Date.now() - began} ms`);
    await Promise.all(waiting);
  } finally {
    await api.close();
    deaf.close();
  }
});
