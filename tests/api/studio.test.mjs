/* Members, their sessions and keys: who gets in, how long, from where, and what each role may do. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { after, before, test } from 'node:test';
import { refused, startApi } from './contract.mjs';
import { SOON_MS, makeWorkspace, startService, until } from '../harness/service.mjs';
import { person, signIn } from '../harness/studio.mjs';

const EDITOR =
  'createAgent updateAgent deleteAgent rotateAgentPublicKey createTool updateTool deleteTool testTool ' +
  'addDocument deleteDocument retryDocument startCall deleteCall endCall ' +
  'sayInCall previewVoice createWebhook updateWebhook deleteWebhook testWebhook resendDelivery';
const OWNER = 'rotateAgentKey createMember updateMember deleteMember linkMember listKeys createKey revokeKey';
const least = Object.fromEntries([
  ...EDITOR.split(' ').map((name) => [name, 1]),
  ...OWNER.split(' ').map((name) => [name, 2]),
]);

let t, owner, check;
before(async () => {
  t = await startApi({
    env: {
      EARSHOT_SERVICE_TRUSTED_PROXIES: '127.0.0.2/32',
      EARSHOT_STUDIO_TRUSTED_HEADER: 'X-Signed-In',
      EARSHOT_AUTH_FAIL_LIMIT: '60',
    },
  });
  check = (method, path, answer) => t.contract.check(method, path, answer);
  owner = await signIn(t.service, { workspaceId: t.workspace.workspaceId, email: 'Ann@Example.com', check });
});
after(() => t.close());

let people = 0;
async function invite(role, fields = {}) {
  const answer = await owner('POST', '/v1/members', {
    name: `${role} <b>`,
    email: `p${++people}@example.com`,
    role,
    ...fields,
  });
  assert.equal(answer.status, 201, answer.text);
  return signIn(t.service, { link: answer.body.link, check });
}

/* A change of keys and sessions counts within a second. */
const soon = (ask, status) =>
  until(async () => (await ask()).status === status, { timeoutMs: SOON_MS, what: `status ${status}` });

test('a link signs in once, as an owner, with a cookie that scripts and other sites do not get', async () => {
  const { link } = await t.service.cli(
    'studio',
    'link',
    '--workspace',
    t.workspace.workspaceId,
    '--email',
    'ann@example.com',
    '--json',
  );
  const ann = person(t.service, { check });
  const first = await ann('POST', '/v1/session', { link });
  assert.equal(first.status, 201, first.text);
  assert.deepEqual(
    [first.body.member.email, first.body.member.role, first.body.workspace.id],
    ['ann@example.com', 'owner', t.workspace.workspaceId],
  );
  assert.equal(first.body.member.id, owner.member.id);
  assert.match(
    first.headers.getSetCookie()[0],
    /^earshot=ss_\w+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
  );
  refused(await person(t.service, { check })('POST', '/v1/session', { link }), 401, 'UNAUTHORIZED');
  const { body: me } = await ann('GET', '/v1/me');
  assert.deepEqual([me.account.id, me.account.role, me.apiKey.id], [owner.member.id, 'owner', owner.member.id]);
  assert.equal((await t.api('GET', '/v1/me')).body.account, null);
});

test('a newer link takes the place of an older one', async () => {
  const link = async () =>
    (
      await t.service.cli(
        'studio',
        'link',
        '--workspace',
        t.workspace.workspaceId,
        '--email',
        'ann@example.com',
        '--json',
      )
    ).link;
  const [older, newer] = [await link(), await link()];
  refused(await person(t.service)('POST', '/v1/session', { link: older }), 401, 'UNAUTHORIZED');
  assert.equal((await person(t.service)('POST', '/v1/session', { link: newer })).status, 201);
  await assert.rejects(t.service.cli('studio', 'link', '--workspace', 'usr_none'));
});

