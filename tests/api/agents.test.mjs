/* /v1/agents: fields, bounds, defaults, merge rules, tools of an agent, keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SOON_MS, until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { apiForFile, iso, refused } from './contract.mjs';

const { t, api } = apiForFile();

const create = async (fields = {}) => {
  const answer = await api('POST', '/v1/agents', { name: 'Front desk', ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.agent;
};
const patch = async (agent, fields) => {
  const answer = await api('PATCH', `/v1/agents/${agent.id}`, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.agent;
};
const tool = async (fields = {}) => {
  const answer = await api('POST', '/v1/tools', { name: 'Look Up', description: 'Looks up.',
    url: 'http://127.0.0.1:9/x', ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.tool;
};

test('a name alone is enough: an agent has an id, its workspace and two keys', async () => {
  const agent = await create();
  assert.match(agent.id, /^ua_/);
  assert.equal(agent.userId, t.workspace.workspaceId);
  assert.match(agent.apiKey, /^ak_[A-Za-z0-9]{38}$/);
  assert.match(agent.publicKey, /^pk_[A-Za-z0-9]{38}$/);
  assert.match(agent.createdAt, iso);
});

test('what is left out has the defaults of the catalog', async () => {
  const agent = await create();
  const { body: { catalog, defaults } } = await api('GET', '/v1/catalog');
  assert.equal(agent.systemInstruction, defaults.agentInstruction);
  assert.equal(agent.greetingMode, 'generate');
  assert.equal(agent.voice.language, catalog.languages.find((entry) => entry.default).id);
  assert.equal(agent.voice.speed, 1);
  assert.ok(catalog.ttsProviders.some((entry) => entry.id === agent.voice.provider));
  assert.ok(catalog.llmModels.some((entry) => entry.id === agent.llm.model && entry.provider === agent.llm.provider));
  assert.deepEqual(agent.embed, { enabled: false, allowedOrigins: [], maxCallSeconds: 300, dailySpendLimit: 5 });
});

test('an agent begins without calls', async () => {
  const agent = await create();
  assert.deepEqual(agent.stats, { totalCalls: 0, totalSeconds: 0, totalCost: 0 });
  assert.equal('activeCalls' in agent, false);
});

test('every fault of a body is told, with its path', async () => {
  const answer = await api('POST', '/v1/agents', {
    systemInstruction: 'x'.repeat(25001), greetingMode: 'loud', voice: { speed: 3, provider: 'none' },
      llm: { temperature: -1, maxTokens: 0 },
    stt: { language: 'xx' }, variables: { '1x': {}, ok: { defaultValue: 7 } }, toolIds: 'all',
    embed: { maxCallSeconds: 5, allowedOrigins: ['https://x'] },
  });
  refused(answer, 400, 'VALIDATION_FAILED', 'name', 'systemInstruction', 'greetingMode', 'voice.speed',
    'voice.provider', 'llm.temperature',
    'llm.maxTokens', 'stt.language', 'variables.1x', 'variables.ok.defaultValue', 'toolIds', 'embed.maxCallSeconds',
    'embed.allowedOrigins[0]');
});

test('lengths count code points', async () => {
  assert.equal((await create({ name: '🎧'.repeat(100) })).name, '🎧'.repeat(100));
  refused(await api('POST', '/v1/agents', { name: '🎧'.repeat(101) }), 400, 'VALIDATION_FAILED', 'name');
  refused(await api('POST', '/v1/agents', { name: '' }), 400, 'VALIDATION_FAILED', 'name');
});

test('any Unicode comes back as it was sent', async () => {
  const text = 'नमस्ते 🎧 \u0001 "quoted" \\ \u2028 ﷽ e\u0301';
  assert.equal((await create({ systemInstruction: text })).systemInstruction, text);
});

test('an update merges sections and keeps what is not sent', async () => {
  const agent = await create({ voice: { speed: 1.5, emotion: 'calm' }, systemTools: { endCall: true } });
  const changed = await patch(agent, { voice: { volume: 0.5 }, systemTools: { changeLanguage: true } });
  assert.equal(changed.voice.speed, 1.5);
  assert.equal(changed.voice.volume, 0.5);
  assert.equal(changed.voice.emotion, 'calm');
  assert.deepEqual(changed.systemTools, { endCall: true, changeLanguage: true });
  assert.ok(changed.updatedAt >= agent.updatedAt);
});

test('an update replaces variables', async () => {
  const agent = await create({ variables: { a: { defaultValue: '1' }, b: {} } });
  const changed = await patch(agent, { variables: { c: { description: 'd' } } });
  assert.deepEqual(changed.variables, { c: { defaultValue: '', description: 'd' } });
});

test('null restores a default', async () => {
  const agent = await create({ voice: { speed: 1.5, volume: 0.5 }, systemTools: { endCall: true },
    variables: { a: {} } });
  const reset = await patch(agent, { voice: { speed: null }, systemTools: null, variables: null });
  assert.equal(reset.voice.speed, 1);
  assert.equal(reset.voice.volume, 0.5);
  assert.deepEqual(reset.systemTools, { endCall: false, changeLanguage: false });
  assert.deepEqual(reset.variables, {});
});

test('null is a fault where there is no default', async () => {
  const agent = await create();
  refused(await api('PATCH', `/v1/agents/${agent.id}`, { name: null }), 400, 'VALIDATION_FAILED', 'name');
});

test('what was read can be sent back and changes nothing', async () => {
  const own = await tool({ auth: 'bearer', authToken: 'a-long-secret' });
  const agent = await create({ toolIds: [own.id], tools: [{
    name: 'mine', description: 'd', url: 'http://127.0.0.1:9/', authToken: 'another-secret' }] });
  const again = await patch(agent, agent);
  assert.deepEqual({ ...again, updatedAt: '', tools: again.tools.map((entry) => ({ ...entry, updatedAt: '' })) },
    { ...agent, updatedAt: '', tools: agent.tools.map((entry) => ({ ...entry, updatedAt: '' })) });
});

test('a provider sent alone takes its own default and bounds', async () => {
  const { body: { catalog } } = await api('GET', '/v1/catalog');
  const agent = await create();
  const other = catalog.llmModels.find((entry) => entry.provider !== agent.llm.provider);
  const changed = await patch(agent, { llm: { provider: other.provider, temperature: 2, maxTokens: 100000000 } });
  assert.equal(changed.llm.provider, other.provider);
  const model = catalog.llmModels.find((entry) => entry.id === changed.llm.model && entry.provider === other.provider);
  assert.equal(changed.llm.temperature, Math.min(2, model.temperature.max));
  assert.equal(changed.llm.maxTokens, model.maxTokens.max);
});

test('a model that the provider does not have is a fault', async () => {
  const agent = await create();
  refused(await api('PATCH', `/v1/agents/${agent.id}`, { llm: { model: 'no-such-model' } }), 400, 'VALIDATION_FAILED',
    'llm.model');
});

/* A workspace with the agents a, b, c. */
const withThree = async () => {
  const mine = await t.newWorkspace();
  const three = [];
  for (const name of ['a', 'b', 'c']) three.push((await mine.api('POST', '/v1/agents', { name })).body.agent);
  return [mine, three];
};

