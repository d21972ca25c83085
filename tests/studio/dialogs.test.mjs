/* axe-core looks at all of the studio that opens over a page: each dialog, with its faults and with what it shows once,
 * the questions before what cannot be undone, the suggestions, and the menu of a phone; light on a wide screen, dark on
 * a phone. SCREENSHOTS names a directory for pictures. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { faults } from '../harness/axe.mjs';
import { makeWorkspace, root, startService } from '../harness/service.mjs';
import { openBrowser } from '../harness/browser.mjs';
import { signIn } from '../harness/studio.mjs';

const WIDE = { width: 1280, height: 860 }, PHONE = { width: 320, height: 700 };
let service, browser, page;
const ids = {};

before(async () => {
  service = await startService();
  const { workspaceId, api } = await makeWorkspace(service);
  const make = async (path, body) => {
    const answer = await api('POST', path, body);
    assert.ok(answer.status < 300, answer.text);
    return answer.body;
  };
  ids.tool = (await make('/v1/tools', { name: 'order_status', description: 'Looks up.', url: 'http://127.0.0.1:9/' }))
    .tool.id;
  ids.document = (await make('/v1/knowledge/documents', { name: 'Hours', text: 'We are open from nine to five.' }))
    .document.id;
  ids.agent = (await make('/v1/agents', { name: 'Desk', greetingMode: 'none' })).agent.id;
  ids.webhook = (await make('/v1/webhooks', { url: 'http://127.0.0.1:9/hook' })).webhook.id;
  ids.call = (await make('/v1/calls', { agentId: ids.agent })).callId;
  const ann = await signIn(service, { workspaceId, email: 'ann@example.com' });
  const { status } = await ann('POST', '/v1/members', { name: 'Vic', email: 'vic@example.com', role: 'viewer' });
  assert.equal(status, 201);
  ids.change = () => api('PATCH', `/v1/agents/${ids.agent}`, { name: `Desk ${Date.now()}` });
  browser = await openBrowser();
  const [name, value] = ann.cookie.split('=');
  await browser.addCookies([{ name, value, url: service.url }]);
  page = await browser.newPage();
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(String(error)));
  page.on('dialog', (dialog) => dialog.accept()); // leave what was typed
});

after(async () => {
  await browser?.close();
  await service?.close();
});

const dialog = () => page.getByRole('dialog');
const press = (name, where = page) => where.getByRole('button', { name, exact: true }).first().click();
const inDialog = (name) => press(name, dialog());
const tab = (name) => page.locator('.tabs a', { hasText: name }).click();
const fill = (label, text, where = dialog()) => where.getByLabel(label).fill(text);

/* Where it opens, and how. Their titles are those of the studio's sources: see the last test. */
const OPENED = {
  'agents.template': ['/agents', () => press('New agent')],
  'agents.new': ['/agents', async () => {
    await press('New agent');
    await dialog().getByRole('button', { name: /^Front desk/ }).click();
  }],
  'agents.new with a fault': ['/agents', async () => {
    await press('New agent');
    await dialog().getByRole('button', { name: /^Empty/ }).click();
    await inDialog('Create');
    await dialog().locator('.fault').waitFor();
  }],
  'conflict.title': [() => `/agents/${ids.agent}`, async () => {
    await fill('Name', 'Mine', page);
    await ids.change();
    await press('Save');
  }],
  'agent.remove': [() => `/agents/${ids.agent}`, () => press('Remove')],
  'embed.rotate': [() => `/agents/${ids.agent}`, async () => {
    await tab('Web button');
    await press('Replace the key');
  }],
  'knowledge.addText': ['/knowledge', () => press('Add text')],
  'knowledge.addText with faults': ['/knowledge', async () => {
    await press('Add text');
    await inDialog('Add');
    await dialog().locator('.fault').first().waitFor();
  }],
  'knowledge.remove': ['/knowledge', () => press('Remove Hours')],
  'tool.remove': [() => `/tools/${ids.tool}`, () => press('Remove')],
  'webhooks.new': ['/webhooks', () => press('New subscription')],
  'webhooks.new with a fault': ['/webhooks', async () => {
    await press('New subscription');
    await fill('Address', 'http://10.1.2.3/');
    await inDialog('Create');
    await dialog().locator('.fault').waitFor();
  }],
  'webhook.made': ['/webhooks', async () => {
    await press('New subscription');
    await fill('Address', 'http://127.0.0.1:9/more');
    await inDialog('Create');
    await dialog().locator('.secret').waitFor();
  }],
  'webhook.remove': [() => `/webhooks/${ids.webhook}`, () => press('Remove')],
  'keys.new': ['/keys', () => press('New key')],
  'keys.new with a fault': ['/keys', async () => {
    await press('New key');
    await inDialog('Create');
    await dialog().locator('.fault').waitFor();
  }],
  'keys.made': ['/keys', async () => {
    await press('New key');
    await fill('Name', 'Till');
    await inDialog('Create');
    await dialog().locator('.secret').waitFor();
  }],
  'keys.revoke': ['/keys', () => press('Revoke test')],
  'members.invite': ['/members', () => press('Invite')],
  'members.edit': ['/members', () => press('Edit Vic')],
  'members.link': ['/members', () => press('New link for Vic')],
  'members.remove': ['/members', () => press('Remove Vic')],
  'call.end': [() => `/calls/${ids.call}`, () => press('End the call')],
};

