/* /v1/tools: fields, secrets, addresses, the test run. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { apiForFile, iso, refused } from './contract.mjs';

let endpoint, seen;
const { t, api } = apiForFile({}, async () => {
  endpoint = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      seen = { method: request.method, url: request.url, headers: request.headers, body };
      if (request.url === '/long') return response.end(Buffer.alloc(1024 * 1024, 1));
      response.writeHead(request.url.startsWith('/broken') ? 500 : 200, { 'Content-Type': 'application/json' });
      response.end('{"state":"shipped"}');
    });
  });
  await new Promise((listening) => endpoint.listen(0, '127.0.0.1', listening));
});
after(() => endpoint.close());

const url = (path) => `http://127.0.0.1:${endpoint.address().port}${path}`;
const create = async (fields = {}) => {
  const answer = await api('POST', '/v1/tools', { name: 'Order Status!', description: 'Looks up an order.',
    url: url('/orders'), ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.tool;
};

test('the longest answer that a test can have is kept for its Idempotency-Key', async () => {
  const { id } = await create({ url: url('/long'), name: 'long' });
  const run = () => api('POST', `/v1/tools/${id}/test`, {}, { 'Idempotency-Key': 'longest' });
  const [first, again] = [await run(), await run()];
  assert.ok(first.text.length > 6 * 1024 * 1024, 'each byte is six in JSON');
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [200, 'true']);
  assert.ok(again.text === first.text);
});

test('defaults and the saved name', async () => {
  const tool = await create();
  assert.match(tool.id, /^tool_/);
  assert.equal(tool.name, 'order_status_');
  assert.equal(tool.agentId, null);
  assert.deepEqual([tool.kind, tool.method, tool.auth, tool.authKeyHeader, tool.timeoutMs],
    ['during_call', 'GET', 'none', 'X-API-Key', 10000]);
  assert.deepEqual([tool.params, tool.headers, tool.outputs], [[], [], []]);
  assert.match(tool.createdAt, iso);
  assert.deepEqual((await api('GET', `/v1/tools/${tool.id}`)).body.tool, tool);
});

test('every fault is told', async () => {
  refused(await api('POST', '/v1/tools', { name: 'x'.repeat(129), url: 'nothing', timeoutMs: 499,
    params: [{ value: 'v' }], headers: [{ key: 'a b' }], auth: 'x' }), 400,
    'VALIDATION_FAILED', 'name', 'description', 'url', 'timeoutMs', 'params[0].key', 'headers[0].key', 'auth');
});

test('header names that frame or route a request are refused wherever one can be given', async () => {
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade', 'TE',
    'Trailer', 'Expect', 'Proxy-Authorization', 'X-Service-Event', 'a b']) {
    const fields = { name: 'n', description: 'd', url: url('/') };
    refused(await api('POST', '/v1/tools', { ...fields, headers: [{ key: name, value: '1' }] }), 400,
      'VALIDATION_FAILED', 'headers[0].key');
    refused(await api('POST', '/v1/tools', { ...fields, auth: 'api_key', authToken: 't', authKeyHeader: name }), 400,
      'VALIDATION_FAILED', 'authKeyHeader');
    refused(await api('POST', '/v1/agents', { name: 'a', tools: [{ ...fields, authKeyHeader: name }] }), 400,
      'VALIDATION_FAILED', 'tools[0].authKeyHeader');
  }
});

test('a URL without a host is no URL', async () => {
  for (const bad of ['http://', 'http:///path', 'https://:80/', 'mailto:a@b', 'nothing'])
    refused(await api('POST', '/v1/tools', { name: 'n', description: 'd', url: bad }), 400, 'VALIDATION_FAILED', 'url');
});

test('a secret is masked, and its mask leaves it as it is', async () => {
  const tool = await create({ auth: 'bearer', authToken: 'abcdefghijkl' });
  assert.equal(tool.authToken, '********ijkl');
  const same = await api('PUT', `/v1/tools/${tool.id}`, { authToken: tool.authToken, description: 'New.' });
  assert.equal(same.body.tool.description, 'New.');
  await api('POST', `/v1/tools/${tool.id}/test`, {});
  assert.equal(seen.headers.authorization, 'Bearer abcdefghijkl');
});

test('of a short secret nothing is shown, null removes it', async () => {
  const tool = await create({ auth: 'bearer', authToken: 'abcdefghijkl' });
  assert.equal((await api('PUT', `/v1/tools/${tool.id}`, { authToken: 'short' })).body.tool.authToken, '********');
  assert.equal((await api('PUT', `/v1/tools/${tool.id}`, { authToken: null })).body.tool.authToken, '');
});

test('a key of the workspace moves a tool with the secret that is kept', async () => {
  const tool = await create({ url: 'http://127.0.0.1:9/orders', auth: 'bearer', authToken: 'abcdefghijkl' });
  assert.equal(
    (await api('PUT', `/v1/tools/${tool.id}`, { url: url('/elsewhere'), authToken: tool.authToken })).status,
    200,
  );
  await api('POST', `/v1/tools/${tool.id}/test`, {});
  assert.equal(seen.headers.authorization, 'Bearer abcdefghijkl');
});

test('agentId cannot be sent in an update', async () => {
  const tool = await create();
  refused(await api('PUT', `/v1/tools/${tool.id}`, { agentId: 'ua_x' }), 400, 'VALIDATION_FAILED', 'agentId');
});

test('an update keeps what is not sent', async () => {
  const outputs = [{ name: 'state', description: 'Of the order.' }];
  const tool = await create({ params: [{ key: 'a', value: '1' }], outputs });
  const changed = (await api('PUT', `/v1/tools/${tool.id}`, { method: 'POST', timeoutMs: 60000 })).body.tool;
  assert.deepEqual([changed.method, changed.timeoutMs, changed.params, changed.outputs],
    ['POST', 60000, [{ key: 'a', value: '1' }], outputs]);
});

test('who has read an older version is told so by If-Match, and writes over it without', async () => {
  const path = `/v1/tools/${(await create()).id}`;
  const read = (await api('GET', path)).headers.get('etag');
  assert.match(read, /^"\d+"$/);
  const first = await api('PUT', path, { description: 'First' }, { 'If-Match': read });
  assert.deepEqual([first.status, first.headers.get('etag') === read], [200, false]);
  refused(await api('PUT', path, { description: 'Second' }, { 'If-Match': read }), 412, 'PRECONDITION_FAILED');
  assert.equal((await api('GET', path)).body.tool.description, 'First');
  assert.equal((await api('PUT', path, { description: 'Second' })).body.tool.description, 'Second');
});

test('only public addresses, in whatever spelling', async () => {
  for (const bad of ['http://10.1.2.3/', 'http://192.168.0.1/', 'http://[fe80::1]/', 'http://2130706689/',
    'http://0300.0250.0.1/', 'http://[64:ff9b::a00:1]/',
    'http://name.invalid/', 'http://{{host}}/', 'gopher://127.0.0.1/'])
    refused(await api('POST', '/v1/tools', { name: 'n', description: 'd', url: bad }), 400, 'URL_NOT_ALLOWED');
});

test('path and query may hold placeholders', async () => {
  await create({ url: url('/{{path}}?q={{q}}') });
});

test('a tool of an agent that is none is not made', async () => {
  refused(await api('POST', '/v1/tools', { name: 'n', description: 'd', url: url('/'), agentId: 'ua_none' }), 404,
    'NOT_FOUND');
});

test('an agent has a name of a tool once', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  await create({ agentId: agent.id, name: 'same' });
  const other = await create({ agentId: agent.id, name: 'other' });
  refused(await api('POST', '/v1/tools', { name: 'SAME', description: 'd', url: url('/'), agentId: agent.id }), 409,
    'TOOL_NAME_TAKEN');
  refused(await api('PUT', `/v1/tools/${other.id}`, { name: 'same' }), 409, 'TOOL_NAME_TAKEN');
});

test('the list is newest first, of one agent where that is asked', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  await create();
  await create({ agentId: agent.id, name: 'same' });
  await create({ agentId: agent.id, name: 'other' });
  const list = await api('GET', `/v1/tools?agentId=${agent.id}`);
  assert.deepEqual(list.body.tools.map((tool) => tool.name), ['other', 'same']);
});

const runOrders = async () => {
  const tool = await create({ url: url('/orders/{{number}}'),
    params: [{ key: 'number', value: '7' }, { key: 'q', value: 'x y' }],
    headers: [{ key: 'X-Team', value: 'a-{{q}}' }] });
  return (await api('POST', `/v1/tools/${tool.id}/test`, { params: { number: '4/2' } })).body;
};

test("a test run shows the endpoint's answer", async () => {
  const answer = await runOrders();
  assert.deepEqual([answer.success, answer.status, answer.data], [true, 200, { state: 'shipped' }]);
});

test('a test run says so in a header, and fills those of the tool', async () => {
  await runOrders();
  assert.equal(seen.headers['x-service-test-call'], 'true');
  assert.equal(seen.headers['x-team'], 'a-x y');
});

test('a test run fills the path and the query', async () => {
  await runOrders();
  const target = new URL(seen.url, 'http://x');
  assert.equal(target.pathname, '/orders/4%2F2');
  assert.deepEqual([target.searchParams.get('number'), target.searchParams.get('q')], ['4/2', 'x y']);
});

test('a failed endpoint is an answer too', async () => {
  const broken = await create({ url: url('/broken') });
  const answer = (await api('POST', `/v1/tools/${broken.id}/test`)).body;
  assert.deepEqual([answer.success, answer.status], [false, 500]);
});

test('an endpoint that is not reached is an answer too', async () => {
  const nobody = await create({ url: 'http://127.0.0.1:9/' });
  const unreached = (await api('POST', `/v1/tools/${nobody.id}/test`, {})).body;
  assert.deepEqual([unreached.success, unreached.status], [false, 502]);
  assert.ok(unreached.error);
});

test('a tool that is none is not run', async () => {
  refused(await api('POST', '/v1/tools/tool_none/test', {}), 404, 'NOT_FOUND');
});

test('the arguments of a test run are texts', async () => {
  const tool = await create();
  refused(await api('POST', `/v1/tools/${tool.id}/test`, { params: { a: 1 } }), 400, 'VALIDATION_FAILED', 'params.a');
});

test('the runs of a call are listed, running or ended, without credentials', async () => {
  const echo = await create({ name: 'account', kind: 'before_call', auth: 'bearer', authToken: 'hush-hush',
    params: [{ key: 'zip', value: '0' }] });
  const broken = await create({ name: 'broken', kind: 'before_call', url: url('/broken') });
  const { agent } = (await api('POST', '/v1/agents', { name: 'Runs', greetingMode: 'none',
    toolIds: [echo.id, broken.id] })).body;
  const { callId } = (await api('POST', '/v1/calls', { agentId: agent.id, variables: { zip: '10115' } })).body;
  const list = async (id) => api('GET', `/v1/calls/${id}/tools`);
  const running = await list(callId);
  assert.equal(running.status, 200, running.text);
  const byName = Object.fromEntries(running.body.tools.map((run) => [run.name, run]));
  assert.deepEqual(running.body.tools.map((run) => run.number), [1, 2]);
  for (const run of running.body.tools) {
    assert.match(run.at, iso);
    assert.ok(Number.isInteger(run.ms) && run.ms >= 0);
  }
  const { account } = byName;
  assert.deepEqual([account.kind, account.status, account.httpStatus, account.arguments, account.result, account.error],
    ['before_call', 'succeeded', 200, { zip: '10115' }, '{"state":"shipped"}', null]);
  assert.deepEqual([byName.broken.status, byName.broken.httpStatus, byName.broken.result, byName.broken.error],
    ['failed', 500, null, 'the endpoint answered 500']);
  assert.doesNotMatch(running.text, /hush/);
  await api('POST', `/v1/calls/${callId}/end`);
  assert.deepEqual((await list(callId)).body, running.body);
  refused(await list('3b241101-e2bb-4255-8caf-4136c566a962'), 404, 'NOT_FOUND');
  refused(await t.as(agent.apiKey)('GET', `/v1/calls/${callId}/tools`), 403, 'FORBIDDEN');
});

test('removal', async () => {
  const tool = await create();
  assert.deepEqual((await api('DELETE', `/v1/tools/${tool.id}`)).body, { success: true, deletedId: tool.id });
  refused(await api('DELETE', `/v1/tools/${tool.id}`), 404, 'NOT_FOUND');
});
