/* What a person has before them stays when an answer does not come, in a real browser: a next page that is refused is
 * said and can be asked for again; a list goes on from its own rows. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser } from '../harness/browser.mjs';
import { makeWorkspace, startService } from '../harness/service.mjs';

const MANY = 120;
let service, workspace, browser, page;

before(async () => {
  service = await startService({ env: { EARSHOT_RATE_LIMIT: '0' } });
  workspace = await makeWorkspace(service);
  for (let i = 0; i < MANY; i++)
    await workspace.api('POST', '/v1/tools',
      { name: `${i < MANY / 2 ? 'old' : 'new'}_${i}`, description: 'Looks up.', url: 'http://127.0.0.1:9/' });
  browser = await openBrowser();
  page = await browser.newPage();
  page.setDefaultTimeout(30000);
  await page.setViewportSize({ width: 1280, height: 860 });
  const { link } = await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  await page.goto(`${service.url}/studio#link=${link.replace(/.*#link=/, '')}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
after(async () => { await browser?.close(); await service?.close(); });

const button = (name) => page.getByRole('button', { name, exact: true });
const rows = () => page.locator('tbody tr');
const shown = (text) => page.locator('.more', { hasText: text }).waitFor();

for (const [status, code] of [[503, 'UNAVAILABLE'], [429, 'RATE_LIMITED']])
  test(`a next page of tools that is refused with ${status} is said and asked again`, { timeout: 300000 }, async () => {
    await page.goto(`${service.url}/studio/tools`);
    await shown(`50 of ${MANY}`);
    await page.route('**/v1/tools?*before=*', (route) => route.fulfill({ status, json: { error: 'x', code, status } }),
      { times: 1 });
    await button('Show more').click();
    await page.getByRole('alert').waitFor();
    assert.equal(await rows().count(), 50);
    await button('Show more').click();
    await shown(`100 of ${MANY}`);
    assert.equal(await page.getByRole('alert').count(), 0);
  });

test('a next page of calls that is refused is said, and asked for again', { timeout: 300000 }, async () => {
  let refusals = 1;
  const callOf = (n) => ({ id: `c${n}`, status: 'ended', endReason: 'api', source: 'api', metadata: { agentId: 'a' },
    createdAt: new Date(1e12 - n * 1000).toISOString(), participantIdentity: `caller ${n}`, durationSeconds: 1 });
  await page.route('**/v1/calls?*', (route) => {
    const isSecond = route.request().url().includes('before=');
    if (isSecond && refusals-- > 0) return route.fulfill({ status: 503, json: { error: 'x', code: 'X', status: 503 } });
    return route.fulfill({ json: { calls: [callOf(isSecond ? 2 : 1)], total: 2, nextCursor: isSecond ? null : 'n' } });
  });
  await page.goto(`${service.url}/studio/calls`);
  await shown('1 of 2');
  await button('Show more').click();
  await page.getByRole('alert').waitFor();
  await button('Show more').click();
  await shown('2 of 2');
  assert.equal(await page.getByRole('alert').count(), 0);
  await page.unrouteAll();
});

test('a list goes on from its own rows, not from where an older search has ended', { timeout: 300000 }, async () => {
  await page.goto(`${service.url}/studio/tools`);
  await page.getByLabel('Search').fill('old_');
  await shown(`50 of ${MANY / 2}`);
  let release;
  const isHeld = new Promise((done) => { release = done; });
  const isAsked = page.waitForRequest((request) => !request.url().includes('q='));
  await page.route('**/v1/tools?*', async (route) => { await isHeld; await route.continue(); });
  await page.getByLabel('Search').fill('');
  await isAsked;
  await button('Show more').click();
  release();
  await rows().filter({ hasText: 'new_' }).first().waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await page.locator('button:not([aria-disabled])', { hasText: 'Show more' }).click();
  await shown(`100 of ${MANY}`);
});
