/* The studio with long lists, in a real browser: a page at a time, searches that the service answers, and pickers that
 * find what no page has shown. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { openBrowser } from '../harness/browser.mjs';
import { sql } from '../harness/sql.mjs';

const MANY = 120;
let service, workspace, browser, page, api, agents;

/* Some at a time; in the order of the numbers. */
async function makeMany(path, body) {
  const made = [];
  for (let i = 0; i < MANY; i += 10)
    made.push(...await Promise.all(Array.from({ length: 10 }, async (_, n) => {
      const answer = await api('POST', path, body(String(i + n).padStart(3, '0')));
      assert.equal(answer.status, 201, answer.text);
      return Object.values(answer.body)[0];
    })));
  return made;
}

const TEXT = 'We are open from Monday to Friday, nine to five.';

before(async () => {
  service = await startService({ env: { EARSHOT_RATE_LIMIT: '0', EARSHOT_DOCUMENTS_PER_HOUR: '1000' } });
  workspace = await makeWorkspace(service);
  api = client(service, workspace.key);
  agents = await makeMany('/v1/agents', (n) => ({ name: `Agent ${n}` }));
  await makeMany('/v1/tools', (n) => ({ name: `tool_${n}`, description: 'Looks up.', url: 'http://127.0.0.1:9/' }));
  const { link } = await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  browser = await openBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(90000);
  page.asked = [];
  page.on('request', (request) => page.asked.push(request.url().slice(service.url.length)));
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(String(error)));
  await page.goto(`${service.url}/studio#link=${link.replace(/.*#link=/, '')}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

after(async () => {
  await browser?.close();
  await service?.close();
});

const at = (path) => page.goto(`${service.url}${path}`);
const shown = (text) => page.locator('.more', { hasText: text }).waitFor();
const more = () => page.getByRole('button', { name: 'Show more' });

for (const [path, what, name] of [['agents', 'Agent', 'Agents'], ['tools', 'tool', 'Tools']]) {
  test(`${path}: a page is loaded, more by the button, and any of all is found by its name`, { timeout: 300000 },
    async () => {
      page.asked.length = 0;
      await at(`/studio/${path}`);
      await shown(`50 of ${MANY}`);
      await more().click();
      await shown(`100 of ${MANY}`);
      await more().click();
      await shown(`${MANY} of ${MANY}`);
      assert.equal(await more().count(), 0);
      const rows = page.getByRole('region', { name }).getByRole('link');
      assert.equal(new Set(await rows.allTextContents()).size, MANY);
      await page.getByLabel('Search').fill(`${what.toUpperCase()}${what === 'tool' ? '_' : ' '}003`);
      await shown('1 of 1');
      assert.match((await rows.allTextContents()).join(), /^(Agent |tool_)003$/);
      await page.getByLabel('Search').fill('nothing like that');
      await shown('0 of 0');
      await page.getByText('Search for less of it').waitFor();
      await page.getByLabel('Search').fill('');
      await shown(`50 of ${MANY}`);
      const lists = page.asked.filter((url) => url.startsWith(`/v1/${path}`));
      assert.ok(lists.length > 0 && lists.every((url) => /[?&](limit|ids)=/.test(url)), lists.join(' '));
      assert.deepEqual(page.errors, []);
    });
}

test('keys come in pages, are searched, and one that is revoked stays where it is', { timeout: 300000 }, async () => {
  await page.evaluate(async (count) => { // by the session: keys are made by nobody else
    for (let i = 0; i < count; i++)
      await fetch('/v1/keys', { method: 'POST', body: JSON.stringify({ name: `Key ${String(i).padStart(3, '0')}` }),
        headers: { 'X-Earshot-Studio': '1', 'Content-Type': 'application/json' } });
  }, 60);
  page.asked.length = 0;
  await at('/studio/keys');
  await shown('50 of 61'); // and the one that the workspace began with
  await more().click();
  await shown('61 of 61');
  await page.getByRole('button', { name: 'Revoke Key 003' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  const row = page.locator('tr', { hasText: 'Key 003' });
  await row.getByText('revoked', { exact: false }).waitFor();
  await shown('61 of 61');
  await page.getByLabel('Search').fill('KEY 00');
  await shown('10 of 10');
  await row.getByText('revoked', { exact: false }).waitFor();
  assert.ok(page.asked.filter((url) => url.startsWith('/v1/keys?')).every((url) => url.includes('limit=50')));
  await at('/studio/members');
  await shown('1 of 1');
  await page.getByLabel('Search').fill('nobody');
  await shown('0 of 0');
  assert.deepEqual(page.errors, []);
});

test('an agent switches on a tool that no first page has, and one that is on stands first', { timeout: 300000 },
  async () => {
    await at(`/studio/agents/${agents[0].id}`);
    await page.getByRole('link', { name: 'Tools', exact: true }).last().click();
    await shown(`50 of ${MANY}`);
    assert.equal(await page.getByLabel('tool_003').count(), 0);
    await page.getByLabel('Search').fill('l_003');
    await page.getByLabel('tool_003').check();
    await page.getByLabel('Search').press('Enter');
    await page.getByLabel('Search').fill('');
    await shown(`50 of ${MANY}`);
    assert.equal(await page.getByLabel('tool_003').isChecked(), true);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.toast', { hasText: 'Saved.' }).first().waitFor();
    const { body: { agent } } = await api('GET', `/v1/agents/${agents[0].id}`);
    assert.deepEqual(agent.tools.map((tool) => tool.name), ['tool_003']);
    await at(`/studio/agents/${agents[0].id}`);
    await page.getByRole('link', { name: 'Tools', exact: true }).last().click();
    await shown(`50 of ${MANY}`);
    assert.match(await page.locator('form .check').first().textContent(), /^tool_003/);
    assert.deepEqual(page.errors, []);
  });

test("an agent's voices are its engine's, however many others there are", { timeout: 300000 }, async () => {
  const { body: { voices: [own] } } = await api('GET', '/v1/voices?limit=1');
  const all = [...Array.from({ length: 150 }, (_, n) => ({ ...own, provider: 'another', id: `a${n}`, name: `A ${n}` })),
    { ...own, id: 'last', name: 'The last one' }];
  await page.route('**/v1/voices?*', (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const voices = all.filter(({ provider }) => provider === (asked.get('provider') ?? provider));
    const limit = Number(asked.get('limit'));
    return route.fulfill({ json: { voices: voices.slice(0, limit), nextPage: voices.length > limit ? 'x' : null } });
  });
  const made = await api('POST', '/v1/agents', { name: 'Voiced', voice: { provider: own.provider, speaker: own.id } });
  await at(`/studio/agents/${made.body.agent.id}`);
  await page.locator('.tabs').getByRole('link', { name: 'Voice' }).click();
  await page.getByLabel('Speaker', { exact: true }).locator('option', { hasText: 'The last one' })
    .waitFor({ state: 'attached' });
  await api('DELETE', `/v1/agents/${made.body.agent.id}`);
  await page.unrouteAll();
  assert.deepEqual(page.errors, []);
});

test('a tool that is not among the first is completed in the instructions', { timeout: 300000 }, async () => {
  await at(`/studio/agents/${agents[1].id}`);
  const area = page.getByLabel('Instructions');
  await area.press('Control+End');
  await area.pressSequentially(' Use @tool_00');
  await page.getByRole('option', { name: /^tool_00\d$/ }).first().waitFor(); // eight of the ten, in the order they came
  assert.deepEqual(page.errors, []);
  page.once('dialog', (dialog) => dialog.accept());
  await at('/studio/calls');
});

test('calls are those of an agent that no first page has', { timeout: 300000 }, async () => {
  await at('/studio/calls');
  await page.getByLabel('Find an agent').fill('agent 007');
  const select = page.getByLabel('Agent', { exact: true });
  await until(async () => (await select.locator('option').count()) === 2, { what: 'the agent among the options' });
  await select.selectOption('Agent 007');
  await page.getByText('No call fits').waitFor();
  await page.getByLabel('Find an agent').fill('');
  await until(async () => (await select.locator('option').count()) > 50, { what: 'the first agents again' });
  assert.equal(await select.inputValue(), agents[7].id);
  assert.deepEqual(page.errors, []);
});

test('documents are chosen from a page, or found by name', { timeout: 300000 }, async () => {
  const made = [];
  for (let i = 0; i < 55; i++) {
    const answer = await api('POST', '/v1/knowledge/documents', { name: `Document ${i}`, text: TEXT });
    assert.equal(answer.status, 201, answer.text);
    made.push(answer.body.document);
  }
  const chosen = await api('PATCH', `/v1/agents/${agents[3].id}`, { documentIds: [made[1].id] }); // on no first page
  assert.equal(chosen.status, 200, chosen.text);
  page.asked.length = 0;
  await at(`/studio/agents/${agents[3].id}`);
  await page.getByRole('link', { name: 'Documents', exact: true }).click();
  const first = page.locator('form .check').first();
  await until(async () => /^Document 1(?!\d)/.test(await first.textContent()), { what: 'the name of the chosen one' });
  assert.equal(await first.getByRole('checkbox').isChecked(), true);
  const lists = page.asked.filter((url) => url.startsWith('/v1/knowledge/documents'));
  assert.ok(lists.length > 0 && lists.every((url) => /[?&](limit|ids)=/.test(url)), lists.join(' '));
  await at(`/studio/agents/${agents[2].id}`);
  await page.getByRole('link', { name: 'Documents', exact: true }).click();
  await shown('50 of 55');
  await page.getByLabel('Search').fill('document 0');
  await page.getByLabel('Document 0').check();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.locator('.toast', { hasText: 'Saved.' }).first().waitFor();
  const { body: { agent } } = await api('GET', `/v1/agents/${agents[2].id}`);
  assert.deepEqual(agent.documentIds, [made[0].id]);
});

test("a document's passages are shown a page at a time, in their order", { timeout: 300000 }, async () => {
  const COUNT = 60;
  const said = Array.from({ length: COUNT }, (_, i) => `Passage ${i + 1} tells at some length what the house offers, `
    + `${'among it a walk to the lake and back, '.repeat(7)}and dinner on the terrace.`);
  const { body: { document } } = await api('POST', '/v1/knowledge/documents',
    { name: 'Long', text: `# The house\n\n${said.join('\n\n')}` });
  await until(async () => {
    const { body } = await api('GET', `/v1/knowledge/documents/${document.id}`);
    return body.document.status === 'ready' && body.document.sectionCount === COUNT;
  }, { what: 'the document to be read' });
  await at(`/studio/knowledge/${document.id}`);
  await shown(`50 of ${COUNT}`);
  await more().click();
  await shown(`${COUNT} of ${COUNT}`);
  assert.equal(await more().count(), 0);
  const texts = await page.getByRole('region', { name: 'Passages' }).getByRole('listitem').allInnerTexts();
  assert.deepEqual(texts, said.map((text) => `The house\n${text}`));
  assert.deepEqual(page.errors, []);
});

