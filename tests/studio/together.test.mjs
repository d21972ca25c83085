/* People at one thing, in a real browser: who saves after somebody else is told, whatever it is and however many they
 * are, and saves over what they were told of alone; what is not saved is not left by signing out without a question;
 * a request that was lost and goes on is waited for. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { openBrowser } from '../harness/browser.mjs';
import { makeWorkspace, startService, until } from '../harness/service.mjs';

const RECEIVER = 'http://127.0.0.1:9';
let service, workspace, browser, page;

before(async () => {
  service = await startService();
  workspace = await makeWorkspace(service);
  browser = await openBrowser();
  page = await browser.newPage();
  await page.setViewportSize({ width: 1280, height: 860 });
  const { link } = await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  await page.goto(`${service.url}/studio#link=${link}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
after(async () => { await browser?.close(); await service?.close(); });

const button = (name) => page.getByRole('button', { name, exact: true });
const saved = () => page.locator('.toast', { hasText: 'Saved.' }).first().waitFor();
const told = () => page.getByRole('dialog', { name: 'Somebody else has saved meanwhile' });

/* Made, and open in the browser. */
async function open(kind, entry, body, method) {
  const made = await workspace.api('POST', `/v1/${kind}`, body);
  assert.equal(made.status, 201, made.text);
  const path = `/v1/${kind}/${made.body[entry].id}`;
  await page.goto(`${service.url}${path.replace('/v1', '/studio')}`);
  return {
    path,
    change: async (fields) => assert.equal((await workspace.api(method, path, fields)).status, 200),
    read: async () => (await workspace.api('GET', path)).body[entry],
  };
}
const openAgent = (name) =>
  open('agents', 'agent', { name, greetingMode: 'static', greetingText: 'Hello.' }, 'PATCH');
const openTool = (name) =>
  open('tools', 'tool', { name, description: 'Looks up.', url: `${RECEIVER}/` }, 'PUT');

test('who saves over another is told of a third one', { timeout: 300000 }, async () => {
  const agent = await openAgent('Three');
  await page.getByLabel('What it says first').fill('Hello from Ann.');
  await agent.change({ greetingText: 'Hello from Bo.' });
  await button('Save').click();
  await told().waitFor();
  await agent.change({ greetingText: 'Hello from Cy.' });
  await button('Save mine over it').click();
  await told().getByRole('alert').waitFor();
  assert.equal((await agent.read()).greetingText, 'Hello from Cy.');
  await button('Save mine over it').click();
  await saved();
  assert.equal((await agent.read()).greetingText, 'Hello from Ann.');
});

test('a new key of the button takes nothing back that another has saved', { timeout: 300000 }, async () => {
  const agent = await openAgent('Rekeyed');
  await page.getByLabel('What it says first').waitFor(); // it was read before
  await agent.change({ greetingText: 'Hello from Bo.' });
  await page.locator('.tabs').getByRole('link', { name: 'Web button' }).click();
  const { publicKey } = await agent.read();
  await button('Replace the key').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace the key' }).click();
  await until(async () => !(await page.locator('form').textContent()).includes(publicKey), { what: 'the new key' });
  await page.locator('.tabs').getByRole('link', { name: 'Behaviour' }).click();
  await page.getByLabel('Name').fill('Rekeyed by Ann');
  await button('Save').click();
  await told().waitFor();
  await button('Save mine over it').click();
  await saved();
  const now = await agent.read();
  assert.deepEqual([now.name, now.greetingText], ['Rekeyed by Ann', 'Hello from Bo.']);
});

test('two people edit one tool: the second is told, and nothing is lost', { timeout: 300000 }, async () => {
  const tool = await openTool('two');
  await page.getByLabel('Name').fill('two_of_ann');
  await tool.change({ description: 'Looks up, says Bo.' });
  await button('Save').click();
  await told().getByText('You changed: Name').waitFor();
  await button('Save mine over it').click();
  await saved();
  const { name, description } = await tool.read();
  assert.deepEqual([name, description], ['two_of_ann', 'Looks up, says Bo.']);
  assert.equal(await page.getByLabel('Description').inputValue(), 'Looks up, says Bo.');
});

test('two people edit one subscription: the second is told, and may take what is saved', { timeout: 300000 },
  async () => {
    const webhook = await open('webhooks', 'webhook', { url: `${RECEIVER}/` }, 'PATCH');
    await page.getByLabel('Enabled').uncheck();
    await webhook.change({ url: `${RECEIVER}/bo` });
    await button('Save').click();
    await told().getByText('You changed: Enabled').waitFor();
    await button('Take what is saved').click();
    assert.equal(await page.getByLabel('Address').inputValue(), `${RECEIVER}/bo`);
    assert.deepEqual([(await webhook.read()).enabled, await page.getByLabel('Enabled').isChecked()], [true, true]);
  });

test('what is not saved is not left by signing out without a question', { timeout: 300000 }, async () => {
  await openTool('unsaved');
  await page.getByLabel('Name').fill('half');
  const questions = [];
  page.once('dialog', (dialog) => { questions.push(dialog.type()); return dialog.dismiss(); });
  await button('Sign out').click();
  await until(() => questions.length, { what: 'the question' });
  assert.equal(await page.getByLabel('Name').inputValue(), 'half');
  await page.getByLabel('Name').fill('unsaved');
});

test('a request that was lost, and that the service is still at, is waited for', { timeout: 300000 }, async (t) => {
  let runs = 0;
  const waiting = [];
  const endpoint = createServer((_, answer) => { runs++; waiting.push(answer); }).listen(0, '127.0.0.1');
  t.after(() => endpoint.close());
  await new Promise((done) => { endpoint.once('listening', done); });
  const { path } = await open('tools', 'tool',
    { name: 'slow', description: 'Takes long.', url: `http://127.0.0.1:${endpoint.address().port}/` }, 'PUT');
  await page.route(`**${path}/test`, async (route) => {
    route.fetch().catch(() => {});
    await until(() => waiting.length, { what: 'the run' });
    await route.abort();
  }, { times: 1 });
  const isRefused = page.waitForResponse((answer) => answer.status() === 409);
  await button('Run').click();
  await isRefused;
  waiting[0].end('it is there');
  await page.getByText('it is there').waitFor();
  assert.deepEqual([runs, await page.getByRole('alert').count()], [1, 0]);
});
