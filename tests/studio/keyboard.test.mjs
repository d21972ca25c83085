/* The studio by keyboard alone: no mouse is moved, no element is clicked or focused by a script. Tab goes through every
 * page and reaches everything that can be used, each with a focus that can be seen; what a person makes from sign-in to
 * key is made with Tab, Enter, Space, arrows and Escape; a dialog keeps the focus and gives it back. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { makeWorkspace, startService, until } from '../harness/service.mjs';
import { openBrowser } from '../harness/browser.mjs';
import { signIn } from '../harness/studio.mjs';
import { startReceiver } from '../harness/receiver.mjs';

const STOPS_MAX = 250;
let service, workspace, browser, page, receiver;

before(async () => {
  service = await startService();
  workspace = await makeWorkspace(service);
  receiver = await startReceiver();
  const ann = await signIn(service, { workspaceId: workspace.workspaceId, email: 'ann@example.com' });
  const { status } = await ann('PUT', '/v1/session/password', { password: 'correct horse battery' });
  assert.equal(status, 200);
  browser = await openBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(90000); // for what never happens, on whatever machine
  await page.setViewportSize({ width: 1280, height: 860 });
});

after(async () => {
  await browser?.close();
  receiver?.close();
  await service?.close();
});

/* What has the focus: its name for messages, and what is wrong with it. */
const focused = () =>
  page.evaluate(() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const points = [[0.5, 0.5], [0.02, 0.1], [0.98, 0.1], [0.02, 0.9], [0.98, 0.9]];
    const isSeen = points.some(([x, y]) => {
      const hit = document.elementFromPoint(box.left + box.width * x, box.top + box.height * y);
      return hit && (element.contains(hit) || hit.contains(element) || element.labels?.[0]?.contains(hit));
    });
    return {
      what: element.outerHTML.slice(0, 160),
      isOutlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
      isSeen,
    };
  });

const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

function assertVisible(at) {
  assert.ok(at.isOutlined, `no focus is to be seen on ${at.what}`);
  assert.ok(at.isSeen, `the focus is hidden: ${at.what}`);
}

/* Tab until it has the focus. */
async function tabTo(locator, key = 'Tab') {
  await locator.waitFor();
  for (let i = 0; i < STOPS_MAX; i++) {
    if (await isFocused(locator)) return assertVisible(await focused());
    await page.keyboard.press(key);
  }
  throw new Error(`Tab does not come to ${locator}`);
}

async function press(locator, key = 'Enter') {
  await tabTo(locator);
  await page.keyboard.press(key);
}

async function type(locator, text) {
  await tabTo(locator);
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

const button = (name, where = page) => where.getByRole('button', { name, exact: true });
const heading = (name) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
const said = (text) => page.locator('.toast', { hasText: text }).first().waitFor();

async function openPage(name) {
  await press(page.getByRole('link', { name, exact: true }));
  await heading(name);
}

/* Everything that can be used, Tab by Tab from the beginning of the page to its end. */
async function walk(name) {
  await page.waitForFunction(() => document.querySelector('.head') && !document.querySelector('.loading'));
  const wanted = await page.evaluate(() => {
    const usable = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    const isUsable = (one) => one.checkVisibility() && !one.matches(':disabled');
    const list = [...document.querySelectorAll(usable)].filter(isUsable);
    list.forEach((one, i) => { one.dataset.stop = i; });
    return list.map((one) => one.outerHTML.slice(0, 160));
  });
  const reached = new Set();
  for (let i = 0; i < wanted.length + 20 && reached.size < wanted.length; i++) {
    await page.keyboard.press('Tab');
    const at = await focused();
    if (!at) continue; // past the last one: the browser's own
    assertVisible(at);
    reached.add(await page.evaluate(() => document.activeElement.dataset.stop));
  }
  const missed = wanted.filter((_, i) => !reached.has(String(i)));
  assert.deepEqual(missed, [], `${name}: what Tab does not reach`);
}

/* A dialog that a button opens: its first field has the focus, Tab stays within, Escape closes it and the button has
 * the focus again. */
async function assertDialog(opener) {
  await press(opener);
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  for (const key of ['Tab', 'Shift+Tab'])
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press(key);
      const isOutside = await page.evaluate(
        () => document.activeElement !== document.body && !document.activeElement.closest('dialog'),
      );
      assert.equal(isOutside, false, 'the focus left the dialog');
    }
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' }); // one that is closed has no role any more
  assert.ok(await isFocused(opener), `the focus is not back on ${opener}`);
}

