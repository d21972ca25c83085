/* Who may do what: the matrix of operation, kind of key and owner; identity; the catalog. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SOON_MS, until } from '../harness/service.mjs';
import { apiForFile, refused } from './contract.mjs';

let other;
const { t, api } = apiForFile({}, async () => { other = await t.newWorkspace(); });

test('whose key this is', async () => {
  const { body } = await api('GET', '/v1/me');
  assert.equal(body.account, null);
  assert.deepEqual(body.apiKey, { id: t.workspace.keyId, name: 'test' });
  assert.deepEqual(body.workspaces, [{ id: t.workspace.workspaceId, name: 'Test', balance: 25, currency: 'USD',
    plan: body.workspaces[0].plan, maxConcurrentCalls: 5 }]);
});

test('no key, a wrong one, a mistyped one', async () => {
  for (const key of [undefined, 'nonsense', `sk_${'a'.repeat(38)}`,
    `${t.workspace.key.slice(0, -1)}${t.workspace.key.endsWith('a') ? 'b' : 'a'}`]) {
    const answer = await t.as(key)('GET', '/v1/me');
    refused(answer, 401, 'UNAUTHORIZED');
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  }
});

test('a key by another scheme is none', async () => {
  refused(await api('GET', '/v1/me', undefined, { Authorization: `Basic ${t.workspace.key}` }), 401, 'UNAUTHORIZED');
});

test('every operation by every kind of key', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  const keys = { agent: t.as(agent.apiKey), publishable: t.as(agent.publicKey) };
  const either = ['listAgents', 'getAgent', 'listCalls', 'getCall', 'deleteCall', 'endCall'];
  for (const [path, operations] of Object.entries(t.contract.document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const target = path.replace('{id}', 'none').replace('{deliveryId}', 'none');
      const name = operation.operationId;
      const byAgent = await keys.agent(method.toUpperCase(), target,
        method === 'get' || method === 'delete' ? undefined : {});
      if (name === 'signIn') continue; // looks at no key
      if (either.includes(name)) assert.ok([200, 404].includes(byAgent.status), `${name}: ${byAgent.text}`);
      else refused(byAgent, 403, 'FORBIDDEN');
      const byPublishable = await keys.publishable(method.toUpperCase(), target,
        method === 'get' || method === 'delete' ? undefined : {});
      refused(byPublishable, 403, name === 'startEmbedCall' ? 'EMBED_DISABLED' : 'FORBIDDEN');
    }
  }
});

test("a workspace's key starts no embed call", async () => {
  refused(await api('POST', '/v1/embed/calls', {}), 403, 'FORBIDDEN');
});

/* Two agents with a tool each, and the first one's own key. */
const twoAgents = async () => {
  const make = async (name) => (await api('POST', '/v1/agents',
    { name, greetingMode: 'none', tools: [{ name: 't', description: 'd', url: 'http://127.0.0.1:9/' }] })).body.agent;
  const [one, two] = [await make('one'), await make('two')];
  return { one, two, own: t.as(one.apiKey) };
};

test("an agent's own key sees that agent alone", async () => {
  const { one, two, own } = await twoAgents();
  assert.deepEqual((await own('GET', '/v1/agents')).body.agents.map((agent) => agent.id), [one.id]);
  refused(await own('GET', `/v1/agents/${two.id}`), 404, 'NOT_FOUND');
});

test("an agent's own key sees its tools reduced", async () => {
  const { one, own } = await twoAgents();
  const { body: { agents } } = await own('GET', '/v1/agents');
  assert.deepEqual(agents[0].tools, [{ id: one.tools[0].id, name: 't', description: 'd', kind: 'during_call' }]);
  assert.deepEqual((await own('GET', `/v1/agents/${one.id}`)).body.agent.tools, agents[0].tools);
});

test("an agent's own key sees and ends that agent's calls alone", async () => {
  const { one, two, own } = await twoAgents();
  const calls = [];
  for (const agent of [one, two]) calls.push((await api('POST', '/v1/calls', { agentId: agent.id })).body.callId);
  assert.deepEqual((await own('GET', '/v1/calls')).body.calls.map((call) => call.id), [calls[0]]);
  assert.deepEqual((await own('GET', `/v1/calls?agentId=${two.id}`)).body, { calls: [], total: 0, nextCursor: null });
  refused(await own('GET', `/v1/calls/${calls[1]}`), 404, 'NOT_FOUND');
  refused(await own('POST', `/v1/calls/${calls[1]}/end`), 404, 'NOT_FOUND');
  assert.equal((await own('POST', `/v1/calls/${calls[0]}/end`)).body.call.status, 'ended');
  await api('DELETE', `/v1/calls/${calls[1]}`);
});

