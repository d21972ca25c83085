/* What is large: lists longer than memory should hold, ceilings of a workspace, and that neither is felt by others. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { test } from 'node:test';
import { until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { apiForFile, refused as refusedWhole } from './contract.mjs';

const CEILINGS = { EARSHOT_WORKSPACE_MAX_AGENTS: '5', EARSHOT_WORKSPACE_MAX_TOOLS: '70',
  EARSHOT_WORKSPACE_MAX_KEYS: '3', EARSHOT_WORKSPACE_MAX_STORAGE: '42' };
const endpoint = 'http://127.0.0.1:9/';
const { t } = apiForFile({ env: CEILINGS });

/* Answers here may be too long to be shown whole. */
const refused = (answer, ...wanted) => refusedWhole({ ...answer, text: answer.text.slice(0, 300) }, ...wanted);
const made = async (api, path, body, headers) => {
  const answer = await api('POST', path, body, headers);
  assert.equal(answer.status, 201, answer.text.slice(0, 300));
  return Object.values(answer.body)[0];
};
/* Some 650 KB: four-byte characters, as dear as they come. */
const largeParams = Array.from({ length: 40 }, (_, n) => ({ key: `p${n}`, value: '🎧'.repeat(4000) }));
const largeTool = (name) => ({ name, description: 'Large.', url: endpoint, params: largeParams });

/* A workspace whose answers are long: 60 shared tools of 650 KB, on in two agents. */
let large;
async function largeWorkspace() {
  if (large) return large;
  const workspace = await t.newWorkspace();
  const tools = [];
  for (let n = 0; n < 60; n++) tools.push(await made(workspace.api, '/v1/tools', largeTool(`large_${n}`)));
  const toolIds = tools.map((tool) => tool.id);
  const agents = [];
  for (let n = 0; n < 2; n++) agents.push(await made(workspace.api, '/v1/agents', { name: `Agent ${n}`, toolIds }));
  large = { ...workspace, tools, toolIds, agents };
  return large;
}

const memory = (name) => Number(readFileSync(`/proc/${t.service.child.pid}/status`, 'utf8')
  .match(new RegExp(`${name}:\\s+(\\d+) kB`))[1]) * 1024;
/* The most that was resident since, over what was resident before. */
async function peakOf(work) {
  writeFileSync(`/proc/${t.service.child.pid}/clear_refs`, '5');
  const before = memory('VmRSS');
  const value = await work();
  return [memory('VmHWM') - before, value];
}

const MIB = 1 << 20;

test('a list over 64 MiB is whole, in the order and shape of a short one', async () => {
  const { api, agents, toolIds } = await largeWorkspace();
  const answer = await api('GET', '/v1/agents');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('transfer-encoding'), 'chunked');
  assert.ok(answer.text.length > 64 * MIB / 4); /* in characters of four bytes */
  assert.deepEqual(answer.body.agents.map((agent) => agent.id), agents.map((agent) => agent.id).reverse());
  for (const agent of answer.body.agents) assert.deepEqual(agent.tools.map((tool) => tool.id), toolIds);
  const one = await api('GET', `/v1/agents/${agents[0].id}`);
  const { activeCalls, ...entry } = answer.body.agents[1];
  assert.equal(activeCalls, 0);
  assert.deepEqual(one.body.agent, entry);
  const tools = await api('GET', '/v1/tools');
  assert.deepEqual(tools.body.tools.map((tool) => tool.id), [...toolIds].reverse());
  assert.deepEqual(tools.body.tools[0].params, largeParams);
});

test('eight of them at once take a few megabytes each, not all they answer', async () => {
  const { key } = await largeWorkspace();
  const list = async () => {
    const response = await fetch(`${t.service.url}/v1/agents`, { headers: { Authorization: `Bearer ${key}` } });
    let bytes = 0;
    for await (const part of response.body) bytes += part.length;
    return bytes;
  };
  const [peak, bytes] = await peakOf(() => Promise.all(Array.from({ length: 8 }, list)));
  assert.ok(bytes.every((count) => count === bytes[0] && count > 64 * MIB));
  if (process.env.SHOW) console.log(peak / MIB);
  assert.ok(peak < 96 * MIB, `${peak / MIB} MiB for ${8 * bytes[0] / MIB} MiB of answers`);
});