test("a page that names its member is refused with another one's cookie, whatever it asks", async () => {
  const { body: { members: [{ id }] } } = await owner('GET', '/v1/members');
  const bob = await invite('owner');
  const asBob = { 'X-Earshot-Member': id };
  for (const [method, path, body] of [
    ['GET', '/v1/agents'],
    ['GET', '/v1/me'],
    ['POST', '/v1/agents', { name: 'Astray' }],
    ['PATCH', '/v1/agents/ua_none', { name: 'Astray' }],
    ['POST', '/v1/keys', { name: 'Astray' }],
    ['DELETE', '/v1/session'],
  ])
    refused(await bob(method, path, body, asBob), 409, 'SIGNED_IN_ELSEWHERE');
  refused(await bob('GET', '/v1/me', undefined, { 'X-Earshot-Member': '' }), 409, 'SIGNED_IN_ELSEWHERE');
  const mine = { 'X-Earshot-Member': bob.member.id };
  const { body: { agents } } = await bob('GET', '/v1/agents', undefined, mine);
  assert.deepEqual(agents.filter(({ name }) => name === 'Astray'), []);
  assert.equal((await t.api('GET', '/v1/me', undefined, asBob)).status, 200, 'a key is nobody\'s page');
  assert.equal((await bob('DELETE', '/v1/session', undefined, mine)).status, 200);
});

test('a cookie is good beside our header and our origin alone', async () => {
  for (const [method, headers] of [
    ['GET', { 'X-Earshot-Studio': undefined }],
    ['GET', { Origin: 'https://evil.example' }],
    ['POST', { Origin: undefined }],
    ['POST', { Origin: 'null' }],
    ['POST', { Origin: t.service.url.replace('http', 'ftp') }],
    ['POST', { Origin: `${t.service.url}.evil.example` }],
    ['POST', { 'X-Earshot-Studio': undefined }],
  ]) {
    const sent = {
      Cookie: owner.cookie,
      'X-Earshot-Studio': '1',
      Origin: t.service.url,
      'Content-Type': 'application/json',
      ...headers,
    };
    for (const name of Object.keys(sent)) if (sent[name] === undefined) delete sent[name];
    const answer = await fetch(`${t.service.url}/v1/agents`, {
      method,
      headers: sent,
      body: method === 'POST' ? '{"name":"x"}' : undefined,
    });
    assert.equal(answer.status, 403, JSON.stringify([method, headers]));
  }
  const { link } = await t.service.cli('studio', 'link', '--workspace', t.workspace.workspaceId, '--json');
  refused(
    await person(t.service)('POST', '/v1/session', { link }, { Origin: 'https://evil.example' }),
    403,
    'FORBIDDEN',
  );
  for (const cookie of ['earshot=', 'earshot=x', `earshot=${t.workspace.key}`, `x${owner.cookie}`])
    refused(await person(t.service)('GET', '/v1/me', undefined, { Cookie: cookie }), 401, 'UNAUTHORIZED');
  refused(await t.as(owner.cookie.slice('earshot='.length))('GET', '/v1/me'), 401, 'UNAUTHORIZED'); // no bearer token
});