const inDialog = (name) => page.getByRole('dialog').getByLabel(name);
const hasFocus = (locator) => until(() => isFocused(locator), { what: `the focus on ${locator}` });

test('one signs in by e-mail and password, and skips the menu', { timeout: 300000 }, async () => {
  await page.goto(`${service.url}/studio`);
  await type(page.getByLabel('E-mail'), 'ann@example.com');
  await type(page.getByLabel('Password'), 'correct horse battery');
  await page.keyboard.press('Enter');
  await heading('Overview');
  await page.reload();
  await heading('Overview');
  await press(page.getByRole('link', { name: 'Skip to the content' }));
  await hasFocus(page.locator('#main'));
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.activeElement.closest('#main')), 'the next one is in the page');
});

test('a document is added as text and found, and a file is chosen', { timeout: 300000 }, async () => {
  await openPage('Knowledge');
  await assertDialog(button('Add text').first());
  await press(button('Add text').first());
  await hasFocus(inDialog('Name'));
  await page.keyboard.type('Hours');
  await type(inDialog('Text'), 'We are open from nine to five. Parking is behind the house.');
  await press(button('Add', page.getByRole('dialog')));
  await page.getByRole('row', { name: /Hours/ }).getByText('Ready').waitFor();
  await type(page.getByLabel('A question of a caller'), 'Where can I park?');
  await page.keyboard.press('Enter');
  await page.getByText(/behind the house/).waitFor();
  const chosen = page.waitForEvent('filechooser');
  await press(button('Choose files'));
  const buffer = Buffer.from('Dogs are welcome here.');
  await (await chosen).setFiles({ name: 'more.txt', mimeType: 'text/plain', buffer });
  await page.getByRole('row', { name: /more\.txt/ }).getByText('Ready').waitFor();
  await assertDialog(button('Remove more.txt'));
});

test('a tool is made, and tested', { timeout: 300000 }, async () => {
  await openPage('Tools');
  await press(page.getByRole('link', { name: 'New tool' }).first());
  await heading('New tool');
  await type(page.getByLabel('Name'), 'order_status');
  await type(page.getByLabel('Description'), 'Where an order is');
  await tabTo(page.getByLabel('Method'));
  await page.keyboard.press('P'); // a list takes what begins with the letter
  assert.equal(await page.getByLabel('Method').inputValue(), 'POST');
  await type(page.getByLabel('Address'), receiver.url('/orders'));
  await press(button('Create'));
  await heading('order_status');
  await press(button('Run'));
  await page.locator('aside .badge', { hasText: '204' }).waitFor();
});