/* Asks and reads nothing; answers the response. */
const asked = (path, key) => new Promise((resolve, reject) => {
  const request = get(t.service.url + path, { headers: { Authorization: `Bearer ${key}` }, agent: false },
    (response) => { response.pause(); resolve(response); });
  request.on('error', reject);
});

test('clients that read slowly hold little, and those that leave hold nothing', async () => {
  const { key, api } = await largeWorkspace();
  const [peak] = await peakOf(async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => asked('/v1/agents', key)));
    assert.equal((await api('GET', '/v1/me')).status, 200); /* readers of the store are free */
    for (const response of slow.slice(1)) response.destroy();
    let bytes = 0;
    for await (const part of slow[0]) bytes += part.length;
    assert.ok(bytes > 64 * MIB);
  });
  if (process.env.SHOW) console.log(peak / MIB);
  assert.ok(peak < 128 * MIB, `${peak / MIB} MiB`);
  const metrics = await (await fetch(`${t.service.url}/metrics`)).text();
  assert.doesNotMatch(t.service.output, /http.cut/);
  assert.ok(metrics.length > 0);
});

test('HEAD of a long list is its head', async () => {
  const { key } = await largeWorkspace();
  const response = await fetch(`${t.service.url}/v1/agents`,
    { method: 'HEAD', headers: { Authorization: `Bearer ${key}` } });
  assert.equal(response.status, 200);
  assert.equal((await response.text()).length, 0);
});

test('what a list shows is what was there when it began; what goes meanwhile is left out', async () => {
  const { api, key, workspaceId } = await t.newWorkspace();
  const shared = await made(api, '/v1/tools', largeTool('shared'));
  const agents = [];
  for (let n = 0; n < 5; n++) agents.push(await made(api, '/v1/agents', { name: `${n}`, toolIds: [shared.id] }));
  const response = await asked('/v1/agents', key);
  await api('DELETE', `/v1/agents/${agents[0].id}`);
  await api('PATCH', `/v1/agents/${agents[1].id}`, { name: 'renamed' });
  response.setEncoding('utf8');
  let text = '';
  for await (const part of response) text += part;
  const ids = JSON.parse(text).agents.map((agent) => agent.id);
  const order = agents.map((agent) => agent.id).reverse();
  assert.deepEqual(ids, order.slice(0, ids.length));
  assert.ok(ids.length >= 4); /* the removed one was last, and may have been written before it went */
  assert.ok(workspaceId);
});

test('a large workspace does not hold the writer: others are served between its edits', async () => {
  const { api, agents } = await largeWorkspace();
  const other = await t.newWorkspace();
  const own = await made(other.api, '/v1/agents', { name: 'Quick' });
  let isOver = false;
  const edits = (async () => {
    let count = 0;
    for (; !isOver; count++) assert.equal((await api('PATCH', `/v1/agents/${agents[0].id}`, { name: `Agent ${count}` }))
      .status, 200);
    return count;
  })();
  const took = [];
  for (let n = 0; n < 20; n++) {
    const began = performance.now();
    assert.equal((await other.api('PATCH', `/v1/agents/${own.id}`, { name: `Quick ${n}` })).status, 200);
    took.push(performance.now() - began);
  }
  isOver = true;
  assert.ok(await edits >= 1);
  took.sort((a, b) => a - b);
  assert.ok(took[10] < 1000, `half of them took over ${took[10]} ms`); /* 6.5 s when a PATCH read all tools */
});

test('a removed tool or document is in no agent', async () => {
  const { api } = await t.newWorkspace();
  const [shared, gone] = [await made(api, '/v1/tools', { name: 'shared', description: 'd', url: endpoint }),
    await made(api, '/v1/tools', { name: 'gone', description: 'd', url: endpoint })];
  const document = await made(api, '/v1/knowledge/documents',
    { name: 'Page', text: 'We are open from nine to five, every day of the week.' });
  const agent = await made(api, '/v1/agents', { name: 'x', systemInstruction: 'Use @gone and @Shared.',
    toolIds: [gone.id], documentIds: [document.id] });
  assert.deepEqual(agent.tools.map((tool) => tool.name), ['gone', 'shared']);
  await api('DELETE', `/v1/tools/${gone.id}`);
  await api('DELETE', `/v1/knowledge/documents/${document.id}`);
  for (const read of [(await api('GET', `/v1/agents/${agent.id}`)).body.agent,
    (await api('GET', '/v1/agents')).body.agents[0],
    (await api('PATCH', `/v1/agents/${agent.id}`, { name: 'y' })).body.agent]) {
    assert.deepEqual(read.toolIds, []);
    assert.deepEqual(read.documentIds, []);
    assert.deepEqual(read.tools.map((tool) => tool.name), ['shared']);
  }
});