test('under TLS the cookie is for this host and TLS alone, and a page without TLS is not ours', async () => {
  const service = await startService({ env: { EARSHOT_LISTEN: '0.0.0.0:0' } });
  const host = `127.0.0.1:${new URL(service.url).port}`;
  const ask = (method, path, { body, ...headers }) => new Promise((done, failed) => {
    const standard = { 'X-Earshot-Studio': '1', Origin: `https://${host}`, 'Content-Type': 'application/json' };
    const sent = httpsRequest(
      `https://${host}${path}`,
      { method, rejectUnauthorized: false, agent: false, headers: { ...standard, ...headers } },
      (answer) => {
        answer.resume();
        answer.on('end', () => done({ status: answer.statusCode, cookie: answer.headers['set-cookie']?.[0] }));
      },
    );
    sent.on('error', failed);
    sent.end(body && JSON.stringify(body));
  });
  try {
    const { workspaceId } = await makeWorkspace(service);
    const { link } = await service.cli('studio', 'link', '--workspace', workspaceId, '--json');
    const body = { link }, insecure = { Origin: `http://${host}` };
    assert.deepEqual(await ask('POST', '/v1/session', { body, ...insecure }), { status: 403, cookie: undefined });
    const { status, cookie } = await ask('POST', '/v1/session', { body });
    assert.equal(status, 201);
    assert.match(
      cookie,
      /^__Host-earshot=ss_\w+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
    );
    const Cookie = cookie.split(';')[0];
    assert.equal((await ask('GET', '/v1/me', { Cookie })).status, 200);
    assert.equal((await ask('GET', '/v1/me', { Cookie, ...insecure })).status, 403);
    assert.equal((await ask('GET', '/v1/me', { Cookie: Cookie.replace('__Host-', '') })).status, 401);
    const out = await ask('DELETE', '/v1/session', { Cookie });
    assert.match(out.cookie, /^__Host-earshot=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict; Secure$/);
  } finally {
    await service.close();
  }
});

test('every operation by every role', async () => {
  const roles = ['viewer', 'editor', 'owner'];
  const who = [await invite('viewer'), await invite('editor'), await invite('owner')];
  for (const [path, operations] of Object.entries(t.contract.document.paths)) {
    for (const [method, { operationId }] of Object.entries(operations)) {
      if (['signIn', 'signOut', 'setPassword', 'startEmbedCall'].includes(operationId)) continue;
      const target = path.replace('{id}', 'none').replace('{deliveryId}', 'none');
      for (let role = 0; role < 3; role++) {
        const body = method === 'get' || method === 'delete' ? undefined : {};
        const answer = await who[role](method.toUpperCase(), target, body);
        const may = role >= (least[operationId] ?? 0);
        assert.equal(answer.status !== 403, may, `${operationId} by ${roles[role]}: ${answer.text}`);
        if (may) assert.ok(answer.status < 500, `${operationId} by ${roles[role]}: ${answer.text}`);
      }
    }
  }
  refused(await who[2]('POST', '/v1/embed/calls', {}), 403, 'FORBIDDEN');
  for (const path of ['/v1/members', '/v1/keys', '/v1/sessions']) refused(await t.api('GET', path), 403, 'FORBIDDEN');
  refused(await t.api('POST', '/v1/keys', { name: 'x' }), 403, 'FORBIDDEN');
});

