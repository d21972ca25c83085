/* What keeps a page's own state safe, in a real browser: what was typed into a webhook's form is neither left without
 * a question nor overwritten by the answer to a save; the list of voices shows what was asked for last; a test call
 * that is called off before it began is over, and there is one at a time; deliveries that wait are told, and
 * followed. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { openBrowser } from '../harness/browser.mjs';
import { makeWorkspace, startService, until } from '../harness/service.mjs';

const URL_OF = 'http://127.0.0.1:9/events';
let service, workspace, browser, page, webhook;

before(async () => {
  service = await startService();
  workspace = await makeWorkspace(service);
  ({ body: { webhook } } = await workspace.api('POST', '/v1/webhooks', { url: URL_OF }));
  browser = await openBrowser();
  page = await browser.newPage();
  await page.setViewportSize({ width: 1280, height: 860 });
  const { link } = await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  await page.goto(`${service.url}/studio#link=${link}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});
after(async () => { await browser?.close(); await service?.close(); });

/* Questions of the browser are answered so, and kept. */
let questions;
const answerWith = (isYes) => {
  questions = [];
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => {
    questions.push(dialog.type());
    return isYes ? dialog.accept() : dialog.dismiss();
  });
};
const address = () => page.getByLabel('Address');
const button = (name) => page.getByRole('button', { name, exact: true });
const menu = (name) => page.getByRole('link', { name, exact: true });
/* The form of the subscription as it is stored. */
async function open() {
  await page.goto(`${service.url}/studio/webhooks`);
  await page.locator(`a[href="/studio/webhooks/${webhook.id}"]`).click();
  await address().waitFor();
}
beforeEach(() => answerWith(true));

test('an edited webhook is not left without a question, in the studio or out of it', { timeout: 300000 }, async () => {
  await open();
  answerWith(false);
  await address().fill('http://127.0.0.1:9/half');
  await menu('Members').click();
  await until(() => questions.length === 1, { what: 'the question of the studio' });
  await page.evaluate(() => history.back());
  await until(() => questions.length === 2, { what: 'the question before going back' });
  await page.evaluate(() => location.reload()).catch(() => {});
  await until(() => questions.length === 3, { what: 'the question of the browser' });
  assert.deepEqual(questions, ['confirm', 'confirm', 'beforeunload']);
  assert.equal(await address().inputValue(), 'http://127.0.0.1:9/half');
  answerWith(true);
  await menu('Members').click();
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  await open();
  assert.deepEqual([questions, await address().inputValue()], [['confirm'], URL_OF]);
});

test('a webhook that is not edited, or is saved, is left without a question', { timeout: 300000 }, async () => {
  await open();
  await address().fill('http://127.0.0.1:9/typed');
  await address().fill(URL_OF);
  await menu('Members').click();
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  await open();
  await address().fill(`${URL_OF}/saved`);
  await button('Save').click();
  await page.locator('.toast', { hasText: 'Saved' }).first().waitFor();
  await menu('Members').click();
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  assert.deepEqual(questions, []);
});

test('what is typed into a webhook while it is saved stays, and is not saved yet', { timeout: 300000 }, async () => {
  await open();
  await page.route(`**/v1/webhooks/${webhook.id}`, async (route) => {
    const answer = await route.fetch();
    await address().fill(`${URL_OF}/second`);
    await route.fulfill({ response: answer });
  }, { times: 1 });
  await address().fill(`${URL_OF}/first`);
  await button('Save').click();
  await page.locator('.toast', { hasText: 'Saved' }).first().waitFor();
  assert.equal(await address().inputValue(), `${URL_OF}/second`);
  assert.equal((await workspace.api('GET', `/v1/webhooks/${webhook.id}`)).body.webhook.url, `${URL_OF}/first`);
  answerWith(false);
  await menu('Members').click();
  await until(() => questions.length === 1, { what: 'the question, since the second is not saved' });
});

/* Voices in two pages, whose names say what was asked for. */
async function fakeVoices(beforeSecond) {
  const { body: { voices: [voice] } } = await workspace.api('GET', '/v1/voices?limit=1');
  await page.route('**/v1/voices?*', async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const isSecond = query.has('after');
    if (isSecond && !(await beforeSecond(route))) return;
    const name = `${query.get('q') ?? 'any'} ${isSecond ? 'second' : 'first'}`;
    await route.fulfill({ json: { voices: [{ ...voice, id: name, name }], nextPage: isSecond ? null : 'next' } });
  });
  await page.goto(`${service.url}/studio/voices`);
  await page.getByRole('cell', { name: 'any first' }).first().waitFor();
}
const names = () => page.locator('td.name').allTextContents();