test('userId: the own workspace, no other', async () => {
  for (const path of ['/v1/agents', '/v1/tools', '/v1/knowledge/documents', '/v1/webhooks', '/v1/calls']) {
    assert.equal((await api('GET', `${path}?userId=${t.workspace.workspaceId}`)).status, 200);
    refused(await api('GET', `${path}?userId=${other.workspaceId}`), 403, 'FORBIDDEN');
  }
  refused(await api('POST', `/v1/knowledge/documents?userId=${other.workspaceId}`,
    { name: 'n', text: 'x'.repeat(30) }), 403, 'FORBIDDEN');
});

test('things of another workspace are not there', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  const { body: { tool } } = await api('POST', '/v1/tools',
    { name: 'n', description: 'd', url: 'http://127.0.0.1:9/' });
  const { body: { webhook } } = await api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  const { body: { document } } = await api('POST', '/v1/knowledge/documents', { name: 'n', text: 'x'.repeat(30) });
  for (const path of [`/v1/agents/${agent.id}`, `/v1/tools/${tool.id}`, `/v1/webhooks/${webhook.id}`,
    `/v1/knowledge/documents/${document.id}`]) {
    assert.equal((await api('GET', path)).status, 200);
    refused(await other.api('GET', path), 404, 'NOT_FOUND');
    refused(await other.api('DELETE', path), 404, 'NOT_FOUND');
  }
  refused(await other.api('POST', '/v1/calls', { agentId: agent.id }), 404, 'NOT_FOUND');
});

test('each kind of id has its prefix', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  const { body: { tool } } = await api('POST', '/v1/tools',
    { name: 'p', description: 'd', url: 'http://127.0.0.1:9/' });
  const { body: { webhook } } = await api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  const { body: { document } } = await api('POST', '/v1/knowledge/documents', { name: 'n', text: 'x'.repeat(30) });
  const { body: { apiKey, workspaces, isAdmin } } = await api('GET', '/v1/me');
  assert.equal(isAdmin, false);
  for (const [id, prefix] of [[agent.id, 'ua'], [tool.id, 'tool'], [webhook.id, 'wh'], [document.id, 'kd'],
    [apiKey.id, 'key'], [workspaces[0].id, 'usr'], [agent.userId, 'usr']])
    assert.match(id, new RegExp(`^${prefix}_[A-Za-z0-9]{20}$`));
});

test('a revoked key stops', async () => {
  const { apiKey } = await t.service.cli('key', 'create', '--workspace', t.workspace.workspaceId, '--name', 'second',
    '--json');
  const second = t.as(apiKey.key);
  assert.equal((await second('GET', '/v1/me')).status, 200);
  await t.service.cli('key', 'revoke', '--key', apiKey.id, '--json')
    .catch(() => t.service.cli('key', 'revoke', apiKey.id));
  const last = await until(async () => {
    const answer = await second('GET', '/v1/me');
    return answer.status !== 200 && answer;
  }, { timeoutMs: SOON_MS, what: 'the key to stop' });
  refused(last, 401, 'UNAUTHORIZED');
});

test('the catalog has every language of the contract', async () => {
  const { body: { catalog } } = await api('GET', '/v1/catalog');
  assert.deepEqual(catalog.languages.map((entry) => entry.id),
    ['en', 'hi', 'hinglish', 'ta', 'te', 'kn', 'ml', 'mr', 'gu', 'bn', 'pa', 'or', 'es', 'fr', 'de', 'it',
    'pt', 'nl', 'pl', 'ru', 'ja', 'ko', 'zh', 'ar', 'tr', 'id']);
  assert.equal(catalog.languages.find((entry) => entry.id === 'hinglish').iso, 'hi');
  assert.deepEqual(catalog.languages.filter((entry) => entry.default).map((entry) => entry.id), ['en']);
  assert.ok(catalog.languages.every((entry) => entry.enabled === true && entry.label));
});

test('the catalog has the system tools and engines of many languages', async () => {
  const { body: { catalog } } = await api('GET', '/v1/catalog');
  assert.deepEqual(catalog.systemTools.map((entry) => entry.id), ['endCall', 'changeLanguage']);
  assert.ok(catalog.ttsProviders.some((entry) => entry.multilingual));
  assert.ok(catalog.sttProviders.some((entry) => entry.multilingual));
});

test('voices come in pages', async () => {
  const all = (await api('GET', '/v1/voices?limit=100')).body.voices;
  const seen = [];
  let after = null;
  do {
    const { body } = await api('GET', `/v1/voices?limit=1${after === null ? '' : `&after=${after}`}`);
    seen.push(...body.voices);
    after = body.nextPage;
  } while (after !== null && seen.length < 100);
  assert.deepEqual(seen, all.slice(0, seen.length));
});

test('voices are filtered, each filter is checked', async () => {
  const female = (await api('GET', '/v1/voices?gender=female')).body.voices;
  assert.ok(female.every((voice) => voice.gender === 'female'));
  refused(await api('GET', '/v1/voices?limit=0&gender=x&after=x'), 400, 'VALIDATION_FAILED', 'limit', 'gender',
    'after');
});
