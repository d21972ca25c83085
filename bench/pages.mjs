/* What the studio's pages weigh and how soon they can be used, in headless Chromium: bytes over the wire, and milliseconds from the click to
 * a page with its heading, without a part that still loads. First visit (empty cache), then again; unthrottled, and as fast 3G (CDP: 1.44
 * Mbit/s down, 0.675 up, 562.5 ms). Medians of so many visits.
 *
 *     node bench/pages.mjs [visits, 5]      needs tests/node_modules (make test installs them) */
import assert from 'node:assert/strict';
import { makeWorkspace, startService, until } from '../tests/harness/service.mjs';
import { openBrowser } from '../tests/harness/browser.mjs';
import { signIn } from '../tests/harness/studio.mjs';

const VISITS = Number(process.argv[2] ?? 5);
const FAST_3G = { offline: false, downloadThroughput: 180000, uploadThroughput: 84375, latency: 562.5 };
const UNTHROTTLED = { offline: false, downloadThroughput: -1, uploadThroughput: -1, latency: 0 };
const USABLE = () => document.querySelector('.head') !== null && document.querySelector('.loading') === null;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/* ask(status, ...what api() takes): the body of an answer with that status; any other ends the run. */
const asking = (api) => async (status, ...rest) => {
  const answer = await api(...rest);
  assert.equal(answer.status, status, `${rest[0]} ${rest[1]}: ${answer.text}`);
  return answer.body;
};

/* A busy machine takes a few calls a moment, and refuses the others until the next: nothing that is measured here. */
function whenFull(error) {
  if (error.actual !== 503) throw error;
}

async function fill(ask) {
  const { agent } = await ask(201, 'POST', '/v1/agents', { name: 'Front desk', greetingMode: 'none' });
  for (let i = 0; i < 20; i++) {
    const { callId } = await until(() => ask(201, 'POST', '/v1/calls', { agentId: agent.id }).catch(whenFull), { what: 'a place for a call' });
    await ask(200, 'POST', `/v1/calls/${callId}/end`);
  }
  const { calls } = await ask(200, 'GET', '/v1/calls?limit=50');
  assert.equal(calls.length, 20);
  return { overview: '/studio', agent: `/studio/agents/${agent.id}`, calls: '/studio/calls', call: `/studio/calls/${calls[0].id}`, knowledge: '/studio/knowledge' };
}

async function visit(page, cdp, url, isCached) {
  let bytes = 0;
  const count = ({ encodedDataLength }) => { bytes += encodedDataLength; };
  cdp.on('Network.loadingFinished', count);
  await page.goto('about:blank');
  if (!isCached) await cdp.send('Network.clearBrowserCache');
  const began = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.waitForFunction(USABLE, undefined, { polling: 'raf' });
  const ms = performance.now() - began;
  await page.waitForLoadState('networkidle');
  cdp.off('Network.loadingFinished', count);
  return { ms, bytes };
}

async function visits(page, cdp, url, isCached) {
  const seen = [];
  for (let i = 0; i < VISITS; i++) seen.push(await visit(page, cdp, url, isCached));
  return `${(median(seen.map(({ bytes }) => bytes)) / 1000).toFixed(0).padStart(7)} kB ${median(seen.map(({ ms }) => ms)).toFixed(0).padStart(7)} ms`;
}

const service = await startService({ env: { EARSHOT_RATE_LIMIT: '0' } });
const workspace = await makeWorkspace(service, { calls: 50 });
const paths = await fill(asking(workspace.api));
const { cookie } = await signIn(service, { workspaceId: workspace.workspaceId });
const browser = await openBrowser();
const [name, value] = cookie.split('=');
await browser.addCookies([{ name, value, url: service.url }]);
const page = await browser.newPage();
const faults = []; // answers of the pages' own requests that are neither good nor 'not modified'
page.on('response', (response) => { if (!response.ok() && response.status() !== 304) faults.push(`${response.status()} ${response.url()}`); });
const cdp = await browser.newCDPSession(page);
await cdp.send('Network.enable');
console.log(`${''.padEnd(12)}${['first visit', 'again', 'first, fast 3G', 'again, fast 3G'].map((text) => text.padStart(21)).join('')}`);
for (const [title, path] of Object.entries(paths)) {
  const cells = [];
  for (const net of [UNTHROTTLED, FAST_3G]) {
    await cdp.send('Network.emulateNetworkConditions', net);
    for (const isCached of [false, true]) cells.push(await visits(page, cdp, service.url + path, isCached));
  }
  console.log(`${title.padEnd(12)}${cells.map((cell) => cell.padStart(21)).join('')}`);
}
await browser.close();
await service.close();
assert.deepEqual(faults, []);
