/* Pages that call, where several nodes share a database: they may connect to the nodes and to nobody else, and a page
 * that was loaded before a node began calls there all the same. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openBrowser } from '../harness/browser.mjs';
import { startPostgres } from '../harness/postgres.mjs';
import { makeWorkspace, startService, until } from '../harness/service.mjs';

const isPostgres = process.env.TEST_DATABASE === 'postgresql';
const option = { skip: !isPostgres && 'needs PostgreSQL', timeout: 300000 };
const CALLING = ['/studio', '/try', '/docs/button'];
let postgres, one, two, workspace, agent, browser;
const options = () => (
  { database: postgres.url, env: { EARSHOT_SERVICE_MASTER_KEY: master } });
const master = randomBytes(32).toString('hex');

before(async () => {
  if (!isPostgres) return;
  postgres = await startPostgres();
  one = await startService(options());
  workspace = await makeWorkspace(one);
  ({ body: { agent } } = await workspace.api('POST', '/v1/agents', {
    name: 'Nora', greetingMode: 'static', greetingText: 'Hello from afar.', embed: { enabled: true } }));
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await Promise.all([one?.close(), two?.close()]);
  await postgres?.stop();
});

const connects = async (path, { url } = one) => (await fetch(url + path)).headers.get('content-security-policy')
  .match(/connect-src ([^;]*)/)[1].split(' ');
const origins = ({ url }) => [url.replace('http', 'ws'), url];

/* A balancer that has the page from the one node and starts its calls on the other. */
async function balanced(page, path) {
  await page.route(`**${path}`, async (route) => {
    const headers = { ...await route.request().allHeaders(), origin: two.url };
    const answer = await route.fetch({ url: two.url + path, headers });
    await route.fulfill({ response: answer });
  });
}

test('pages may connect to the nodes alone; an open one calls on a node that began later', option, async () => {
  for (const path of CALLING) assert.deepEqual(await connects(path), ["'self'", ...origins(one)], path);
  const [studio, tried] = [await browser.newPage(), await browser.newPage()];
  const { link } = await one.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  await studio.goto(`${one.url}/studio#link=${link}`);
  await studio.getByRole('heading', { name: 'Overview' }).waitFor();
  await studio.goto(`${one.url}/studio/agents/${agent.id}`);
  await studio.getByRole('button', { name: 'Start a test call' }).waitFor();
  await tried.goto(`${one.url}/try#key=${agent.publicKey}`);
  two = await startService(options());
  await until(async () => (await connects('/try')).length > 3, { what: 'the first node to know of the second' });
  const both = ["'self'", ...origins(one), ...origins(two)];
  for (const path of CALLING) assert.deepEqual(await connects(path), both, path);

  await balanced(studio, '/v1/calls');
  await studio.getByRole('button', { name: 'Start a test call' }).click();
  await studio.locator('.bubbles .assistant', { hasText: 'Hello from afar.' }).waitFor();
  await studio.getByRole('button', { name: 'Hang up' }).click();
  await balanced(tried, '/v1/embed/calls');
  await tried.click('#start');
  await tried.locator('.agent-said', { hasText: 'Hello from afar.' }).waitFor();
  await tried.click('#end');
  const { body } = await workspace.api('GET', '/v1/calls');
  assert.equal(body.calls.length, 4, 'each page called twice: its policy named the node the second time');
});

test('a node that has left is one of which no page speaks', option, async () => {
  await two.stop();
  await until(async () => (await connects('/try')).length === 3, { what: 'the first node to see the other leave' });
});