test('agents, tools and what they hold have ceilings, and nothing is made over them', async () => {
  const { api } = await t.newWorkspace();
  for (let n = 0; n < 4; n++) await made(api, '/v1/agents', { name: `${n}` });
  const fifth = await made(api, '/v1/agents', { name: 'fifth' });
  refused(await api('POST', '/v1/agents', { name: 'sixth', tools: [{ name: 'x', description: 'd', url: endpoint }] }),
    409, 'AGENT_LIMIT_REACHED');
  assert.deepEqual((await api('GET', '/v1/tools')).body.tools, []);
  const same = { 'Idempotency-Key': 'the sixth' };
  refused(await api('POST', '/v1/agents', { name: 'sixth' }, same), 409, 'AGENT_LIMIT_REACHED');
  const again = await api('POST', '/v1/agents', { name: 'sixth' }, same);
  refused(again, 409, 'AGENT_LIMIT_REACHED');
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal((await api('GET', '/v1/agents')).body.agents.length, 5);

  const entries = (count, offset = 0) => Array.from({ length: count },
    (_, n) => ({ name: `t${n + offset}`, description: 'd', url: endpoint }));
  await api('PATCH', `/v1/agents/${fifth.id}`, { tools: entries(69) });
  refused(await api('PATCH', `/v1/agents/${fifth.id}`, { name: 'changed', tools: entries(2, 69) }), 409,
    'TOOL_LIMIT_REACHED');
  assert.equal((await api('GET', `/v1/agents/${fifth.id}`)).body.agent.name, 'fifth');
  const last = await made(api, '/v1/tools', { name: 'last', description: 'd', url: endpoint });
  refused(await api('POST', '/v1/tools', { name: 'over', description: 'd', url: endpoint }), 409, 'TOOL_LIMIT_REACHED');
  assert.equal((await api('PUT', `/v1/tools/${last.id}`,
    { description: 'Longer than before, and still no tool more.' })).status, 200);
  await api('DELETE', `/v1/tools/${last.id}`);
  await made(api, '/v1/tools', { name: 'again', description: 'd', url: endpoint });
});

test('what agents and tools hold is counted in bytes, exactly', async () => {
  const { api } = await t.newWorkspace();
  const answers = await Promise.all(Array.from({ length: 70 }, (_, n) => api('POST', '/v1/tools', largeTool(`t${n}`))));
  const [first, ...others] = answers.filter((answer) => answer.status === 201).map((answer) => answer.body.tool);
  for (const answer of answers) if (answer.status !== 201) refused(answer, 409, 'STORAGE_LIMIT_REACHED');
  const least = 40 * 4 * 4000, most = least + 40 * 100; /* of a tool */
  assert.ok((1 + others.length) * least <= 42 * MIB && (2 + others.length) * most > 42 * MIB,
    `${1 + others.length} tools`);
  const more = [...largeParams, ...largeParams.slice(0, 10).map((row) => ({ ...row, key: `more_${row.key}` }))];
  let over;
  for (const tool of [first, ...others]) { /* each takes 160 KB more */
    over = await api('PUT', `/v1/tools/${tool.id}`, { params: more });
    if (over.status !== 200) break;
  }
  refused(over, 409, 'STORAGE_LIMIT_REACHED');
  assert.equal((await api('PUT', `/v1/tools/${first.id}`, { description: 'Small.', params: [] })).status, 200);
  assert.equal((await api('PUT', `/v1/tools/${first.id}`, { params: largeParams })).status, 200);
});