test('the log of deliveries goes on beyond its first page', { timeout: 300000 }, async () => {
  const made = await api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/', events: ['call.ended'] });
  assert.equal(made.status, 201, made.text);
  const { id } = made.body.webhook;
  for (let i = 0; i < 55; i++) {
    sql(service, `INSERT INTO events (id, workspace_id, call_id, type, created_ms, body)
      VALUES ('evt_${i}', '${workspace.workspaceId}', '', 'call.ended', ${i}, '{}');
      INSERT INTO deliveries (event_id, workspace_id, webhook_id, call_id, position, url, secret, state, attempts,
      due_ms, was_due_ms, leased_by, status, error, latency_ms, created_ms, attempted_ms) VALUES ('evt_${i}',
      '${workspace.workspaceId}', '${id}', '', 0, '', '', 'delivered', 1, 0, 0, '', 200, '', 5, ${Date.now()}, 1);`);
  }
  await at(`/studio/webhooks/${id}`);
  const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr');
  await until(async () => (await rows.count()) === 50, { what: 'the first page' });
  await more().click();
  await until(async () => (await rows.count()) === 55, { what: 'the rest' });
  assert.equal(await more().count(), 0);
  assert.deepEqual(page.errors, []);
});

test('calls that come while older ones are shown push none of them away', { timeout: 300000 }, async () => {
  const started = await api('POST', '/v1/calls', { agentId: agents[8].id });
  assert.equal(started.status, 201, started.text);
  const { callId } = started.body;
  assert.equal((await api('POST', `/v1/calls/${callId}/end`)).status, 200);
  await until(async () => (await api('GET', `/v1/calls/${callId}`)).body.call.status === 'ended', { what: 'its end' });
  const idOf = (n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  const add = (numbers, ms) => sql(service, `CREATE TEMP TABLE one AS SELECT * FROM calls WHERE id = '${callId}';
    UPDATE call_counts SET calls = calls + ${numbers.length} WHERE agent_id = '${agents[8].id}';
    ${numbers.map((n) => `UPDATE one SET id = '${idOf(n)}', created_ms = ${ms + n};
      INSERT INTO calls SELECT * FROM one;`).join('')}`);
  const old = Array.from({ length: 60 }, (_, n) => n);
  add(old, Date.now() - 3600000);
  await at('/studio/calls');
  await shown('50 of 61');
  await more().click();
  await shown('61 of 61');
  add([61, 62], Date.now());
  await shown('63 of 63');
  const links = await page.getByRole('region', { name: 'Calls' }).getByRole('link').evaluateAll(
    (all) => all.map((one) => one.getAttribute('href').split('/').pop()));
  assert.deepEqual(links, [idOf(62), idOf(61), callId, ...old.toReversed().map(idOf)]);
  assert.deepEqual(page.errors, []);
});

test('the overview shows how calls ended, day by day, in parts and as a table', { timeout: 300000 }, async () => {
  const reasons = ['user-left', 'api', 'no-user', 'socket-lost', 'max-duration', 'room-finished'];
  const day = Math.floor(Date.now() / 86400000);
  const rows = reasons.flatMap((reason, n) => [[day - 3, reason, 60 - 10 * n], [day - 9, reason, 5]]);
  sql(service, `DELETE FROM usage_days; INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds,
    cost_usd4) VALUES ${rows.map(([on, reason, calls]) =>
      `('${workspace.workspaceId}', ${on}, '${agents[0].id}', '${reason}', ${calls}, 600, 900)`).join()}`);
  await at('/studio');
  await page.getByText('Reply time p50').waitFor();
  const label = 'How calls ended, by day';
  await page.locator(`.chart[aria-label="${label}"] canvas`).waitFor();
  const colours = await page.evaluate((name) => {
    const canvas = document.querySelector(`.chart[aria-label="${name}"] canvas`);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4)
      seen.add(`#${[...data.slice(i, i + 3)].map((c) => c.toString(16).padStart(2, '0')).join('')}`);
    const style = getComputedStyle(document.documentElement);
    return [1, 2, 3, 4, 5].map((n) => seen.has(style.getPropertyValue(`--chart-${n}`).trim()));
  }, label);
  assert.deepEqual(colours, [true, true, true, true, true], 'five parts, each in its colour');
  const cells = await page.locator('figure table', { has: page.getByText(label) }).evaluate((table) =>
    [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(cells[0], ['Day', 'Caller hung up', 'Ended by agent or API', 'Nobody joined', 'Connection lost',
    'Limit reached', 'Room closed']);
  assert.deepEqual(cells.at(-4).slice(1), ['60', '50', '40', '30', '20', '10']);
  assert.deepEqual(cells.at(-10).slice(1), ['5', '5', '5', '5', '5', '5']);
  assert.deepEqual(page.errors, []);
});