test('an agent is made, edited, given a document and a tool, and called', { timeout: 300000 }, async () => {
  await openPage('Agents');
  await assertDialog(button('New agent').first());
  await press(button('New agent').first());
  await press(page.getByRole('button', { name: /^Front desk/ }), 'Space');
  await hasFocus(inDialog('Name'));
  await page.keyboard.press('Control+A');
  await page.keyboard.type('Reception');
  await page.keyboard.press('Enter');
  await heading('Reception');
  await tabTo(page.getByLabel('Instructions'));
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' Use @ord');
  await page.getByRole('option', { name: 'order_status' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.match(await page.getByLabel('Instructions').inputValue(), /Use @order_status $/);
  await page.keyboard.type('@ord');
  await page.getByRole('option', { name: 'order_status' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[role=option]').waitFor({ state: 'detached' });
  await press(page.getByRole('link', { name: 'Documents', exact: true }));
  await press(page.getByLabel('Hours'), 'Space');
  await press(page.getByRole('link', { name: 'Tools', exact: true }).last());
  await press(page.getByLabel('order_status'), 'Space');
  await press(button('Save'));
  await said('Saved.');
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  assert.deepEqual([agent.documentIds.length, agent.toolIds.length], [1, 1]);
  await press(button('Start a test call'));
  await page.locator('.bubbles .assistant').first().waitFor();
  await press(button('Mute'));
  await hasFocus(button('Unmute'));
  await press(button('Hang up'));
  await page.getByText('The call has ended.').waitFor();
  assert.notEqual(await focused(), null, 'the focus is not lost with the button');
  await press(page.getByRole('link', { name: 'Details of the call' }));
  await page.getByRole('heading', { name: /^Call of/ }).waitFor();
});

test('a webhook is made and tested', { timeout: 300000 }, async () => {
  await openPage('Webhooks');
  await assertDialog(button('New subscription').first());
  await press(button('New subscription').first());
  await hasFocus(inDialog('Address'));
  await page.keyboard.type(receiver.url('/hook'));
  await page.keyboard.press('Enter');
  await page.getByText('It is shown this once').waitFor();
  await press(page.getByRole('link', { name: 'Done' }));
  await press(button('Send a test'));
  await page.getByText('The test was answered with 204.').waitFor();
});

test('a key is made, shown once and revoked; somebody is invited', { timeout: 300000 }, async () => {
  await openPage('API keys');
  await assertDialog(button('New key').first());
  await press(button('New key').first());
  await hasFocus(inDialog('Name'));
  await page.keyboard.type('Till');
  await page.keyboard.press('Enter');
  assert.match(await page.locator('.secret code').textContent(), /^sk_/);
  await press(button('Done'));
  await hasFocus(button('New key'));
  await assertDialog(button('Revoke Till'));
  await press(button('Revoke Till'));
  await press(button('Revoke', page.getByRole('dialog')));
  await said('Revoked.');
  await openPage('Members');
  await assertDialog(button('Invite'));
});

test('Tab reaches everything on every page, with a focus that is to be seen', { timeout: 600000 }, async () => {
  const get = async (path) => (await workspace.api('GET', path)).body;
  const [agent, call, document, tool, webhook] = await Promise.all([
    get('/v1/agents').then((b) => b.agents[0]),
    get('/v1/calls').then((b) => b.calls[0]),
    get('/v1/knowledge/documents').then((b) => b.documents[0]),
    get('/v1/tools').then((b) => b.tools[0]),
    get('/v1/webhooks').then((b) => b.webhooks[0]),
  ]);
  const lists = ['agents', 'calls', 'knowledge', 'tools', 'voices', 'webhooks', 'keys', 'members', 'settings'];
  const ones = [`agents/${agent.id}`, `calls/${call.id}`, `knowledge/${document.id}`, `tools/${tool.id}`, 'tools/new',
    `webhooks/${webhook.id}`];
  const paths = ['', ...[...lists, ...ones].map((name) => `/${name}`)];
  for (const path of paths) {
    await page.goto(`${service.url}/studio${path}`);
    await walk(path);
  }
  for (const name of ['Voice', 'Engines', 'Variables', 'Tools', 'Documents', 'Web button', 'Connections']) {
    await page.goto(`${service.url}/studio/agents/${agent.id}`);
    await press(page.locator('.tabs').getByRole('link', { name }));
    await walk(name);
  }
});

test('on a phone the menu opens and leads on; one signs out', { timeout: 300000 }, async () => {
  await page.setViewportSize({ width: 320, height: 700 });
  await page.goto(`${service.url}/studio`);
  await heading('Overview');
  await press(button('Menu'));
  await press(page.getByRole('link', { name: 'Settings', exact: true }));
  await heading('Settings');
  await press(button('Menu'));
  await press(button('Sign out'));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});
