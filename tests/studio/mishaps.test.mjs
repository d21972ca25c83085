/* What befalls a call from the studio or the button that nobody wished: a microphone that is taken away, a call that is
 * over before its caller is through with joining, a service that dies. The page says so and has no call any more. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { openBrowser } from '../harness/browser.mjs';
import { makeWorkspace, startService, until } from '../harness/service.mjs';

const STANDIN = Object.fromEntries(
  ['STT', 'TTS', 'LLM'].map((kind) => [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true']),
);
const ENGINES = {
  voice: { provider: 'standin-tts' }, llm: { provider: 'standin-llm' }, stt: { provider: 'standin-stt' },
};
let service, workspace, browser, site, siteUrl;

before(async () => {
  service = await startService({ env: STANDIN });
  workspace = await makeWorkspace(service);
  browser = await openBrowser();
  const page = await browser.newPage();
  const { link } = await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  await page.goto(`${service.url}/studio#link=${link}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.close();
  site = createServer(({ url }, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><html lang="en"><title>A shop</title><earshot-call key="${url.slice(1)}" consent="off">
      </earshot-call><script src="${service.url}/embed/earshot.js"></script></html>`);
  });
  await new Promise((done) => site.listen(0, '127.0.0.1', done));
  siteUrl = `http://127.0.0.1:${site.address().port}`;
});
after(async () => {
  await browser?.close();
  site?.close();
  await service?.close();
});

const PLACES = {
  'the studio': { start: 'Start a test call', url: ({ id }) => `${service.url}/studio/agents/${id}` },
  'the button': { start: 'Talk to us', url: ({ publicKey }) => `${siteUrl}/${publicKey}` },
};
const button = (page, name) => page.getByRole('button', { name, exact: true });
const told = (page) => page.evaluate(() => globalThis.told);

/* A page before its call; prepare() runs in it first. */
async function open(place, prepare) {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents', { name: 'Desk', greetingMode: 'static',
    greetingText: 'Good day, and welcome.', embed: { enabled: true }, ...ENGINES });
  const page = await browser.newPage();
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(String(error)));
  await page.exposeFunction('endCalls', async () => {
    const { body: { calls } } = await workspace.api('GET', `/v1/calls?agentId=${agent.id}`);
    for (const { id } of calls) await workspace.api('POST', `/v1/calls/${id}/end`);
  });
  await page.addInitScript(() => {
    globalThis.told = [];
    for (const name of ['started', 'ended', 'error'])
      addEventListener(`earshot:${name}`, ({ detail }) => globalThis.told.push(`${name} ${detail.code ?? ''}`.trim()));
  });
  await page.addInitScript(prepare);
  await page.goto(PLACES[place].url(agent));
  await button(page, PLACES[place].start).click();
  return page;
}

/* globalThis.takeAway(): the device is gone, and there is no other; globalThis.giveBack(): there is one again. */
function withMicrophone() {
  const { mediaDevices } = navigator, ask = mediaDevices.getUserMedia.bind(mediaDevices), given = [];
  let isGone = false;
  mediaDevices.getUserMedia = async (...wanted) => {
    if (isGone) throw new DOMException('gone', 'NotFoundError');
    const stream = await ask(...wanted);
    given.push(...stream.getTracks());
    return stream;
  };
  globalThis.takeAway = () => {
    isGone = true;
    for (const track of given) {
      track.stop();
      track.dispatchEvent(new Event('ended')); // as a browser does for a device that is pulled out
    }
  };
  globalThis.giveBack = () => { isGone = false; };
}

for (const place of Object.keys(PLACES))
  test(`a microphone that is taken away within a call of ${place} is said`, { timeout: 300000 }, async () => {
    const page = await open(place, withMicrophone);
    await button(page, 'Hang up').waitFor();
    await page.evaluate(() => globalThis.takeAway());
    await page.getByRole('alert').getByText('The microphone is gone: you are not heard').waitFor();
    await button(page, 'Unmute').click();
    await page.getByRole('alert').getByText('No microphone was found').waitFor();
    await page.evaluate(() => globalThis.giveBack());
    await button(page, 'Unmute').click();
    await button(page, 'Mute').waitFor();
    assert.equal(await page.getByRole('alert').filter({ visible: true }).count(), 0);
    await page.waitForFunction(() => [document, document.querySelector('earshot-call')?.shadowRoot]
      .some((root) => root?.querySelector('meter')?.value > 0)); // the level is that of the new one
    await button(page, 'Hang up').click();
    await page.getByRole('status').getByText('The call has ended').waitFor();
    assert.deepEqual(page.errors, []);
    await page.close();
  });

/* The last step of joining waits until the call is over, and the page was told so. */
function endedWhileJoining() {
  const { play } = HTMLMediaElement.prototype, Socket = WebSocket;
  const sockets = [];
  globalThis.WebSocket = class extends Socket {
    constructor(...given) {
      super(...given);
      sockets.push(this);
    }
  };
  HTMLMediaElement.prototype.play = async function () {
    await globalThis.endCalls();
    while (sockets.some(({ readyState }) => readyState !== Socket.CLOSED))
      await new Promise((next) => { setTimeout(next, 10); });
    globalThis.isOver = true;
    return play.call(this);
  };
}

for (const place of Object.keys(PLACES))
  test(`a call of ${place} that is over while it is joined is none`, { timeout: 300000 }, async () => {
    const page = await open(place, endedWhileJoining);
    await page.waitForFunction(() => globalThis.isOver);
    await page.locator('[role=alert]:visible, [role=status]:has-text("has ended")').first().waitFor();
    assert.equal(await button(page, 'Hang up').count(), 0);
    const events = (await told(page)).join();
    assert.ok(['', 'error connect', 'started,ended'].includes(events), events);
    assert.deepEqual(page.errors, []);
    await page.close();
  });

test('a service that dies within calls is said on their pages', { timeout: 300000 }, async () => {
  const pages = await Promise.all(Object.keys(PLACES).map((place) => open(place, () => {})));
  for (const page of pages) await button(page, 'Hang up').waitFor();
  await service.stop('SIGKILL');
  for (const page of pages) await page.getByRole('status').getByText('Connection lost, trying again').waitFor();
  for (const page of pages) await page.locator('[role=alert]:visible').waitFor();
  for (const page of pages) assert.equal(await button(page, 'Hang up').count(), 0);
  assert.deepEqual(await told(pages[1]), ['started', 'ended', 'error connect']);
  assert.deepEqual(pages.flatMap(({ errors }) => errors), []);
});