test('the list is newest edited first', async () => {
  const [mine, [first]] = await withThree();
  await mine.api('PATCH', `/v1/agents/${first.id}`, { name: 'a2' });
  const { body: { agents } } = await mine.api('GET', '/v1/agents');
  assert.deepEqual(agents.map((agent) => agent.name), ['a2', 'c', 'b']);
});

test('the list knows active calls', async () => {
  const [mine, [, second]] = await withThree();
  const { body: { callId } } = await mine.api('POST', '/v1/calls', { agentId: second.id });
  const counts = async () => Object.fromEntries((await mine.api('GET', '/v1/agents')).body.agents
    .map(({ name, activeCalls }) => [name, activeCalls]));
  await until(async () => (await counts()).b === 1, { what: 'the call to be active' });
  assert.deepEqual(await counts(), { a: 0, b: 1, c: 0 });
  await mine.api('POST', `/v1/calls/${callId}/end`);
  assert.equal((await counts()).b, 0);
});

test('toolIds: shared tools are taken as they are, each once', async () => {
  const [agent, shared] = [await create(), await tool()];
  assert.deepEqual((await patch(agent, { toolIds: [shared.id, shared.id] })).toolIds, [shared.id]);
});

/* An agent with a copy of a tool that another agent owns. */
const withCopy = async () => {
  const [agent, owner] = [await create(), await create()];
  const foreign = await tool({ agentId: owner.id, name: 'book', auth: 'bearer', authToken: 'the-secret-token' });
  const { tools: [copy] } = await patch(agent, { toolIds: [foreign.id] });
  return { agent, foreign, copy };
};

