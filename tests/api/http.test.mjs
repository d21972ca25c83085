/* What holds for every request: bodies, ids, limits, idempotency, methods. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { apiForFile, faultOf, refused } from './contract.mjs';

const { t, api } = apiForFile();

/* Bytes to the service, and all that comes back until it closes or `enough` says so. */
const raw = (bytes, enough = () => false) => new Promise((resolve, reject) => {
  const { hostname, port } = new URL(t.service.url);
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  let got = '';
  socket.on('data', (part) => { got += part; if (enough(got)) { socket.destroy(); resolve(got); } });
  socket.on('end', () => resolve(got));
  socket.on('error', reject);
});

/* A request's head as bytes; `more` headers, each with its line's end. */
const head = (method, path, more = '', key = t.workspace.key) => `${method} ${path} HTTP/1.1\r\nHost: x\r\n`
  + `${key ? `Authorization: Bearer ${key}\r\n` : ''}${more}\r\n`;

test('bodies that are no JSON', async () => {
  const send = (text) => api('POST', '/v1/agents', text);
  for (const text of ['', '{', '{"name":"a"} x', '{"name":"a","name":"b"}', '{"name":"\\u0000"}', '{"name":"\\ud800"}',
    "{'name':1}", '[1', `${'['.repeat(65)}${']'.repeat(65)}`])
    refused(await send(text), 400, 'INVALID_JSON');
  refused(await send(`{"name":"${'x'.repeat(9000)}"`), 400, 'INVALID_JSON'); // long enough to be parsed ahead
  refused(await api('POST', '/v1/agents', Uint8Array.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')])),
    400, 'INVALID_JSON');
  for (const text of ['[]', '7', '"x"', 'null', `${'['.repeat(64)}${']'.repeat(64)}`]) assert.equal(
    faultOf(await send(text), ''), 'must be an object');
});

test('content types', async () => {
  const send = (type) => api('POST', '/v1/agents', '{"name":"a"}', { 'Content-Type': type });
  assert.equal((await send('application/json; charset=utf-8')).status, 201);
  assert.equal((await send('Application/JSON')).status, 201);
  refused(await send('text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE');
  refused(await send('application/jsonx'), 415, 'UNSUPPORTED_MEDIA_TYPE');
  const without = await raw(`${head('POST', '/v1/agents', 'Content-Length: 12\r\nConnection: close\r\n')}{"name":"a"}`);
  assert.match(without, /^HTTP\/1\.1 201 /);
});

test('a body that is parsed ahead is written as any other', async () => {
  const instruction = 'y'.repeat(9000);
  const made = await api('POST', '/v1/agents', { name: 'long', systemInstruction: instruction },
    { 'Idempotency-Key': 'long' });
  assert.equal(made.status, 201, made.text);
  const again = await api('POST', '/v1/agents', { name: 'long', systemInstruction: instruction },
    { 'Idempotency-Key': 'long' });
  assert.deepEqual([again.status, again.body.agent.id], [201, made.body.agent.id]);
  const { body: { agent } } = await api('PATCH', `/v1/agents/${made.body.agent.id}`,
    { greetingText: 'z', systemInstruction: `${instruction}!` });
  assert.deepEqual([agent.greetingText, agent.systemInstruction], ['z', `${instruction}!`]);
});

test('a body over 1 MiB', async () => {
  refused(await api('POST', '/v1/agents', { name: 'a', systemInstruction: 'x'.repeat(1 << 20) }), 413,
    'BODY_TOO_LARGE');
});

test('a body over 1 MiB of a request that takes none', async () => {
  const got = await raw(`GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${t.workspace.key}\r\n`
    + 'Content-Length: 1048577\r\nConnection: close\r\n\r\n', (text) => text.endsWith('}'));
  assert.match(got, /^HTTP\/1\.1 413 [^]*"code":"BODY_TOO_LARGE"/);
  for (const operation of Object.values(t.contract.document.paths).flatMap((path) => Object.values(path)))
    assert.ok('413' in operation.responses, operation.operationId);
});

test('request ids', async () => {
  assert.equal((await api('GET', '/v1/me', undefined, { 'X-Request-Id': 'my.id_7-x' })).headers.get('x-request-id'),
    'my.id_7-x');
  assert.notEqual((await api('GET', '/v1/me', undefined, { 'X-Request-Id': 'has space' })).headers.get('x-request-id'),
    'has space');
  assert.notEqual((await api('GET', '/v1/me', undefined, { 'X-Request-Id': 'x'.repeat(129) }))
    .headers.get('x-request-id').length, 129);
});

test('methods and paths', async () => {
  const wrong = await api('PUT', '/v1/agents', {});
  refused(wrong, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(wrong.headers.get('allow'), 'GET, HEAD, POST');
  refused(await api('GET', '/v1/nothing'), 404, 'NOT_FOUND');
  refused(await api('GET', '/v1/agents/'), 404, 'NOT_FOUND');
  refused(await t.as()('GET', '/v1/nothing'), 401, 'UNAUTHORIZED');
  const head = await api('HEAD', '/v1/me');
  assert.deepEqual([head.status, head.text], [200, '']);
  assert.ok(Number(head.headers.get('content-length')) > 0);
  const options = await t.as()('OPTIONS', '/v1/agents');
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, POST, OPTIONS']);
});

test('methods that nobody knows are refused like those that a path does not take', async () => {
  const ask = async (method, path, key) => {
    const text = await raw(head(method, path, 'Connection: close\r\n', key ?? ''));
    return [Number(text.slice(9, 12)), text.match(/"code":"(\w+)"/)?.[1]];
  };
  for (const method of ['FOO', 'get', 'PURGE', 'TRACE']) {
    assert.deepEqual(await ask(method, '/v1/agents'), [401, 'UNAUTHORIZED'], method);
    assert.deepEqual(await ask(method, '/v1/agents', t.workspace.key), [405, 'METHOD_NOT_ALLOWED'], method);
    assert.deepEqual(await ask(method, '/v1/nothing', t.workspace.key), [404, 'NOT_FOUND'], method);
  }
  assert.deepEqual(await ask('HEAD', '/v1/knowledge/search', t.workspace.key), [405, undefined]);
});

test('empty query values match nothing', async () => {
  const own = await t.newWorkspace(), { api } = own;
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  const lists = { agents: ['userId'], tools: ['agentId', 'userId'], calls: ['agentId', 'userId'], webhooks: ['userId'],
    'knowledge/documents': ['userId'] };
  await api('POST', '/v1/tools', { name: 'n', description: 'd', url: 'http://127.0.0.1:9/' });
  await api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  for (const [list, names] of Object.entries(lists))
    for (const name of names) {
      const answer = await api('GET', `/v1/${list}?${name}=`);
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(answer.body[list.split('/').pop()], [], `${list} ${name}`);
    }
  const limited = t.as(agent.apiKey);
  assert.deepEqual((await limited('GET', '/v1/agents?userId=')).body.agents, []);
  assert.deepEqual((await limited('GET', '/v1/calls?agentId=')).body.calls, []);
  for (const query of ['limit=', 'status=', 'before=']) refused(await api('GET', `/v1/calls?${query}`), 400,
    'VALIDATION_FAILED', query.slice(0, -1));
  refused(await api('GET', '/v1/voices?limit='), 400, 'VALIDATION_FAILED', 'limit');
  refused(await api('GET', '/v1/voices?gender='), 400, 'VALIDATION_FAILED', 'gender');
  for (const query of ['provider=', 'language=']) assert.deepEqual((await api('GET', `/v1/voices?${query}`))
    .body.voices, [], query);
  refused(await api('GET', '/v1/agents?userId=usr_other'), 403, 'FORBIDDEN');
});

test('what cannot be read is BAD_REQUEST, as the document says', async () => {
  const text = await raw('GET / HTTP/1.1\nHost: x\n\n');
  assert.match(text, /^HTTP\/1\.1 400 Bad Request/);
  assert.match(text, /"code":"BAD_REQUEST"/);
  for (const operation of Object.values(t.contract.document.paths).flatMap((path) => Object.values(path)))
    assert.ok('BAD_REQUEST' in operation.responses[400].content['application/json'].examples, operation.operationId);
});

test('what needs no key', async () => {
  const anybody = t.as();
  for (const path of ['/healthz', '/readyz', '/v1/openapi.json', '/docs', '/metrics']) assert.equal(
    (await anybody('GET', path)).status, 200, path);
});

test('pipelined requests are answered in order', async () => {
  const one = (id) => head('GET', '/v1/me', `X-Request-Id: ${id}\r\n`);
  const got = await raw(['a', 'b', 'c'].map(one).join(''), (text) => text.split('HTTP/1.1 200')
    .length === 4 && text.endsWith('}'));
  assert.deepEqual([...got.matchAll(/X-Request-Id: (.)/g)].map((match) => match[1]), ['a', 'b', 'c']);
});

test('a chunked body', async () => {
  const got = await raw(head('POST', '/v1/agents', 'Transfer-Encoding: chunked\r\nConnection: close\r\n')
    + '8\r\n{"name":\r\n4\r\n"a"}\r\n0\r\n\r\n');
  assert.match(got, /^HTTP\/1\.1 201 /);
});

/* A subscription made with an Idempotency-Key of its own. */
const subscribe = (key, url = 'http://127.0.0.1:9/') => api('POST', '/v1/webhooks', { url },
  { 'Idempotency-Key': key });

test('idempotency: the same answer for the same body', async () => {
  const [first, again] = [await subscribe('order-7'), await subscribe('order-7')];
  assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null]);
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true']);
  assert.equal(again.text, first.text);
});

test('idempotency: the effect is had once', async () => {
  const before = (await api('GET', '/v1/webhooks')).body.webhooks.length;
  for (let i = 0; i < 3; i++) await subscribe('once');
  assert.equal((await api('GET', '/v1/webhooks')).body.webhooks.length, before + 1);
});

test('idempotency: another body of the same key', async () => {
  await subscribe('reused');
  refused(await subscribe('reused', 'http://127.0.0.1:8/'), 409, 'IDEMPOTENCY_KEY_REUSED');
});

test('idempotency: another path has its own keys', async () => {
  await subscribe('shared');
  assert.equal((await api('POST', '/v1/agents', { name: 'a' }, { 'Idempotency-Key': 'shared' })).status, 201);
});

test('idempotency: a refusal is kept', async () => {
  const refuse = () => api('POST', '/v1/agents', {}, { 'Idempotency-Key': 'bad' });
  refused(await refuse(), 400, 'VALIDATION_FAILED', 'name');
  assert.equal((await refuse()).headers.get('idempotent-replayed'), 'true');
});

test('idempotency: what may change is not kept', async () => {
  const poor = await t.newWorkspace({ balance: 0 });
  const ask = () => poor.api('POST', '/v1/knowledge/documents', { name: 'n', text: 'x'.repeat(30) },
    { 'Idempotency-Key': 'later' });
  refused(await ask(), 402, 'INSUFFICIENT_BALANCE');
  await t.service.cli('workspace', 'credit', '--workspace', poor.workspaceId, '--amount', '1', '--json');
  const answer = await ask();
  assert.deepEqual([answer.status, answer.headers.get('idempotent-replayed')], [201, null]);
  const gone = () => poor.api('POST', '/v1/tools/tool_none/test', {}, { 'Idempotency-Key': 'gone' });
  refused(await gone(), 404, 'NOT_FOUND');
  assert.equal((await gone()).headers.get('idempotent-replayed'), 'true');
});

test('idempotency: a key that is too long', async () => {
  const key = { 'Idempotency-Key': 'x'.repeat(256) };
  refused(await api('POST', '/v1/agents', { name: 'a' }, key), 400, 'VALIDATION_FAILED', 'Idempotency-Key');
});

test('idempotency: a body that is no JSON is told first', async () => {
  refused(await api('POST', '/v1/agents', '{', { 'Idempotency-Key': 'broken' }), 400, 'INVALID_JSON');
});

test('idempotency: a call is started once, however often it is asked for', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a', greetingMode: 'none' });
  const ask = () => api('POST', '/v1/calls', { agentId: agent.id }, { 'Idempotency-Key': 'one-call' });
  const answers = await Promise.all([ask(), ask(), ask()]);
  const made = answers.filter((answer) => answer.status === 201);
  for (const answer of answers.filter((entry) => entry.status !== 201)) refused(answer, 409, 'IDEMPOTENCY_KEY_IN_USE');
  assert.equal(new Set(made.map((answer) => answer.body.callId)).size, 1);
  assert.equal((await ask()).body.callId, made[0].body.callId);
  assert.equal((await api('GET', `/v1/calls?agentId=${agent.id}`)).body.total, 1);
  await api('DELETE', `/v1/calls/${made[0].body.callId}`);
});

test('many writers lose no update', async () => {
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'a' });
  const sections = ['voice', 'embed', 'systemTools', 'greetingText', 'systemInstruction'];
  const bodies = { voice: { voice: { speed: 1.7 } }, embed: { embed: { maxCallSeconds: 77 } },
    systemTools: { systemTools: { endCall: true } },
    greetingText: { greetingText: 'g' }, systemInstruction: { systemInstruction: 's' } };
  await Promise.all(Array.from({ length: 50 }, (_, i) => api('PATCH', `/v1/agents/${agent.id}`,
    bodies[sections[i % 5]])));
  const now = (await api('GET', `/v1/agents/${agent.id}`)).body.agent;
  assert.deepEqual([now.voice.speed, now.embed.maxCallSeconds, now.systemTools.endCall, now.greetingText,
    now.systemInstruction], [1.7, 77, true, 'g', 's']);
});