test('more voices that cannot be had are said, and can be asked for again', { timeout: 300000 }, async () => {
  let refusals = 1;
  await fakeVoices(async (route) => {
    if (refusals-- <= 0) return true;
    await route.fulfill({ status: 503, json: { error: 'x', code: 'UNAVAILABLE', status: 503 } });
    return false;
  });
  await button('Show more').click();
  await page.getByRole('alert').waitFor();
  assert.deepEqual(await names(), ['any first']);
  await button('Show more').click();
  await page.getByRole('cell', { name: 'any second' }).first().waitFor();
  assert.deepEqual([await names(), await page.getByRole('alert').count()], [['any first', 'any second'], 0]);
  await page.unrouteAll();
});

test('more voices of an older filter are not shown under the new one', { timeout: 300000 }, async () => {
  let release;
  const isHeld = new Promise((done) => { release = done; });
  await fakeVoices(async () => { await isHeld; return true; });
  await button('Show more').click();
  await page.getByLabel('Search').fill('anna');
  await page.getByRole('cell', { name: 'anna first' }).first().waitFor();
  release();
  await page.locator('button:not([aria-disabled])', { hasText: 'Show more' }).click(); // once the older is settled
  await page.getByRole('cell', { name: 'anna second' }).first().waitFor();
  assert.deepEqual(await names(), ['anna first', 'anna second']);
  await page.unrouteAll();
});

/* A test call's start, up to where `held` says: its answer is held until release(). */
async function holdStart() {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents', { name: 'Held', greetingMode: 'none' });
  let release;
  const isHeld = new Promise((done) => { release = done; });
  const started = new Promise((done) => {
    page.route('**/v1/calls', async (route) => {
      const answer = await route.fetch();
      done((await answer.json()).callId);
      await isHeld;
      await route.fulfill({ response: answer });
    }, { times: 1 });
  });
  await page.goto(`${service.url}/studio/agents/${agent.id}`);
  await button('Start a test call').click();
  return { agent, started, release };
}

async function leave() {
  await menu('Members').click();
  await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
}

for (const [how, callOff] of [['by its button', () => button('Cancel').click()], ['by leaving its page', leave]])
  test(`a test call that is called off ${how} while it is being started is ended`, { timeout: 300000 }, async () => {
    const { agent, started, release } = await holdStart();
    const id = await started;
    const find = async () => (await workspace.api('GET', `/v1/calls/${id}`)).body.call;
    assert.equal((await find()).userJoinedAt, null);
    await callOff();
    release();
    await until(async () => (await find()).status === 'ended', { what: 'the end of the call' });
    assert.deepEqual([(await find()).userJoinedAt, (await find()).endReason], [null, 'api']);
    await page.goto(`${service.url}/studio/agents/${agent.id}`);
    await button('Start a test call').waitFor();
  });

test('a test call that is called off while the microphone is asked for is not made', { timeout: 300000 }, async () => {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents', { name: 'Asked', greetingMode: 'none' });
  await page.goto(`${service.url}/studio/agents/${agent.id}`);
  await page.evaluate(() => {
    const { mediaDevices } = navigator, ask = mediaDevices.getUserMedia.bind(mediaDevices);
    let isFirst = true;
    mediaDevices.getUserMedia = (...args) => {
      if (!isFirst) return ask(...args);
      isFirst = false;
      return new Promise((done) => { globalThis.allow = () => done(ask(...args)); });
    };
  });
  await button('Start a test call').click();
  await page.waitForFunction(() => globalThis.allow);
  await button('Cancel').click();
  await page.evaluate(() => globalThis.allow());
  await button('Start a test call').click(); // the next one, which goes on to its end
  await button('Hang up').click();
  await page.getByRole('link', { name: 'Details of the call' }).waitFor();
  assert.equal((await workspace.api('GET', `/v1/calls?agentId=${agent.id}`)).body.total, 1);
});

