/* Lists in pages: agents, tools, documents, keys and members, by one piece of code (src/store/page.c); without a
 * parameter each is whole. Calls have their own test (calls.test.mjs). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signIn } from '../harness/studio.mjs';
import { apiForFile, refused } from './contract.mjs';

const COUNT = 7;
const { t } = apiForFile({ env: { EARSHOT_DOCUMENTS_PER_HOUR: '100' } });

/* Each list: its path, the name of its entries, a body, and one entry's path. */
const LISTS = [
  { path: '/v1/agents', list: 'agents', one: 'agent', body: (name) => ({ name }) },
  { path: '/v1/tools', list: 'tools', one: 'tool',
    body: (name) => ({ name, description: 'Looks up.', url: 'http://127.0.0.1:9/' }) },
  { path: '/v1/knowledge/documents', list: 'documents', one: 'document',
    body: (name) => ({ name, text: 'We are open from Monday to Friday, nine to five.' }) },
];

/* A workspace with entries n1 .. n7 (tools have no other characters in their names), oldest first. */
async function fill({ path, one, body }, name = (i) => `n${i}`) {
  const { api } = await t.newWorkspace();
  const entries = [];
  for (let i = 1; i <= COUNT; i++) {
    const answer = await api('POST', path, body(name(i)));
    assert.equal(answer.status, 201, answer.text);
    entries.push(answer.body[one]);
  }
  return { api, ids: entries.map(({ id }) => id) };
}

const get = async (api, path, query) => {
  const answer = await api('GET', `${path}?${new URLSearchParams(query)}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
};

for (const list of LISTS) {
  const idsOf = (page) => page[list.list].map(({ id }) => id);

  test(`${list.list}: without parameters the list is whole, and says nothing of pages`, async () => {
    const { api, ids } = await fill(list);
    const whole = await get(api, list.path, {});
    assert.deepEqual(Object.keys(whole), [list.list]);
    assert.deepEqual(idsOf(whole).sort(), ids.sort());
  });

  test(`${list.list}: pages are the whole list in its order, cut`, async () => {
    const { api } = await fill(list);
    const whole = idsOf(await get(api, list.path, {}));
    const pages = [];
    for (let before; ;) {
      const page = await get(api, list.path, { limit: 3, ...(before ? { before } : {}) });
      assert.equal(page.total, COUNT);
      pages.push(idsOf(page));
      before = page.nextCursor;
      if (!before) break;
    }
    assert.deepEqual(pages, [whole.slice(0, 3), whole.slice(3, 6), whole.slice(6)]);
    assert.deepEqual(idsOf(await get(api, list.path, { limit: COUNT })), whole);
    const first = await get(api, list.path, { limit: 3 });
    const rest = await get(api, list.path, { before: first.nextCursor });
    assert.deepEqual(idsOf(rest), whole.slice(3));
    assert.equal(rest.nextCursor, null);
  });

  test(`${list.list}: what comes and goes meanwhile moves no page`, async () => {
    const { api } = await fill(list);
    const whole = idsOf(await get(api, list.path, {}));
    const first = await get(api, list.path, { limit: 3 });
    assert.equal((await api('POST', list.path, list.body('n8'))).status, 201);
    assert.equal((await api('DELETE', `${list.path}/${whole[2]}`)).status, 200); // the entry that the cursor names
    assert.equal((await api('DELETE', `${list.path}/${whole[4]}`)).status, 200);
    const second = await get(api, list.path, { limit: 3, before: first.nextCursor });
    assert.deepEqual(idsOf(second), [whole[3], whole[5], whole[6]]);
    assert.deepEqual([second.nextCursor, second.total], [null, COUNT - 1]);
  });

  test(`${list.list}: a search finds part of a name, in any case, or an id`, async () => {
    const { api, ids } = await fill(list, (i) => (i % 2 ? `order_${i}` : `status_${i}`));
    const page = await get(api, list.path, { q: 'ORDER', limit: 3 });
    assert.deepEqual([page.total, page[list.list].length], [4, 3]);
    const rest = await get(api, list.path, { q: 'ORDER', limit: 3, before: page.nextCursor });
    assert.deepEqual([...idsOf(page), ...idsOf(rest)].sort(), ids.filter((_, i) => i % 2 === 0).sort());
    assert.equal(rest.nextCursor, null);
    assert.deepEqual(idsOf(await get(api, list.path, { q: ids[1] })), [ids[1]]);
    assert.deepEqual(await get(api, list.path, { q: 'none%_', limit: 3 }),
      { [list.list]: [], total: 0, nextCursor: null });
  });

  test(`${list.list}: a forged cursor and a wrong limit are told by their names`, async () => {
    const { api } = await fill(list);
    const { nextCursor } = await get(api, list.path, { limit: 3 });
    for (const before of ['', 'x', nextCursor.slice(1 + nextCursor.indexOf('.')), `-${nextCursor}`, `${nextCursor}'`,
      `9999999999999999.${nextCursor.split('.')[1]}`, '1.usr_1', nextCursor.replace('.', ' ')])
      refused(await api('GET', `${list.path}?${new URLSearchParams({ before })}`), 400, 'VALIDATION_FAILED', 'before');
    for (const limit of ['0', '101', '-1', 'ten', ''])
      refused(await api('GET', `${list.path}?limit=${limit}`), 400, 'VALIDATION_FAILED', 'limit');
  });

  test(`${list.list}: a cursor of another workspace shows nothing of it`, async () => {
    const theirs = await fill(list);
    const { nextCursor } = await get(theirs.api, list.path, { limit: 3 });
    const { api } = await t.newWorkspace();
    assert.deepEqual(await get(api, list.path, { limit: 3, before: nextCursor }),
      { [list.list]: [], total: 0, nextCursor: null });
  });
}