async function lookAt(name, path, open, opened) {
  await page.setViewportSize(WIDE);
  await page.goto(`${service.url}/studio/icon.svg`); // a page of nothing
  await page.evaluate(() => localStorage.clear()); // what was typed before
  await page.goto(`${service.url}/studio${typeof path === 'function' ? path() : path}`);
  await page.waitForFunction(() => document.querySelector('.head') && !document.querySelector('.loading'));
  await open();
  await opened().waitFor();
  const all = page.getByRole('dialog'), named = page.getByRole('dialog', { name: /\S/ });
  assert.equal(await named.count(), await all.count(), 'a dialog is called by its title'); // no rule of axe-core's yet
  const picture = (theme) => process.env.SCREENSHOTS &&
    page.screenshot({ path: join(process.env.SCREENSHOTS, `open-${name.replace(/\W+/g, '-')}-${theme}.png`) });
  for (const [colorScheme, size] of [['light', WIDE], ['dark', PHONE]]) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    assert.deepEqual(await faults(page, `${name} ${colorScheme}`), []);
    const box = await opened().boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= size.width, `${name} is wider than the screen`);
    await picture(colorScheme);
  }
  await page.emulateMedia({ colorScheme: null });
  assert.deepEqual(page.errors.splice(0), []);
}

for (const [name, [path, open]] of Object.entries(OPENED))
  test(`axe finds nothing: ${name}`, { timeout: 300000 }, () => lookAt(name, path, open, dialog));

test('axe finds nothing: suggestions in the instructions', { timeout: 300000 }, () =>
  lookAt('suggestions', () => `/agents/${ids.agent}`, () => page.getByLabel('Instructions').pressSequentially('@or'),
    () => page.getByRole('listbox')));

test('axe finds nothing: the menu of a phone', { timeout: 300000 }, () => lookAt('menu', '', async () => {
  await page.setViewportSize(PHONE);
  await press('Menu');
}, () => page.locator('.side.is-open')));

test('no dialog of the studio is left out', () => {
  const folder = join(root, 'studio/app/pages');
  const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
  const titles = [...sources.matchAll(/<\$\{Dialog\} title=\$\{(.*?)\} onClose|\bsure\((t\('[\w.]+'\))/g)]
    .flatMap(([, dialogs, questions]) => [...(dialogs ?? questions).matchAll(/t\('([\w.]+)'/g)].map(([, key]) => key));
  assert.ok(titles.length > 15, titles.join());
  assert.deepEqual(titles.filter((title) => !(title in OPENED)), []);
});