test("toolIds: another agent's tool is copied, with its credential", async () => {
  const { agent, foreign, copy } = await withCopy();
  assert.notEqual(copy.id, foreign.id);
  assert.equal(copy.agentId, agent.id);
  assert.equal(copy.authToken, '********oken');
});

test('toolIds: it is copied once', async () => {
  const { agent, foreign, copy } = await withCopy();
  assert.deepEqual((await patch(agent, { toolIds: [foreign.id] })).toolIds, [copy.id]);
});

test('toolIds: a copy that is removed is switched off', async () => {
  const { agent, copy } = await withCopy();
  await api('DELETE', `/v1/tools/${copy.id}`);
  assert.deepEqual((await api('GET', `/v1/agents/${agent.id}`)).body.agent.toolIds, []);
});

test('toolIds: one that is none is a fault', async () => {
  const [agent, shared] = [await create(), await tool()];
  refused(await api('PATCH', `/v1/agents/${agent.id}`, { toolIds: [shared.id, 'tool_none'] }), 400,
    'VALIDATION_FAILED', 'toolIds[1]');
});

test('a copy whose name is taken gets a number', async () => {
  const [one, two, three] = [await create(), await create(), await create()];
  const a = await tool({ agentId: two.id, name: 'same' });
  const b = await tool({ agentId: three.id, name: 'same' });
  const changed = await patch(one, { tools: [{ name: 'same', description: 'd', url: 'http://127.0.0.1:9/' }],
    toolIds: [a.id, b.id] });
  assert.deepEqual(changed.tools.map((entry) => entry.name).sort(), ['same', 'same_2']);
});

const first = { name: 'First One', description: 'd', url: 'http://127.0.0.1:9/1' };
const withTools = (...tools) => create({ tools });

test('tools: a new one is made and switched on', async () => {
  const agent = await withTools(first);
  assert.equal(agent.tools[0].name, 'first_one');
  assert.deepEqual(agent.toolIds, [agent.tools[0].id]);
});

test('tools: one of the same name is changed, others are made', async () => {
  const agent = await withTools(first);
  const changed = await patch(agent, { tools: [{ name: 'FIRST ONE', description: 'new' },
    { name: 'second', description: 'd', url: 'http://127.0.0.1:9/2' }] });
  assert.equal(changed.tools.length, 2);
  assert.equal(changed.tools[0].id, agent.tools[0].id);
  assert.equal(changed.tools[0].description, 'new');
  assert.equal(changed.tools[0].url, 'http://127.0.0.1:9/1');
});

test('tools: each is checked, the new ones for what they need', async () => {
  const agent = await withTools(first);
  refused(await api('PATCH', `/v1/agents/${agent.id}`, { tools: [{ name: 'third' },
    { id: agent.tools[0].id, timeoutMs: 1 }] }), 400,
    'VALIDATION_FAILED', 'tools[0].url', 'tools[0].description', 'tools[1].timeoutMs');
});