/* An agent that is being saved for a test call: its answer is held until release(). */
async function holdSave(name) {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents', { name, greetingMode: 'none' });
  let release;
  const isHeld = new Promise((done) => { release = done; });
  const saves = [];
  await page.route(`**/v1/agents/${agent.id}`, async (route) => {
    if (route.request().method() === 'PATCH') {
      saves.push(route.request().postDataJSON());
      await isHeld;
    }
    await route.continue();
  });
  await page.goto(`${service.url}/studio/agents/${agent.id}`);
  await page.getByLabel('Instructions').fill('Be brief.');
  await button('Save and start a test call').click();
  await until(() => saves.length, { what: 'the save' });
  const calls = async () => (await workspace.api('GET', `/v1/calls?agentId=${agent.id}`)).body.calls;
  return { saves, release, calls };
}

test('what is saved for a test call starts one, however often its button is pressed', { timeout: 300000 }, async () => {
  const { saves, release, calls } = await holdSave('Pressed twice');
  await page.locator('.talk button').first().click({ force: true }); // whatever it says of itself
  release();
  await button('Hang up').click();
  await page.getByRole('link', { name: 'Details of the call' }).waitFor();
  const [call, ...others] = await calls();
  assert.deepEqual([saves.length, others.map(({ status }) => status)], [1, []]);
  await until(async () => (await calls())[0].status === 'ended', { what: `the end of ${call.id}` });
  await page.unrouteAll();
});

for (const [how, callOff] of [['by its button', () => button('Cancel').click()], ['by leaving its page', leave]])
  test(`a test call that is called off ${how} while its agent is saved is not made`, { timeout: 300000 }, async () => {
    const { release, calls } = await holdSave('Left while it is saved');
    await callOff();
    const isSaved = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
    release();
    await isSaved;
    await page.evaluate(() => navigator.mediaDevices.getUserMedia({ audio: true })); // as long as a start would take
    assert.deepEqual(await calls(), []);
    await page.unrouteAll();
  });

test('deliveries that wait are told with their next try, and followed to their end', { timeout: 300000 }, async () => {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents', { name: 'Told', greetingMode: 'none' });
  const { body: { callId } } = await workspace.api('POST', '/v1/calls', { agentId: agent.id });
  assert.equal((await workspace.api('POST', `/v1/calls/${callId}/end`)).status, 200);
  const { body: { events: [event] } } = await workspace.api('GET', `/v1/calls/${callId}/events`);
  const [known] = event.deliveries;
  const inAnHour = new Date(Date.now() + 3600000).toISOString();
  const states = ['waiting', 'delivered'];
  await page.route(`**/v1/calls/${callId}/events?*`, (route) => {
    const state = states.shift() ?? 'delivered';
    const delivery = (id, more) => ({ ...known, id, status: null, error: null, ...more });
    return route.fulfill({ json: { nextCursor: null, events: [{ ...event, deliveries: [
      delivery('1', { state: 'delivered', status: 200 }), delivery('2', { state, dueAt: inAnHour }),
      delivery('3', { state, dueAt: new Date(Date.now() + 7200000).toISOString() })] }] } });
  });
  await page.goto(`${service.url}/studio/calls/${callId}`);
  const line = page.locator('details summary', { hasText: event.type });
  const shown = await page.evaluate((iso) =>
    new Intl.DateTimeFormat('en', { timeStyle: 'medium' }).format(new Date(iso)), inAnHour);
  await line.getByText(`1 delivered, 0 failed, 2 waiting · next try at ${shown}`).waitFor();
  await line.getByText('3 delivered, 0 failed').waitFor(); // by itself
  assert.equal(await line.getByText('waiting').count(), 0);
  await page.unrouteAll();
});

test('long words make no page wider than a telephone', { timeout: 300000 }, async () => {
  const long = 'a'.repeat(200);
  const { body: { agent } } = await workspace.api('POST', '/v1/agents', { name: 'Long', greetingMode: 'none' });
  const { body: { webhook: { id } } } = await workspace.api('POST', '/v1/webhooks', { url: `${URL_OF}/${long}` });
  await workspace.api('POST', '/v1/knowledge/documents', { name: long, text: 'We are open from nine to five.' });
  await page.setViewportSize({ width: 360, height: 740 });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await page.goto(`${service.url}/studio/webhooks/${id}`);
  await page.getByRole('heading', { level: 1, name: 'Subscription' }).waitFor();
  assert.equal(await width(), 360);
  await page.goto(`${service.url}/studio/agents/${agent.id}`);
  await page.locator('.tabs').getByRole('link', { name: 'Documents' }).click();
  const { x, width: wide } = await page.locator('.check', { hasText: long }).locator('span').first().boundingBox();
  assert.ok(x + wide <= 360, `${x + wide} px`);
  assert.equal(await width(), 360);
});