test('an agent with the largest tools is called, and its calls hold them once', async () => {
  const { api } = await t.newWorkspace({ calls: 20 });
  const agent = await made(api, '/v1/agents', { name: 'x' });
  const params = Array.from({ length: 50 }, (_, n) => ({ key: `p${n}`, value: '🎧'.repeat(4000) }));
  for (let n = 0; n < 46; n++) await made(api, '/v1/tools', { ...largeTool(`t${n}`), params, agentId: agent.id });
  const toolIds = (await api('GET', `/v1/tools?agentId=${agent.id}`)).body.tools.map((tool) => tool.id);
  assert.equal((await api('PATCH', `/v1/agents/${agent.id}`, { toolIds })).status, 200);
  const [peak] = await peakOf(async () => {
    for (let n = 0; n < 20; n++) assert.equal((await api('POST', '/v1/calls', { agentId: agent.id })).status, 201);
  });
  assert.ok(peak < 128 * MIB, `${peak / MIB} MiB`); /* one of them alone has 37 MiB of tools */
  const { body: { calls } } = await api('GET', '/v1/calls');
  for (const call of calls) assert.equal((await api('POST', `/v1/calls/${call.id}/end`)).status, 200);
});

/* 640 turns of 16,000 characters for each call of a workspace: a day of talk. */
const talk = (workspaceId) => `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 639)
  INSERT INTO call_turns (call_id, position, role, text, at_ms) SELECT c.id, n.i, 'user',
    replace('__________' || n.i, '_', '${'x'.repeat(1600)}'), 1
  FROM calls c, n WHERE c.workspace_id = '${workspaceId}'`;

test('calls with long transcripts are whole, alone and in a list, and take little memory', async () => {
  const { api, workspaceId, key } = await t.newWorkspace({ calls: 10 });
  const agent = await made(api, '/v1/agents', { name: 'x' });
  const ids = [];
  for (let n = 0; n < 10; n++) ids.push((await api('POST', '/v1/calls', { agentId: agent.id })).body.callId);
  for (const id of ids) await api('POST', `/v1/calls/${id}/end`);
  sql(t.service, talk(workspaceId));
  const [peak, answers] = await peakOf(async () => {
    const lists = await Promise.all([0, 1, 2].map(() => fetch(`${t.service.url}/v1/calls?limit=10`,
      { headers: { Authorization: `Bearer ${key}` } })));
    return Promise.all(lists.map((list) => list.json()));
  });
  if (process.env.SHOW) console.log(peak / MIB);
  assert.ok(peak < 64 * MIB, `${peak / MIB} MiB`); /* 300 MiB of answers */
  for (const answer of answers) {
    assert.deepEqual([answer.total, answer.nextCursor], [10, null]);
    assert.deepEqual(answer.calls.map((call) => call.id).sort(), [...ids].sort());
    for (const call of answer.calls) assert.deepEqual(call.transcript.map((turn) => turn.text.slice(16000)),
      Array.from({ length: 640 }, (_, n) => `${n}`));
  }
  const one = await api('GET', `/v1/calls/${ids[3]}`);
  assert.deepEqual(one.body.call, answers[0].calls.find((call) => call.id === ids[3]));
  const headers = { 'Idempotency-Key': 'end' };
  const ended = await api('POST', `/v1/calls/${ids[3]}/end`, undefined, headers);
  const again = await api('POST', `/v1/calls/${ids[3]}/end`, undefined, headers);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual([ended.body, again.body], [one.body, one.body]);
});

test('keys have a ceiling; revoked ones do not count', async () => {
  const { workspaceId, keyId } = await t.newWorkspace();
  const create = () => t.service.cli('key', 'create', '--workspace', workspaceId, '--name', 'x', '--json');
  await create();
  await create();
  await assert.rejects(create(), /the workspace has 3 keys, as many as it may \(KEY_LIMIT_REACHED\)/);
  await t.service.cli('key', 'revoke', '--key', keyId);
  await create();
});

test('a long answer to an Idempotency-Key is given again', async () => {
  const { api } = await t.newWorkspace();
  const shared = await made(api, '/v1/tools', largeTool('shared'));
  const headers = { 'Idempotency-Key': 'long' };
  const first = await api('POST', '/v1/agents', { name: 'x', toolIds: [shared.id] }, headers);
  assert.equal(first.status, 201);
  const again = await api('POST', '/v1/agents', { name: 'x', toolIds: [shared.id] }, headers);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  const short = await api('POST', '/v1/agents', { name: 'y' }, { 'Idempotency-Key': 'short' });
  await api('PATCH', `/v1/agents/${short.body.agent.id}`, { name: 'changed since' });
  const kept = await api('POST', '/v1/agents', { name: 'y' }, { 'Idempotency-Key': 'short' });
  assert.equal(kept.text, short.text);
  assert.equal((await api('GET', '/v1/agents')).body.agents.length, 2);
  await until(async () => (await api('GET', '/v1/me')).status === 200);
});