test('tools: a name is taken once', async () => {
  const agent = await withTools(first, { ...first, name: 'second' });
  refused(await api('PATCH', `/v1/agents/${agent.id}`, { tools: [{ id: agent.tools[0].id, name: 'second' }] }), 409,
    'TOOL_NAME_TAKEN');
});

test('tools: a new one cannot begin with a mask', async () => {
  const agent = await create();
  refused(await api('PATCH', `/v1/agents/${agent.id}`, { tools: [{
    name: 'fourth', description: 'd', url: 'http://127.0.0.1/', authToken: '********abcd' }] }),
    400, 'VALIDATION_FAILED', 'tools[0].authToken');
});

test('documentIds that are none of the workspace are dropped', async () => {
  const { body: { document } } = await api('POST', '/v1/knowledge/documents',
    { name: 'n', text: 'We open at nine every day.' });
  assert.deepEqual((await create({ documentIds: [document.id, 'kd_none'] })).documentIds, [document.id]);
});

test('an empty webhookUrl removes it', async () => {
  const agent = await create({ webhookUrl: 'http://127.0.0.1:9/hook' });
  assert.equal((await patch(agent, { webhookUrl: '' })).webhookUrl, '');
});

test('webhookUrl must be public', async () => {
  const agent = await create();
  for (const url of ['http://10.0.0.1/', 'http://[::ffff:10.0.0.1]/', 'http://0x0a000001/', 'ftp://127.0.0.1/',
    'http://user:pw@127.0.0.1/', 'http://169.254.169.254/latest'])
    refused(await api('PATCH', `/v1/agents/${agent.id}`, { webhookUrl: url }), 400, 'URL_NOT_ALLOWED');
});

test('a webhookUrl that is no URL is a fault', async () => {
  refused(await api('POST', '/v1/agents', { name: 'a', webhookUrl: 'no url' }), 400, 'VALIDATION_FAILED',
    'webhookUrl');
});

test('an agent that is none is not found', async () => {
  refused(await api('GET', '/v1/agents/ua_none'), 404, 'NOT_FOUND');
  refused(await api('PATCH', '/v1/agents/ua_none', { name: 'x' }), 404, 'NOT_FOUND');
  refused(await api('DELETE', '/v1/agents/ua_none'), 404, 'NOT_FOUND');
});

test('the faults of a body come before an agent that is none', async () => {
  refused(await api('PATCH', '/v1/agents/ua_none', { name: 7 }), 400, 'VALIDATION_FAILED', 'name');
});

test("another workspace's agent is not found", async () => {
  const agent = await create();
  const other = await t.newWorkspace();
  refused(await other.api('GET', `/v1/agents/${agent.id}`), 404, 'NOT_FOUND');
});

test('rotation: the old key stops within a second, the new one works', async () => {
  const agent = await create();
  const own = t.as(agent.apiKey);
  assert.equal((await own('GET', `/v1/agents/${agent.id}`)).status, 200);
  const { body, status } = await api('POST', `/v1/agents/${agent.id}/rotate-key`);
  assert.equal(status, 200);
  assert.notEqual(body.apiKey, agent.apiKey);
  assert.equal(body.agent.apiKey, body.apiKey);
  const last = await until(async () => {
    const answer = await own('GET', `/v1/agents/${agent.id}`);
    return answer.status !== 200 && answer;
  }, { timeoutMs: SOON_MS, what: 'the old key to stop' });
  refused(last, 401, 'UNAUTHORIZED');
  assert.equal((await t.as(body.apiKey)('GET', `/v1/agents/${agent.id}`)).status, 200);
});

test('rotation: the other key stays', async () => {
  const agent = await create();
  const { agent: first } = (await api('POST', `/v1/agents/${agent.id}/rotate-key`)).body;
  assert.equal(first.publicKey, agent.publicKey);
  const { agent: then, publicKey } = (await api('POST', `/v1/agents/${agent.id}/rotate-public-key`)).body;
  assert.notEqual(publicKey, agent.publicKey);
  assert.equal(then.apiKey, first.apiKey);
});