/* Those that only sessions see; a workspace has one of each from the start. */
const BY_SESSIONS = [
  { path: '/v1/keys', list: 'keys', body: (name) => ({ name }), newestFirst: true },
  { path: '/v1/members', list: 'members', body: (name) => ({ name, email: `${name}@Example.com`, role: 'viewer' }) },
];
async function fillAsOwner({ path, body }) {
  const { workspaceId } = await t.newWorkspace();
  const api = await signIn(t.service, { workspaceId, check: (...told) => t.contract.check(...told) });
  for (let i = 1; i <= COUNT; i++) assert.equal((await api('POST', path, body(`n${i % 2}_${i}`))).status, 201);
  return api;
}

for (const list of BY_SESSIONS) {
  const namesOf = (page) => page[list.list].map(({ name }) => name);

  test(`${list.list}: whole without parameters, else in pages of the same order`, async () => {
    const api = await fillAsOwner(list);
    const whole = await get(api, list.path, {});
    assert.deepEqual(Object.keys(whole), [list.list]);
    const made = ['n1_1', 'n0_2', 'n1_3', 'n0_4', 'n1_5', 'n0_6', 'n1_7'];
    const names = namesOf(whole).filter((name) => made.includes(name));
    assert.deepEqual(names, list.newestFirst ? made.reverse() : made);
    const pages = [];
    for (let before; before !== null;) {
      const page = await get(api, list.path, { limit: 3, ...(before ? { before } : {}) });
      assert.equal(page.total, COUNT + 1);
      pages.push(...page[list.list]);
      before = page.nextCursor;
    }
    assert.deepEqual(pages, whole[list.list]);
  });

  test(`${list.list}: found by part of the name, page by page; a forged cursor is told`, async () => {
    const api = await fillAsOwner(list);
    const page = await get(api, list.path, { q: 'N1_', limit: 3 });
    assert.deepEqual([page.total, page[list.list].length], [4, 3]);
    const rest = await get(api, list.path, { q: 'N1_', limit: 3, before: page.nextCursor });
    assert.deepEqual([...namesOf(page), ...namesOf(rest)].sort(), ['n1_1', 'n1_3', 'n1_5', 'n1_7']);
    assert.equal(rest.nextCursor, null);
    for (const before of ['', 'x', `${page.nextCursor}'`, '1.ua_1'])
      refused(await api('GET', `${list.path}?${new URLSearchParams({ before })}`), 400, 'VALIDATION_FAILED', 'before');
    const theirs = await fillAsOwner(list);
    const { nextCursor } = await get(theirs, list.path, { limit: 3, q: 'n' });
    const { [list.list]: seen } = await get(api, list.path, { before: nextCursor });
    const own = (await get(api, list.path, {}))[list.list].map(({ id }) => id);
    assert.ok(seen.every(({ id }) => own.includes(id)), 'a cursor of another workspace shows nothing of it');
  });
}