test('a viewer does not see what would let them do more', async () => {
  const { body: { agent } } = await t.api('POST', '/v1/agents', { name: 'a', greetingMode: 'none' });
  const viewer = await invite('viewer');
  assert.match((await viewer('GET', `/v1/agents/${agent.id}`)).body.agent.apiKey, /^\*{8}.{4}$/);
  assert.match((await viewer('GET', '/v1/agents')).body.agents[0].apiKey, /^\*/);
  const headers = [{ key: 'Authorization', value: 'Bearer a-credential-of-ours' }];
  const made = await t.api('POST', '/v1/tools', {
    name: 'look',
    description: 'd',
    url: 'http://127.0.0.1:9/',
    agentId: agent.id,
    headers,
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  await t.api('PATCH', `/v1/agents/${agent.id}`, { toolIds: [made.body.tool.id] });
  for (const path of [`/v1/tools/${made.body.tool.id}`, '/v1/tools', `/v1/agents/${agent.id}`, '/v1/agents']) {
    const text = JSON.stringify((await viewer('GET', path)).body);
    assert.ok(text.includes('Authorization') && !text.includes('a-credential'), `${path}: ${text}`);
  }
  assert.ok(JSON.stringify((await t.api('GET', '/v1/tools')).body).includes('a-credential'));
  assert.equal((await owner('GET', `/v1/agents/${agent.id}`)).body.agent.apiKey, agent.apiKey);
});

test('a credential that is kept goes to no other host by the hand of a member', async () => {
  const editor = await invite('editor');
  const { body: { agent } } = await editor('POST', '/v1/agents', { name: 'a', greetingMode: 'none' });
  const sent = {
    agentId: agent.id,
    name: 'kept',
    description: 'd',
    url: 'http://127.0.0.1:9/orders',
    auth: 'bearer',
    authToken: 'abcdefghijkl',
  };
  const { body: { tool } } = await editor('POST', '/v1/tools', sent);
  const put = (body) => editor('PUT', `/v1/tools/${tool.id}`, body);
  refused(await put({ url: 'http://127.0.0.1:8/orders' }), 400, 'VALIDATION_FAILED', 'authToken');
  refused(
    await put({ url: 'http://127.0.0.1:8/orders', authToken: tool.authToken }),
    400,
    'VALIDATION_FAILED',
    'authToken',
  );
  refused(
    await editor('PATCH', `/v1/agents/${agent.id}`, { tools: [{ id: tool.id, url: 'http://127.0.0.1:8/' }] }),
    400,
    'VALIDATION_FAILED',
    'tools[0].authToken',
  );
  assert.equal((await put({ url: 'http://127.0.0.1:9/elsewhere', authToken: tool.authToken })).status, 200);
  assert.equal((await put({ url: 'http://127.0.0.1:8/orders', authToken: 'abcdefghijkl' })).status, 200);
});

test('a workspace keeps an owner, and is no other one\'s to change', async () => {
  const other = await t.newWorkspace();
  const boss = await signIn(t.service, { workspaceId: other.workspaceId, check });
  refused(await boss('PATCH', `/v1/members/${boss.member.id}`, { role: 'editor' }), 400, 'VALIDATION_FAILED', 'role');
  refused(await boss('DELETE', `/v1/members/${boss.member.id}`), 409, 'CONFLICT');
  refused(await boss('PATCH', `/v1/members/${owner.member.id}`, { name: 'x' }), 404, 'NOT_FOUND');
  refused(await boss('DELETE', `/v1/members/${owner.member.id}`), 404, 'NOT_FOUND');
});

test('a role changes at once', async () => {
  const editor = await invite('editor');
  assert.equal((await editor('POST', '/v1/agents', { name: 'b' })).status, 201);
  await owner('PATCH', `/v1/members/${editor.member.id}`, { role: 'viewer' });
  await soon(() => editor('POST', '/v1/agents', { name: 'b' }), 403);
});

test('who is removed is out', async () => {
  const editor = await invite('editor');
  assert.equal((await owner('DELETE', `/v1/members/${editor.member.id}`)).status, 200);
  await soon(() => editor('GET', '/v1/me'), 401);
});

test('members: faults are told at their fields', async () => {
  refused(await owner('POST', '/v1/members', {}), 400, 'VALIDATION_FAILED', 'name');
  refused(
    await owner('POST', '/v1/members', { name: ' ', email: 'x', role: 'king' }),
    400,
    'VALIDATION_FAILED',
    'name',
    'email',
    'role',
  );
  for (const email of ['ANN@example.com', 'a\vb@example.com', 'a\x7f@example.com', 'a\x85@example.com'])
    refused(await owner('POST', '/v1/members', { name: 'x', email }), 400, 'VALIDATION_FAILED', 'email');
});

const newKey = async (name) => (await owner('POST', '/v1/keys', { name })).body.apiKey;

test('a key is shown when it is made and never again', async () => {
  const made = await newKey('from the studio');
  assert.match(made.key, /^sk_/);
  assert.equal((await t.as(made.key)('GET', '/v1/me')).body.apiKey.name, 'from the studio');
  const found = (await owner('GET', '/v1/keys')).body.keys.find((key) => key.id === made.id);
  assert.deepEqual([found.name, found.revoked, found.key], ['from the studio', false, undefined]);
});

test('a key that is revoked in the studio stops and cannot be revoked again', async () => {
  const made = await newKey('to be revoked');
  assert.equal((await t.as(made.key)('GET', '/v1/me')).status, 200);
  assert.equal((await owner('DELETE', `/v1/keys/${made.id}`)).status, 200);
  await soon(() => t.as(made.key)('GET', '/v1/me'), 401);
  refused(await owner('DELETE', `/v1/keys/${made.id}`), 404, 'NOT_FOUND');
});

test('a key of another workspace is not there to be revoked', async () => {
  const other = await t.newWorkspace();
  refused(await owner('DELETE', `/v1/keys/${other.keyId}`), 404, 'NOT_FOUND');
  assert.equal((await other.api('GET', '/v1/me')).status, 200);
});

test('a key needs a name', async () => {
  refused(await owner('POST', '/v1/keys', { name: '' }), 400, 'VALIDATION_FAILED', 'name');
});

/* POST /v1/session as the proxy at 127.0.0.2 passes it on. */
const sendOn = (body, headers) => new Promise((done, failed) => {
  const request = httpRequest(
    `${t.service.url}/v1/session`,
    {
      method: 'POST',
      localAddress: '127.0.0.2',
      headers: { 'X-Earshot-Studio': '1', Origin: t.service.url, 'Content-Type': 'application/json', ...headers },
    },
    (response) => {
      let text = '';
      response.on('data', (piece) => { text += piece; });
      response.on('end', () => {
        const headers = new Headers(response.headers);
        done({ status: response.statusCode, headers, text, body: JSON.parse(text) });
      });
    },
  );
  request.on('error', failed);
  request.end(JSON.stringify(body));
});
const passedOn = async (body, headers) => (await sendOn(body, headers)).status;
const throughProxy = (email) => passedOn({}, { 'X-Signed-In': email });

test('an e-mail address is believed from a trusted proxy alone', async () => {
  assert.equal(await throughProxy('Ann@example.com'), 201);
  assert.equal(await throughProxy('nobody@example.com'), 401);
  refused(
    await person(t.service)('POST', '/v1/session', {}, { 'X-Signed-In': 'ann@example.com' }),
    401,
    'UNAUTHORIZED',
  );
});

test('where a proxy adds its address to one that the client sent, nobody is vouched for', async () => {
  for (const names of [['ann@example.com', 'nobody@example.com'], ['nobody@example.com', 'ann@example.com']])
    assert.equal(await throughProxy(names), 401);
  assert.equal(await throughProxy(['ann@example.com', 'ann@example.com']), 201);
});

test('an address and a browser that are no UTF-8 are nobody and kept clean', async () => {
  assert.equal(await throughProxy('ann@\xff.com'), 401);
  const { link } = await t.service.cli('studio', 'link', '--workspace', t.workspace.workspaceId, '--json');
  const ann = person(t.service, { check });
  const twoBytes = '\xc3\xa9'; // of which the 200 that are kept hold the first
  const first = await ann('POST', '/v1/session', { link }, { 'User-Agent': `\xff${'x'.repeat(196)}${twoBytes}` });
  assert.equal(first.status, 201, first.text);
  const { sessions } = (await ann('GET', '/v1/sessions')).body;
  assert.equal(sessions.find(({ current }) => current).browser, `\ufffd${'x'.repeat(196)}`);
});

const enter = (email, body = {}) => sendOn(body, { 'X-Signed-In': email });
const listed = (answer) =>
  answer.body.details.map(({ field, message }) => `${field} ${message.split(' ')[0]}`).sort();

test('a vouched address enters the workspace that its owner knows, and none that wrote it into theirs', async () => {
  const email = 'victim@example.com';
  const [hostile, real] = [await t.newWorkspace(), await t.newWorkspace()];
  const mallory = await signIn(t.service, { workspaceId: hostile.workspaceId, check });
  const { body: made } = await mallory('POST', '/v1/members', { name: 's', email: 's@example.com', role: 'viewer' });
  const spare = await signIn(t.service, { link: made.link, check });
  assert.equal((await spare('PUT', '/v1/session/password', { password: 'correct horse' })).status, 200);
  await signIn(t.service, { workspaceId: real.workspaceId, email, check });
  assert.equal((await enter(email)).body.workspace.id, real.workspaceId);

  const moved = await mallory('PATCH', `/v1/members/${made.member.id}`, { email });
  assert.deepEqual(
    [moved.status, moved.body.member.hasPassword, moved.body.member.lastSeenAt],
    [200, false, null],
    moved.text,
  );
  await soon(() => spare('GET', '/v1/me'), 401);
  await signIn(t.service, { link: moved.body.link, check }); // the owner has the link, and vouches for nobody by it
  assert.equal((await enter(email)).body.workspace.id, real.workspaceId);

  assert.equal((await enter(email, { workspaceId: hostile.workspaceId })).body.workspace.id, hostile.workspaceId);
  const asked = await enter(email); // has been in both by now
  assert.deepEqual([asked.status, asked.body.code], [400, 'VALIDATION_FAILED']);
  const both = [hostile, real].map(({ workspaceId }) => `workspaceId ${workspaceId}`).sort();
  assert.deepEqual(listed(asked), both);
  assert.equal((await enter(email, { workspaceId: real.workspaceId })).body.workspace.id, real.workspaceId);

  for (const { workspaceId } of [hostile, real])
    await signIn(t.service, { workspaceId, email: 'new@example.com', check });
  assert.deepEqual(listed(await enter('new@example.com')), both); // came through the proxy to neither
});

test('rows that nobody took up leave a password its turn', async () => {
  const email = 'crowd@example.com',
    password = 'correct horse';
  for (let i = 0; i < 8; i++) {
    const { workspaceId } = await t.newWorkspace();
    await t.service.cli('studio', 'link', '--workspace', workspaceId, '--email', email, '--json');
  }
  const one = await invite('viewer', { email });
  assert.equal((await one('PUT', '/v1/session/password', { password })).status, 200);
  assert.equal((await person(t.service, { check })('POST', '/v1/session', { email, password })).status, 201);
});

test('passwords of other workspaces take none of one that is named its turn', async () => {
  const email = 'ninth@example.com', password = 'correct horse';
  for (let i = 0; i < 20; i++) { // more than are read of an address
    const { workspaceId } = await t.newWorkspace();
    const hostile = await signIn(t.service, { workspaceId, email });
    assert.equal((await hostile('PUT', '/v1/session/password', { password: 'hostile horse' })).status, 200);
  }
  const one = await invite('viewer', { email });
  assert.equal((await one('PUT', '/v1/session/password', { password })).status, 200);
  const by = (body) => person(t.service, { check })('POST', '/v1/session', { email, password, ...body });
  refused(await by({}), 400, 'VALIDATION_FAILED', 'workspaceId');
  const { workspaceId } = t.workspace;
  assert.equal((await by({ workspaceId })).body.workspace.id, workspaceId);
  refused(await by({ workspaceId, password: 'wrong horse' }), 401, 'UNAUTHORIZED');
});

/* How many wrong passwords are looked at in the time since, of a member from one network. */
const looksSince = (from) => 10 + Math.ceil((Date.now() - from) / 6000);

/* How often each status came of 70 requests at once. */
const statuses = async (ask) => {
  const count = {};
  const all = await Promise.all(Array.from({ length: 70 }, (_, i) => ask(i)));
  for (const status of all) count[status] = (count[status] ?? 0) + 1;
  return count;
};

test('links and vouched addresses that fail are limited for their address, right ones let in from there', async () => {
  const from = { 'X-Forwarded-For': '203.0.113.7' };
  const { body } = await owner('POST', '/v1/members', { name: 'L', email: 'l@example.com', role: 'viewer' });
  const link = body.link.replace(/.*#link=/, '');
  const first = await statuses((i) => passedOn({ link: i % 2 ? 'nonsense' : `${link}x` }, from));
  assert.ok(first[401] >= 60 && first[401] + (first[429] ?? 0) === 70, JSON.stringify(first));
  for (const ask of [ // one more may fail each second
    () => passedOn({ link: `${link}x` }, from),
    () => passedOn({}, { ...from, 'X-Signed-In': 'nobody@example.com' }),
  ])
    await until(async () => await ask() === 429, { what: 'the limit' });
  assert.equal(await passedOn({ link }, from), 201);
  assert.equal(await passedOn({}, { ...from, 'X-Signed-In': 'l@example.com' }), 201);
  assert.equal(await passedOn({ link }, { 'X-Forwarded-For': '203.0.113.8' }), 401); // used, and nobody else's matter
});

test('who does not know the password locks a member out of no other network', async () => {
  const email = 'locked@example.com',
    password = 'correct horse',
    one = await invite('viewer', { email });
  assert.equal((await one('PUT', '/v1/session/password', { password })).status, 200);
  const by = (address, word) => passedOn({ email, password: word }, { 'X-Forwarded-For': address });
  for (const net of ['2001:db8:1', '2001:db8:2', '203.0.113.20']) {
    const address = (i) => (net.includes(':') ? `${net}:${i}::1` : net);
    const began = Date.now();
    const count = await statuses((i) => by(address(i), 'wrong horse'));
    assert.ok(count[401] <= looksSince(began) && count[401] + count[429] === 70, JSON.stringify(count));
  }
  const lockedOut = async () => {
    await by('2001:db8:1:98::1', 'wrong horse'); // on a slow machine the first of them are long ago
    return await by('2001:db8:1:99::1', password) === 429;
  };
  await until(lockedOut, { what: 'the right password to be refused' });
  assert.equal(await by('2001:db8:3::1', password), 201);
});

const byPassword = (email, word) => person(t.service, { check })('POST', '/v1/session', { email, password: word });

/* Somebody of their own for a case: what is tried in vain counts for the member. */
async function inviteWithPassword(email, password) {
  const one = await invite('editor', { email });
  assert.equal((await one('PUT', '/v1/session/password', { password })).status, 200);
  return one;
}

test('a password signs in once it is set, whatever the case of the address', async () => {
  const email = 'pass@example.com',
    password = 'correct horse';
  const one = await invite('editor', { email });
  refused(await byPassword(email, password), 401, 'UNAUTHORIZED'); // none yet
  assert.equal((await one('PUT', '/v1/session/password', { password })).status, 200);
  const two = person(t.service, { check });
  assert.equal((await two('POST', '/v1/session', { email: 'PASS@example.com', password })).status, 201);
  assert.equal((await two('GET', '/v1/me')).body.account.hasPassword, true);
});

test('wrong passwords from many addresses at once leave a right one its turn; who gives way comes again', async () => {
  const MANY = 300, LINE = 32, THREADS = 4, email = 'turn@example.com', password = 'correct horse';
  await inviteWithPassword(email, password);
  const count = { 401: 0, 429: 0 }, pauses = new Set();
  const wrong = Array.from({ length: MANY }, async (_, i) => {
    const { status, headers } = await sendOn({ email: `guess${i}@example.com`, password: 'wrong horse' },
      { 'X-Forwarded-For': `198.51.${100 + (i >> 8)}.${i & 255}` });
    count[status]++;
    if (status === 429) pauses.add(headers.get('retry-after'));
  });
  await until(() => count[401] + count[429] >= MANY - LINE - THREADS, { what: 'all but those in line to be answered' });
  const before = count[401];
  assert.equal(await passedOn({ email, password }, { 'X-Forwarded-For': '192.0.2.77' }), 201);
  assert.ok(count[401] - before <= LINE + THREADS, `${count[401] - before} were looked at before it`);
  await Promise.all(wrong);
  assert.equal(count[401] + count[429], MANY);
  assert.ok(count[429] > 0 && [...pauses].join() === '1', JSON.stringify([count, ...pauses]));
});

test('a password that is too short, or set without the one before, is not taken', async () => {
  const email = 'same@example.com',
    password = 'correct horse';
  const one = await inviteWithPassword(email, password);
  const set = (body) => one('PUT', '/v1/session/password', body);
  refused(await set({ password: 'short' }), 400, 'VALIDATION_FAILED', 'password');
  refused(await set({ password: 'another horse', current: 'wrong' }), 400, 'VALIDATION_FAILED', 'current');
  assert.equal((await byPassword(email, password)).status, 201);
});

test('a password that changes ends the other sessions of its member', async () => {
  const email = 'changed@example.com',
    password = 'correct horse';
  const one = await inviteWithPassword(email, password);
  const two = person(t.service, { check });
  assert.equal((await two('POST', '/v1/session', { email, password })).status, 201);
  const { body: { sessions } } = await one('GET', '/v1/sessions');
  assert.deepEqual(sessions.map((session) => session.current).sort(), [false, true]);
  const changed = await one('PUT', '/v1/session/password', { password: 'another horse', current: password });
  assert.equal(changed.status, 200);
  await soon(() => two('GET', '/v1/me'), 401);
  assert.equal((await one('GET', '/v1/me')).status, 200);
});

test('what an address had is not left to the next one by who signs in, or sets a password, meanwhile', async () => {
  const email = 'former@example.com',
    password = 'correct horse';
  const one = await inviteWithPassword(email, password);
  const former = Array.from({ length: 6 }, () =>
    passedOn({ email, password }, { 'X-Forwarded-For': '203.0.113.40' }));
  former.push(one('PUT', '/v1/session/password', { password: 'another horse', current: password }));
  const moved = await owner('PATCH', `/v1/members/${one.member.id}`, { email: 'latter@example.com' });
  assert.equal(moved.status, 200, moved.text);
  await Promise.all(former);
  const latter = await signIn(t.service, { link: moved.body.link, check });
  assert.equal((await latter('GET', '/v1/me')).body.account.hasPassword, false);
  assert.deepEqual((await latter('GET', '/v1/sessions')).body.sessions.map(({ current }) => current), [true]);
});

test('wrong passwords are limited, and then nobody learns whether one was right', async () => {
  const email = 'guessed@example.com',
    password = 'correct horse';
  await inviteWithPassword(email, password);
  const guess = async (word) => { // from an address that no other case uses
    const answer = await sendOn({ email, password: word }, { 'X-Forwarded-For': '203.0.113.30' });
    check('POST', '/v1/session', answer);
    return answer;
  };
  const began = Date.now();
  const tries = await Promise.all(Array.from({ length: 20 }, (_, i) => guess(`wrong ${i}`)));
  assert.ok(tries.filter(({ status }) => status === 401).length <= looksSince(began),
    'those under way at once count as well');
  const last = tries.find(({ status }) => status !== 401);
  refused(last, 429, 'RATE_LIMITED');
  assert.ok(Number(last.headers.get('retry-after')) > 0);
  const right = await until(async () => {
    await guess('wrong again');
    const answer = await guess(password);
    return answer.status !== 201 && answer;
  }, { what: 'the right one to be refused' });
  refused(right, 429, 'RATE_LIMITED');
});

test('signing out, and ending a session elsewhere', async () => {
  const one = await invite('viewer');
  const link = (await owner('POST', `/v1/members/${one.member.id}/link`)).body.link;
  const two = await signIn(t.service, { link, check });
  const { body: { sessions } } = await one('GET', '/v1/sessions');
  const other = sessions.find((session) => !session.current);
  assert.equal((await one('DELETE', `/v1/sessions/${other.id}`)).status, 200);
  await soon(() => two('GET', '/v1/me'), 401);
  refused(await owner('DELETE', `/v1/sessions/${sessions.find((session) => session.current).id}`), 404, 'NOT_FOUND');
  const cookie = one.cookie;
  const out = await one('DELETE', '/v1/session');
  assert.match(out.headers.getSetCookie()[0], /^earshot=; Path=\/; Max-Age=0/);
  await soon(() => { one.cookie = cookie; return one('GET', '/v1/me'); }, 401);
});
