/* Several people at one browser, in a real one: in another tab and one after the other. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser } from '../harness/browser.mjs';
import { makeWorkspace, startService } from '../harness/service.mjs';
import { signIn as signInBy } from '../harness/studio.mjs';

let service, browser, ann, bob;

before(async () => {
  service = await startService();
  ann = await makeWorkspace(service, { name: 'Hers' });
  bob = await makeWorkspace(service, { name: 'His' });
  browser = await openBrowser();
});
after(async () => { await browser?.close(); await service?.close(); });

/* A new tab; with whose workspace: after signing in by a link. */
async function tab(whose) {
  const page = await browser.newPage();
  await page.setViewportSize({ width: 1280, height: 860 });
  if (whose) await signIn(page, whose);
  return page;
}
async function signIn(page, { workspaceId, email = 'x@example.com' }) {
  const whom = ['--workspace', workspaceId, '--email', email];
  const { link } = await service.cli('studio', 'link', ...whom, '--json');
  await page.goto(`${service.url}/docs`);
  await browser.clearCookies();
  await page.goto(`${service.url}/studio#link=${link}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}
const button = (page, name) => page.getByRole('button', { name, exact: true });
const elsewhere = (page) => page.locator('.main > .warn[role=alert]', { hasText: 'Somebody else has signed in' });
const namesOf = async ({ api }) => (await api('GET', '/v1/agents')).body.agents.map(({ name }) => name);

test('a page writes nothing into a workspace that another tab has signed in to', { timeout: 300000 }, async () => {
  const { body: { agent } } = await ann.api('POST', '/v1/agents', { name: 'Reception', greetingMode: 'none' });
  const page = await tab(ann);
  await page.goto(`${service.url}/studio/webhooks`);
  await button(page, 'New subscription').first().click();
  await page.getByLabel('Address').fill('http://127.0.0.1:9/hers');
  const editing = await tab();
  await editing.goto(`${service.url}/studio/agents/${agent.id}`);
  await editing.getByLabel('Name').fill('Typed');
  const other = await tab(bob);

  await button(page, 'Create').click();
  await elsewhere(page).waitFor({ state: 'attached' });
  assert.match(await page.locator('dialog [role=alert]').textContent(), /Somebody else/);
  assert.deepEqual((await bob.api('GET', '/v1/webhooks')).body.webhooks, []);
  assert.equal(await page.getByLabel('Address').inputValue(), 'http://127.0.0.1:9/hers', 'what was typed stays');
  await button(editing, 'Save').click();
  await elsewhere(editing).waitFor();
  assert.equal(await editing.getByLabel('Name').inputValue(), 'Typed');
  const answers = editing.waitForResponse('**/v1/session');
  editing.once('dialog', (dialog) => dialog.accept());
  await button(editing, 'Sign out').click();
  assert.equal((await answers).status(), 409);
  assert.deepEqual([await namesOf(ann), await namesOf(bob)], [['Reception'], []]);
  await other.reload();
  await other.getByRole('heading', { name: 'Overview' }).waitFor(); // nobody signed him out
  await page.goto('about:blank'); // asked no more
  await signIn(other, ann);
  await button(editing, 'Save').click();
  await editing.locator('.toast', { hasText: 'Saved' }).first().waitFor();
  assert.deepEqual([await namesOf(ann), await elsewhere(editing).count()], [['Typed'], 0]);
  for (const one of [page, editing, other]) await one.close();
});

const drafts = (page) => page.evaluate(() => Object.keys(localStorage).filter((name) => name.includes('draft')));

test('what was typed of an agent is its member\'s alone, and goes at sign-out', { timeout: 300000 }, async () => {
  const { body: { agent } } = await ann.api('POST', '/v1/agents', { name: 'Desk', greetingMode: 'none' });
  const page = await tab(ann);
  const open = () => page.goto(`${service.url}/studio/agents/${agent.id}`);
  await open();
  await page.evaluate((id) => localStorage.setItem(`earshot.draft.${id}`, '{"changes":{"name":"Old"}}'), agent.id);
  await page.getByLabel('Name').fill('Typed');
  const answer = (isYes) => page.once('dialog', (dialog) => (isYes ? dialog.accept() : dialog.dismiss()));
  answer(false);
  await button(page, 'Sign out').click();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Typed');
  await signIn(page, { ...ann, email: 'y@example.com' });
  await open();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Desk');
  await signIn(page, ann);
  await open();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Typed');
  answer(true);
  await button(page, 'Sign out').click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await drafts(page), []);
  await page.close();
});

test('of a draft that does not fit the agent, the rest is taken', { timeout: 300000 }, async () => {
  const { body: { agent } } = await ann.api('POST', '/v1/agents', { name: 'Form', greetingMode: 'none' });
  const page = await tab(ann);
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${service.url}/studio/agents/${agent.id}`);
  await page.getByLabel('Name').fill('Typed');
  const [name] = await drafts(page);
  const poison = { name: 'Kept', systemInstruction: 7, variables: null, toolIds: [null], voice: 'x',
    llm: { maxTokens: [] }, embed: { allowedOrigins: {}, enabled: 'no' }, systemTools: null, other: 1 };
  const others = [{ a: null }, { a: { defaultValue: 1 } }].map((variables) => ({ ...poison, variables }));
  for (const changes of [poison, ...others, null, [], 'x']) {
    await page.goto(`${service.url}/studio`);
    await page.evaluate(([at, value]) => localStorage.setItem(at, value),
      [name, JSON.stringify({ changes, updatedAt: agent.updatedAt })]);
    await page.goto(`${service.url}/studio/agents/${agent.id}`);
    assert.equal(await page.getByLabel('Name').inputValue(), changes?.name ?? 'Form');
    for (const part of await page.locator('.tabs a').all()) await part.click();
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test('one whose address many workspaces have taken names one\'s own, and is in', { timeout: 300000 }, async () => {
  const email = 'carol@example.com', password = 'correct horse battery';
  const give = async (workspaceId, secret) => {
    const member = await signInBy(service, { workspaceId, email });
    assert.equal((await member('PUT', '/v1/session/password', { password: secret })).status, 200);
  };
  for (let i = 0; i < 9; i++) await give((await makeWorkspace(service)).workspaceId, 'hostile horse battery');
  await give(ann.workspaceId, password);
  const page = await browser.newPage();
  await page.goto(`${service.url}/docs`);
  await browser.clearCookies();
  await page.goto(`${service.url}/studio`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  const place = page.getByLabel('Workspace ID');
  assert.equal(await place.count(), 0);
  await button(page, 'Sign in').click();
  await place.fill(ann.workspaceId);
  await button(page, 'Sign in').click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('a session that ends takes nothing that was typed; the next one saves it', { timeout: 300000 }, async () => {
  const lookUp = { name: 'look_up', description: 'Looks up.', url: 'http://127.0.0.1:9/' };
  const { body: { tool } } = await ann.api('POST', '/v1/tools', lookUp);
  const page = await tab(ann);
  await page.goto(`${service.url}/studio/tools/${tool.id}`);
  await page.getByLabel('Description').fill('Looks up an order.');
  await browser.clearCookies();
  await button(page, 'Save').click();
  await page.getByText('You are signed out. What you typed is still here').waitFor();
  assert.equal(await page.getByLabel('Description').inputValue(), 'Looks up an order.');
  await tab(ann);
  await button(page, 'Save').click();
  await page.getByText('Saved.').waitFor();
  assert.equal((await ann.api('GET', `/v1/tools/${tool.id}`)).body.tool.description, 'Looks up an order.');
});

test('what was removed by a request whose answer was lost is removed', { timeout: 300000 }, async () => {
  const gone = { name: 'gone', description: 'Goes.', url: 'http://127.0.0.1:9/' };
  const { body: { tool } } = await ann.api('POST', '/v1/tools', gone);
  const page = await tab(ann);
  await page.goto(`${service.url}/studio/tools/${tool.id}`);
  let lost = 0;
  await page.route(`**/v1/tools/${tool.id}`, async (route) => {
    if (route.request().method() !== 'DELETE' || lost++) return route.continue();
    await route.fetch(); // done there, and the answer is lost
    return route.abort();
  });
  await button(page, 'Remove').first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.waitForURL('**/studio/tools');
  assert.equal((await ann.api('GET', `/v1/tools/${tool.id}`)).status, 404);
  assert.equal(lost, 2);
});