test('members: found by their address', async () => {
  const api = await fillAsOwner(BY_SESSIONS[1]);
  assert.deepEqual((await get(api, '/v1/members', { q: '_3@EXAMPLE' })).members.map(({ name }) => name), ['n1_3']);
});

test('members: found by the end of the longest name and address that may be', async () => {
  const api = await fillAsOwner(BY_SESSIONS[1]);
  const name = '𐐀'.repeat(100), email = `${'𐐀'.repeat(242)}@example.end`; // four bytes each
  const made = await api('POST', '/v1/members', { name, email, role: 'viewer' });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual((await get(api, '/v1/members', { q: 'EXAMPLE.END' })).members.map((one) => one.name), [name]);
});

test('agents: letters beyond ASCII are found in any case, and under the new name after an edit', async () => {
  const { api } = await t.newWorkspace();
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'Zahnärzte Österreich' });
  await api('POST', '/v1/agents', { name: 'दंत चिकित्सा' });
  const found = async (q) => (await get(api, '/v1/agents', { q })).agents.map(({ name }) => name);
  assert.deepEqual(await found('ÄRZTE ö'), ['Zahnärzte Österreich']);
  assert.deepEqual(await found('चिकित्सा'), ['दंत चिकित्सा']);
  assert.equal((await api('PATCH', `/v1/agents/${agent.id}`, { name: 'Praxis' })).status, 200);
  assert.deepEqual(await found('ärzte'), []);
  assert.deepEqual(await found('prax'), ['Praxis']);
});

for (const kind of [LISTS[0], LISTS[2]])
  test(`${kind.list}: those that are asked for by id come in that order, and no others`, async () => {
    const { api, ids } = await fill(kind);
    const theirs = await fill(kind);
    const asked = [ids[4], 'ua_none', theirs.ids[0], ids[1]];
    const answer = await get(api, kind.path, { ids: asked.join(',') });
    assert.deepEqual(Object.keys(answer), [kind.list]);
    assert.deepEqual(answer[kind.list].map(({ id }) => id), [ids[4], ids[1]]);
    assert.deepEqual(await get(api, kind.path, { ids: '' }), { [kind.list]: [] });
    refused(await api('GET', `${kind.path}?ids=${'ua_1,'.repeat(101)}`), 400, 'VALIDATION_FAILED', 'ids');
  });

test("agents: an agent's own key sees itself, page or not", async () => {
  const { api, ids } = await fill(LISTS[0]);
  const { body: { agent } } = await api('GET', `/v1/agents/${ids[2]}`);
  const own = t.as(agent.apiKey);
  const page = await get(own, '/v1/agents', { limit: 3 });
  assert.deepEqual([page.agents.map(({ id }) => id), page.total, page.nextCursor], [[agent.id], 1, null]);
  assert.deepEqual((await get(own, '/v1/agents', { q: 'n1' })).agents, []);
  assert.deepEqual((await get(own, '/v1/agents', { ids: ids.join(',') })).agents.map(({ id }) => id), [agent.id]);
  const { nextCursor } = await get(api, '/v1/agents', { limit: 1 });
  assert.deepEqual((await get(own, '/v1/agents', { before: nextCursor })).agents.map(({ id }) => id), [agent.id]);
});

test('tools: of an agent, and those that it can use', async () => {
  const { api } = await fill(LISTS[1]);
  const [mine, other] = await Promise.all(['a', 'b'].map(async (name) => {
    const { body: { agent } } = await api('POST', '/v1/agents', { name });
    await api('POST', '/v1/tools', { ...LISTS[1].body(`own_${name}`), agentId: agent.id });
    return agent;
  }));
  const names = async (query) => (await get(api, '/v1/tools', query)).tools.map(({ name }) => name);
  assert.deepEqual(await names({ agentId: mine.id, limit: 5 }), ['own_a']);
  assert.deepEqual(await names({ usableBy: other.id, q: 'own' }), ['own_b']);
  assert.equal((await get(api, '/v1/tools', { usableBy: mine.id, limit: 2 })).total, COUNT + 1);
  assert.deepEqual(await names({ usableBy: '' }), []);
  assert.deepEqual(await names({ agentId: '', limit: 5 }), []);
});