test('removal takes its own tools and its key along', async () => {
  const agent = await create({ tools: [{ name: 'gone', description: 'd', url: 'http://127.0.0.1:9/' }] });
  assert.deepEqual((await api('DELETE', `/v1/agents/${agent.id}`)).body, { ok: true, id: agent.id });
  refused(await api('GET', `/v1/tools/${agent.tools[0].id}`), 404, 'NOT_FOUND');
  refused(await t.as(agent.apiKey)('GET', '/v1/agents'), 401, 'UNAUTHORIZED');
});

test('a removed agent takes no more calls, and its past ones stay', async () => {
  const agent = await create({ greetingMode: 'none' });
  const [past, running] = [(await api('POST', '/v1/calls', { agentId: agent.id })).body.callId,
    (await api('POST', '/v1/calls', { agentId: agent.id })).body.callId];
  await api('POST', `/v1/calls/${past}/end`);
  await api('DELETE', `/v1/agents/${agent.id}`);
  refused(await api('POST', '/v1/calls', { agentId: agent.id }), 404, 'NOT_FOUND');
  const { body: { calls } } = await api('GET', `/v1/calls?agentId=${agent.id}`);
  assert.deepEqual(calls.map(({ id, status }) => [id, status === 'ended']), [[running, false], [past, true]]);
  assert.equal((await api('POST', `/v1/calls/${running}/end`)).body.call.endReason, 'api');
});

test('a call under way keeps its agent, a later one has the new', async () => {
  const own = await t.newWorkspace();
  const { body: { agent } } = await own.api('POST', '/v1/agents', { name: 'Front desk', greetingMode: 'none' });
  const start = async () => (await own.api('POST', '/v1/calls', { agentId: agent.id })).body.call;
  const first = await start();
  await own.api('PATCH', `/v1/agents/${agent.id}`, { name: 'Back office' });
  sql(t.service, `UPDATE workspaces SET plan = 'scale' WHERE id = '${own.workspaceId}'`); // a cheaper one
  const second = await start();
  const kept = (await own.api('GET', `/v1/calls/${first.id}`)).body.call;
  assert.deepEqual([kept.metadata.agentName, kept.costPerMinute], ['Front desk', agent.costPerMinute]);
  assert.equal(second.metadata.agentName, 'Back office');
  assert.ok(second.costPerMinute < first.costPerMinute);
  for (const { id } of [first, second]) await own.api('POST', `/v1/calls/${id}/end`);
});

test('a mention switches a tool on', async () => {
  const shared = await tool({ name: 'weather_now' });
  const agent = await create({ systemInstruction: 'Ask @weather_now, not @weather_no or @unknown.' });
  assert.deepEqual(agent.toolIds, []);
  assert.deepEqual(agent.tools.map((entry) => entry.id), [shared.id]);
  const own = (await tool({ name: 'weather_now', agentId: agent.id })).id;
  assert.deepEqual((await api('GET', `/v1/agents/${agent.id}`)).body.agent.tools.map((entry) => entry.id), [own]);
});

test('who has read an older version is told so by If-Match, and writes over it without', async () => {
  const { id } = await create();
  const path = `/v1/agents/${id}`;
  const read = (await api('GET', path)).headers.get('etag');
  assert.match(read, /^"\d+"$/);
  const first = await api('PATCH', path, { name: 'First' }, { 'If-Match': read });
  assert.deepEqual([first.status, first.headers.get('etag') === read], [200, false]);
  refused(await api('PATCH', path, { name: 'Second' }, { 'If-Match': read }), 412, 'PRECONDITION_FAILED');
  assert.equal((await api('GET', path)).body.agent.name, 'First');
  const both = `${read}, ${first.headers.get('etag')}`;
  assert.equal((await api('PATCH', path, { name: 'Third' }, { 'If-Match': both })).status, 200);
  assert.equal((await api('PATCH', path, { name: 'Fourth' }, { 'If-Match': '*' })).status, 200);
  assert.equal((await api('PATCH', path, { name: 'Fifth' })).body.agent.name, 'Fifth');
});
