/* The studio as a person uses it, in a real browser: from the printed link through an agent, a document, a tool, a
 * test call, a webhook and a key; two people at one agent; names that would be markup; every page in both themes and
 * both languages. SCREENSHOTS names a directory for pictures of every page. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { faults as faultsOf } from '../harness/axe.mjs';
import { openBrowser, speechFile } from '../harness/browser.mjs';
import { person } from '../harness/studio.mjs';

const TAG = '<img src=x onerror="globalThis.hacked=1">';
const NASTY = `${TAG}"'&{{x}}`;
let service, workspace, browser, page, receiver, receiverUrl;
const received = [];

before(async () => {
  service = await startService();
  workspace = await makeWorkspace(service, { calls: 5, name: NASTY });
  receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, body });
      response.end(JSON.stringify({ state: request.url === '/nasty' ? NASTY : 'on its way' }));
    });
  });
  await new Promise((done) => receiver.listen(0, '127.0.0.1', done));
  receiverUrl = `http://127.0.0.1:${receiver.address().port}`;
  browser = await openBrowser({ microphone: speechFile('What are your opening hours?', { before: 7 }) });
  page = await newPage();
});

after(async () => {
  await browser?.close();
  receiver?.close();
  await service?.close();
});

async function newPage() {
  const made = await browser.newPage();
  made.errors = [];
  made.on('pageerror', (error) => made.errors.push(String(error)));
  made.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) made.errors.push(message.text());
  });
  made.on('request', (request) => {
    if (!request.url().startsWith(service.url) && !/^(data|blob):/.test(request.url()))
      made.errors.push(`asked ${request.url()}`);
  });
  made.open = new Set();
  made.on('request', (request) => made.open.add(request));
  for (const end of ['requestfinished', 'requestfailed']) made.on(end, (request) => made.open.delete(request));
  await made.setViewportSize({ width: 1280, height: 860 });
  return made;
}

const button = (name, where = page) => where.getByRole('button', { name, exact: true });
const link = async (...args) =>
  (await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json', ...args)).link;
const at = (path, where = page) => where.goto(`${service.url}${path}`);
const said = (text, where = page) => where.locator('.toast', { hasText: text }).first().waitFor();

const faults = (name) => faultsOf(page, name);

test('the printed link signs in once; a used one says so', { timeout: 300000 }, async () => {
  const one = await link('--email', 'ann@example.com');
  await at('/');
  await page.getByRole('link', { name: 'The studio' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await at(`/docs`);
  await at(`/studio#link=${one}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.equal(new URL(page.url()).hash, '', 'the link is not kept in the address');
  assert.equal(await page.evaluate(() => document.cookie), '', 'no script reads the session');
  assert.match(await page.textContent('.steps'), /Make an agent/);
  await browser.clearCookies();
  await at('/docs');
  await at(`/studio#link=${one}`);
  assert.match(await page.getByRole('alert').textContent(), /used already/);
  await at('/docs');
  await at(`/studio#link=${await link('--email', 'ann@example.com')}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test('a link pasted into the open page signs in; who is signed in leaves it unused', { timeout: 300000 }, async () => {
  await browser.clearCookies();
  await at('/docs');
  await at('/studio');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await at(`/studio#link=${await link('--email', 'ann@example.com')}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const unused = await link('--email', 'ann@example.com');
  await at('/docs');
  await at(`/studio#link=${unused}`);
  await said('signed in already');
  assert.equal(new URL(page.url()).hash, '', 'it is not kept for who signs out');
  await at(`/studio#link=${unused}`);
  await until(() => new URL(page.url()).hash === '', { what: 'the pasted link to be dropped' });
  await button('Sign out').click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await at(`/studio#link=${unused}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
});

test(
  'an agent is made from a template, edited, and its faults stand at their fields',
  { timeout: 300000 },
  async () => {
    await at('/studio/agents');
    await button('New agent').first().click();
    await page.getByRole('button', { name: /^Front desk/ }).click();
    await page.getByLabel('Name').fill(NASTY);
    await button('Create').click();
    await page.getByRole('heading', { level: 1, name: NASTY }).waitFor();
    await page.getByLabel('Name').fill('Reception');
    await page.getByRole('link', { name: 'Voice', exact: true }).click();
    await page.getByLabel('Speed').fill('9');
    await page.getByLabel('Speed').press('Enter');
    await button('Save').click();
    await page.locator('.fault').waitFor();
    assert.equal(await page.getByLabel('Speed').getAttribute('aria-invalid'), 'true');
    assert.match(await page.locator('.tabs .has-fault').textContent(), /Voice/);
    await page.getByLabel('Speed').fill('1.1');
    await page.reload();
    await page.getByText('Your changes from before are still here').waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'Reception');
    await button('Save').click();
    await said('Saved.');
    const { agents } = (await workspace.api('GET', '/v1/agents')).body;
    assert.deepEqual([agents[0].name, agents[0].voice.speed], ['Reception', 1.1]);
  },
);

test('a voice is heard before it is saved, its faults stand at their fields', { timeout: 300000 }, async () => {
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  const listen = async (name) => { // how long what was played to its end lasted
    await page.evaluate(() => {
      const { play } = HTMLMediaElement.prototype;
      globalThis.heard = [];
      HTMLMediaElement.prototype.play = function () {
        this.addEventListener('ended', () => globalThis.heard.push(this.duration));
        HTMLMediaElement.prototype.play = play;
        return play.call(this);
      };
    });
    await button(name).first().click();
    await button('Stop').waitFor();
    await page.waitForFunction(() => globalThis.heard.length);
    await button(name).first().waitFor();
    return page.evaluate(() => globalThis.heard[0]);
  };
  await at(`/studio/agents/${agent.id}`);
  await page.getByRole('link', { name: 'Voice', exact: true }).click();
  assert.ok(await listen('Listen to this voice') > 0.5);
  await page.getByLabel('Speed').fill('9');
  await button('Listen to this voice').click();
  await page.locator('.field .fault').waitFor();
  assert.equal(await page.getByLabel('Speed').getAttribute('aria-invalid'), 'true');
  assert.deepEqual(await faults('a voice that cannot be heard'), []);
  await page.getByLabel('Speed').fill('2');
  await button('Listen to this voice').click();
  await button('Stop').click();
  await button('Listen to this voice').waitFor();
  await button('Discard').click();
  await at('/studio/voices');
  const { voices: [voice] } = (await workspace.api('GET', '/v1/voices')).body;
  assert.ok(await listen(`Listen to ${voice.name}`) > 0.5);
  assert.deepEqual(page.errors, []);
});

test("the studio's files are kept by browsers, for as long as they are the same", { timeout: 300000 }, async () => {
  const answer = await fetch(`${service.url}/studio`);
  assert.equal(answer.headers.get('cache-control'), 'no-cache');
  const named = [...(await answer.text()).matchAll(/(?:href|src)="([^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  assert.ok(named.length <= 6, 'what a page waits for comes over the six connections that browsers open');
  assert.ok(!named.some((path) => /livekit|uplot\.js/.test(path)), 'without what only a call or a chart needs');
  for (const path of named) {
    const file = await fetch(service.url + path);
    assert.equal(file.status, 200, path);
    assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable', path);
    assert.equal(file.headers.get('content-encoding'), 'gzip', path);
    const later = await fetch(service.url + path.replace(/\/v\/[0-9a-f]+\//, '/v/0123/'));
    assert.deepEqual([later.status, later.headers.get('cache-control')], [200, 'no-cache'], path);
    assert.equal(await later.text(), await file.text());
  }
  const asked = [];
  const note = (request) => asked.push(new URL(request.url()).pathname);
  page.on('request', note);
  await at('/studio');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  page.off('request', note);
  const isNamed = (path) => named.includes(path) || path.endsWith('/uplot.js');
  assert.deepEqual(asked.filter((path) => /\.(js|css)$/.test(path) && !isNamed(path)), []);
  const files = asked.filter((path) => path.startsWith('/studio/v/'));
  assert.equal(new Set(files).size, files.length, 'nothing is asked for twice');
});

test('the studio asks who is there while it is still on its way', { timeout: 300000 }, async () => {
  const fresh = await newPage();
  let come;
  const asked = new Promise((done) => { come = done; });
  let count = 0;
  await fresh.route('**/v1/me', (route) => {
    count++;
    come();
    return route.continue();
  });
  await fresh.route('**/studio.js', async (route) => { await asked; await route.continue(); });
  await at('/studio/settings', fresh);
  await fresh.getByRole('heading', { name: 'Settings' }).waitFor();
  assert.equal(count, 1, 'and once');
  assert.deepEqual(fresh.errors, []);
  await fresh.close();
});

test('an address that is no encoding of anything shows that there is nothing', { timeout: 300000 }, async () => {
  await at('/studio/agents/%zz');
  await page.getByText('There is nothing here').waitFor();
  assert.deepEqual(page.errors, []);
});

test('two people edit one agent: the second is told, and nothing is lost', { timeout: 300000 }, async () => {
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  await at(`/studio/agents/${agent.id}`);
  await page.getByLabel('What it says first').fill('Hello from Ann.');
  await workspace.api('PATCH', `/v1/agents/${agent.id}`, { name: 'Renamed by Bo' });
  await button('Save').click();
  const told = page.getByRole('dialog');
  await told.waitFor();
  assert.match(await told.textContent(), /Somebody else has saved.*What it says first/s);
  assert.deepEqual(await faults('conflict'), []);
  await button('Save mine over it').click();
  await said('Saved.');
  const { agent: now } = (await workspace.api('GET', `/v1/agents/${agent.id}`)).body;
  assert.deepEqual([now.name, now.greetingText], ['Renamed by Bo', 'Hello from Ann.']);
});

/* The page of an agent that is there for this test alone. */
async function agentFor(t) {
  const { body, text } = await workspace.api('POST', '/v1/agents', { name: 'Drafts', greetingMode: 'static',
    greetingText: 'Hello.', variables: { city: { defaultValue: 'Pune' } } });
  assert.ok(body.agent, text);
  const path = `/v1/agents/${body.agent.id}`;
  t.after(() => workspace.api('DELETE', path));
  await at(`/studio/agents/${body.agent.id}`);
  const read = async () => (await workspace.api('GET', path)).body.agent;
  return { path, read, greeting: page.getByLabel('What it says first') };
}
const isSaved = () => page.getByText('Everything is saved');

test('a draft of before is one only until it is saved', { timeout: 300000 }, async (t) => {
  const { greeting, read } = await agentFor(t);
  for (const text of ['Hello once.', 'Hello twice.']) {
    await greeting.fill(text);
    await page.reload();
    await page.getByText('Your changes from before are still here').waitFor();
    await button('Save').click();
    await isSaved().or(page.getByRole('dialog')).first().waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0, 'nobody else has saved');
    assert.equal((await read()).greetingText, text);
  }
});

test('what is typed while a save is under way stays, not saved yet', { timeout: 300000 }, async (t) => {
  const { path, greeting, read } = await agentFor(t);
  await page.route(`**${path}`, async (route) => {
    if (route.request().method() === 'PATCH') await greeting.fill('Hello, and more.');
    await route.continue();
  });
  await page.getByLabel('Name').fill('Drafts and more');
  await button('Save').click();
  await said('Saved.');
  await page.unroute(`**${path}`);
  assert.equal(await greeting.inputValue(), 'Hello, and more.');
  const saved = await read();
  assert.deepEqual([saved.name, saved.greetingText], ['Drafts and more', 'Hello.']);
  await button('Save').click();
  await isSaved().waitFor();
  assert.equal((await read()).greetingText, 'Hello, and more.');
});

test('variables that are discarded are gone from their lines', { timeout: 300000 }, async (t) => {
  await agentFor(t);
  await page.getByRole('link', { name: 'Variables', exact: true }).click();
  const values = page.getByLabel('When none is sent');
  await values.fill('Delhi');
  await button('Add a variable').click();
  await button('Discard').click();
  await isSaved().waitFor();
  assert.deepEqual([await values.count(), await values.first().inputValue()], [1, 'Pune']);
});

test('a fault stands at its field, whichever it is', { timeout: 300000 }, async (t) => {
  const { path, greeting } = await agentFor(t);
  const tabs = { 'toolIds[1]': 'Tools', 'documentIds[0]': 'Documents', 'stt.detectLanguage': 'Engines',
    'systemTools.endCall': 'Tools', 'variables.city.description': 'Variables', 'embed.enabled': 'Web button' };
  const details = Object.keys(tabs).map((field) => ({ field, message: `this is wrong with ${field}` }));
  await page.route(`**${path}`, (route) => route.request().method() !== 'PATCH' ? route.continue()
    : route.fulfill({ status: 400, json: { code: 'VALIDATION_FAILED', error: 'The request is not valid.', details } }));
  await greeting.fill('Hello there.');
  await button('Save').click();
  await page.getByText(`${details.length} fields need your attention`).waitFor();
  for (const [field, tab] of Object.entries(tabs)) {
    await page.locator('.tabs').getByRole('link', { name: tab }).click();
    await page.locator('.fault', { hasText: `this is wrong with ${field}` }).waitFor();
    assert.deepEqual(await faults(field), []);
  }
  assert.equal(await button('Copy').count(), 2, 'of what is pasted into a page, and of its key');
  await page.unroute(`**${path}`);
  await button('Discard').click();
});

test('a document is dropped in, found by a question, and given to the agent', { timeout: 300000 }, async () => {
  const keys = []; // of the tries: the first is lost on its way
  await page.route(/documents\?name=/, (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    return keys.length === 1 ? route.abort() : route.continue();
  });
  await at('/studio/knowledge');
  await page.locator('input[type=file]').setInputFiles({
    name: 'hours.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from(
      'We are open from nine in the morning to five in the evening on every day but Sunday. Our opening hours ' +
      'on holidays are the same.',
    ),
  });
  await page.getByRole('row', { name: /hours\.txt/ }).getByText('Ready').waitFor();
  await page.unroute(/documents\?name=/);
  assert.ok(keys.length === 2 && keys[0] && keys[0] === keys[1], `a document is added once: ${keys}`);
  await page.getByLabel('A question of a caller').fill('When are you open?');
  await page
    .locator('form', { has: page.getByLabel('A question of a caller') })
    .getByRole('button', { name: 'Search' })
    .click();
  await page.getByText(/nine in the morning/).waitFor();
  await page.locator('mark', { hasText: /^open$/ }).first().waitFor();
  assert.deepEqual(await faults('found, light'), []);
  await choose('earshot.theme', 'dark');
  await page.locator('html[data-theme=dark]').waitFor();
  assert.deepEqual(await faults('found, dark'), []);
  await choose('earshot.theme', null);
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  await at(`/studio/agents/${agent.id}`);
  await page.getByRole('link', { name: 'Documents', exact: true }).click();
  await page.getByLabel('hours.txt').check();
  await button('Save').click();
  await said('Saved.');
});

test('a tool is made, tested, and completed by its name in the instructions', { timeout: 300000 }, async () => {
  await at('/studio/tools');
  await page.getByRole('link', { name: 'New tool' }).first().click();
  await page.getByLabel('Name').fill('Order status');
  await page.getByLabel('Description').fill(NASTY);
  await page.getByLabel('Address').fill('http://10.1.2.3/x');
  await button('Create').click();
  assert.match(await page.locator('.fault').textContent(), /not a public/);
  await page.getByLabel('Address').fill(`${receiverUrl}/orders`);
  await button('Create').click();
  await page.getByRole('heading', { level: 1, name: 'order_status' }).waitFor();
  const questions = [];
  page.once('dialog', (dialog) => {
    questions.push(dialog.message());
    return dialog.dismiss();
  });
  await page.getByLabel('Description').fill('Half a');
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await until(() => questions.length, { what: 'the question before what was typed is lost' });
  assert.equal(await page.getByLabel('Description').inputValue(), 'Half a');
  await page.getByLabel('Description').fill(NASTY);
  await button('Run').click();
  await page.getByText('on its way').waitFor();
  assert.equal(received.at(-1).headers['x-service-test-call'], 'true');
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  await at(`/studio/agents/${agent.id}`);
  const area = page.getByLabel('Instructions');
  await area.press('Control+End');
  await area.pressSequentially(' Use @ord');
  await page.getByRole('option', { name: 'order_status' }).waitFor();
  await area.press('Enter');
  assert.match(await area.inputValue(), /Use @order_status $/);
  await button('Save').click();
  await said('Saved.');
});

test(
  'a webhook is made and its secret shown once; a test call answers from the document and is told to it',
  { timeout: 300000 },
  async () => {
    await at('/studio/webhooks');
    await button('New subscription').first().click();
    await page.getByRole('textbox', { name: 'Address' }).fill(`${receiverUrl}/hook`);
    await button('Create').click();
    await page.getByText('It is shown this once').waitFor();
    assert.match(await page.locator('.secret code').textContent(), /^whsec_/);
    await page.getByRole('link', { name: 'Done' }).click();
    await button('Send a test').click();
    await page.getByText('The test was answered with 200.').waitFor();
    const {
      agents: [agent],
    } = (await workspace.api('GET', '/v1/agents')).body;
    await at(`/studio/agents/${agent.id}`);
    await button('Start a test call').click();
    await page.locator('.bubbles .assistant', { hasText: 'Hello from Ann' }).first().waitFor();
    await page.locator('.bubbles .user:not(.is-interim)', { hasText: /open/i }).first().waitFor();
    await page.locator('.bubbles .assistant', { hasText: /nine|holidays/i }).first().waitFor();
    await page.locator('.runs summary', { hasText: /[1-9] found/ }).last().click();
    await page.locator('.runs blockquote', { hasText: 'hours.txt' }).first().waitFor();
    await page.locator('.fall li').first().waitFor(); // where the answer's time went, once it was said
    await picture('test-call');
    assert.deepEqual(await faults('test call'), []);
    await button('Hang up').click();
    await page.getByRole('link', { name: 'Details of the call' }).click();
    await page.locator('.bubbles .user', { hasText: /open/i }).first().waitFor();
    await page.locator('.fall li').first().waitFor();
    await until(() => received.some((one) => one.path === '/hook' && one.headers['x-service-event'] === 'call.ended'), {
      what: 'the webhook of the end',
    });
    const {
      calls: [call],
    } = (await workspace.api('GET', '/v1/calls')).body;
    assert.equal(call.source, 'studio');
    const told = page.locator('details', { hasText: 'call.ended' }); // once more, by hand
    await page.getByRole('button', { name: 'Refresh' }).click();
    await told.locator('summary').click();
    await told.getByText('Delivered 200').waitFor();
    await picture('events');
    assert.deepEqual(await faults('events'), []);
    await button('Send call.ended again').click();
    await said('It is sent again.');
    const isEnd = (one) => one.path === '/hook' && one.headers['x-service-event'] === 'call.ended';
    await until(() => received.filter(isEnd).length === 2, { what: 'the event again' });
  },
);

test('calls are found by how, by whom and when', { timeout: 300000 }, async () => {
  await at('/studio/calls');
  const rows = page.getByRole('table').getByRole('row');
  await until(async () => (await rows.count()) === 2, { what: 'the call' });
  await page.getByLabel('Ended by').selectOption('Nobody joined');
  await page.getByText('No call fits').waitFor();
  await button('Show all calls').click();
  await page.getByLabel('Ended by').selectOption('Caller hung up');
  await page.getByLabel('Started by').selectOption('test call');
  await until(async () => (await rows.count()) === 2, { what: 'the call, by its end and its source' });
  await page.getByLabel('Day (UTC)').fill('2020-02-29');
  await page.getByText('No call fits').waitFor();
  await button('Show all calls').click();
  await until(async () => (await rows.count()) === 2, { what: 'all calls' });
});

test('the overview draws its days, in the colours of the theme', { timeout: 300000 }, async () => {
  const colours = async (name) => page.evaluate(([label]) => {
    const canvas = document.querySelector(`[aria-label="${label}"] canvas`);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add(data.slice(i, i + 3).join());
    return [...seen];
  }, [name]);
  await until(async () => (await workspace.api('GET', '/v1/usage?days=1')).body.usage.total.calls > 0);
  await at('/studio');
  await page.locator('.uplot').first().waitFor();
  assert.ok((await colours('Calls a day')).includes('29,107,88'), 'a column in --chart-1 of the light theme');
  assert.match(await page.locator('figure table').first().textContent(), /Day.*Calls.*1/s);
  for (const name of ['Minutes a day', 'Spent a day'])
    await page.locator(`.chart[aria-label="${name}"] canvas`).waitFor();
  await page.evaluate(() => localStorage.setItem('earshot.theme', 'dark'));
  await at('/studio');
  await page.locator('.uplot').first().waitFor();
  assert.ok((await colours('Calls a day')).includes('70,182,151'), 'and in that of the dark one');
  await page.evaluate(() => localStorage.removeItem('earshot.theme'));
  assert.deepEqual(page.errors, []);
});

test('a key is made, shown once, used from outside, and revoked', { timeout: 300000 }, async () => {
  await at('/studio/keys');
  await button('New key').first().click();
  await page.getByLabel('Name').fill(NASTY);
  await button('Create').click();
  const key = (await page.locator('.secret code').textContent()).trim();
  const line = await page.locator('[role=dialog] pre, dialog pre').textContent();
  const [, url, header, given] = line.match(/^curl -s (\S+) -H "(\S+): (.+)"$/); // what a shell makes of it
  assert.equal(given, `Bearer ${key}`);
  assert.equal((await fetch(url, { headers: { [header]: given } })).status, 200, 'the line that it tells to try');
  await button('Done').click();
  await button(`Revoke ${NASTY}`).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await said('Revoked.');
  await until(async () => (await client(service, key)('GET', '/v1/me')).status === 401, { what: 'the end of the key' });
});

test(
  'an owner invites a viewer, who sees and cannot change; a password takes the place of links',
  { timeout: 300000 },
  async () => {
    await at('/studio/members');
    await button('Invite').click();
    await page.getByLabel('Name').fill('Vic');
    await page.getByLabel('E-mail').fill('vic@example.com');
    await page.getByLabel('Role').selectOption('viewer');
    await button('Make a link').click();
    const invited = (await page.locator('.secret code').textContent()).trim();
    await browser.clearCookies();
    await page.goto('about:blank');
    await page.goto(invited);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'API keys' }).count(), 0);
    await at('/studio/keys');
    await page.getByText('There is nothing here').waitFor();
    await at('/studio/agents');
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    await page.getByRole('table').waitFor();
    assert.equal(await button('New agent').count(), 0);
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByText('Your role looks at agents').waitFor();
    assert.equal(await page.getByLabel('Name').isDisabled(), true);
    await at('/studio/settings');
    await page.getByLabel('New password').fill('correct horse battery');
    await button('Save').click();
    await said('The password is set.');
    await button('Sign out').click();
    await page.getByLabel('E-mail').fill('VIC@example.com');
    await page.getByLabel('Password').fill('wrong horse battery');
    await button('Sign in').click();
    await page.getByText('do not fit').waitFor();
    await page.getByLabel('Password').fill('correct horse battery');
    await button('Sign in').click();
    await page.getByRole('heading').first().waitFor();
    await button('Sign out').waitFor();
    await browser.clearCookies();
    await page.goto('about:blank');
    await at(`/studio#link=${await link('--email', 'ann@example.com')}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  },
);

test('a dropped connection loses nothing that was typed, and is said', { timeout: 300000 }, async () => {
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  await at(`/studio/agents/${agent.id}`);
  await page.getByLabel('What it says first').fill('Typed while away');
  await browser.setOffline(true);
  await button('Save').click();
  await page.getByText('The connection to the service is lost').waitFor();
  assert.equal(await page.getByLabel('What it says first').inputValue(), 'Typed while away');
  await browser.setOffline(false);
  await until(
    async () => {
      if ((await button('Save').getAttribute('aria-disabled')) === null) await button('Save').click();
      return (await workspace.api('GET', `/v1/agents/${agent.id}`)).body.agent.greetingText === 'Typed while away';
    },
    { what: 'the save' },
  );
});

/* Nothing is loading any more: the page shows its heading, no part of it waits, no request is open. */
const settled = () =>
  until(
    async () =>
      page.open.size === 0 &&
      (await page.evaluate(
        () => document.querySelector('.head') !== null && document.querySelector('.loading') === null,
      )) &&
      page.open.size === 0,
    { what: `${page.url()} to be there` },
  );

/* As if it was chosen in another tab. */
const choose = (key, newValue) =>
  page.evaluate((init) => dispatchEvent(new StorageEvent('storage', init)), { key, newValue });

const picture = (name) =>
  process.env.SCREENSHOTS && page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });

/* Is the page as wide as a phone, which it is shown on? */
async function fits(name) {
  const wide = await page.evaluate(
    () =>
      document.documentElement.scrollWidth > 320 &&
      [...document.querySelectorAll('main *')]
        .filter((e) => e.getBoundingClientRect().right > 321 && !e.closest('.table'))
        .map((e) => e.outerHTML.slice(0, 200)),
  );
  assert.deepEqual(wide, false, `${name} is wider than a phone`);
}

async function look(name, path) {
  await page.evaluate(() => localStorage.clear());
  await at(`/studio${path}`);
  await settled();
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, name);
  assert.deepEqual(await faults(`${name} light`), []);
  await picture(`${name}-light`);
  await choose('earshot.theme', 'dark');
  await picture(`${name}-dark`);
  await choose('earshot.language', 'hi');
  await page.setViewportSize({ width: 320, height: 700 });
  await page.locator('html[data-theme=dark][lang=hi]').waitFor();
  await settled();
  assert.deepEqual(await faults(`${name} dark`), []);
  await fits(name);
  await picture(`${name}-phone`);
  await page.setViewportSize({ width: 1280, height: 860 });
}

test(
  'axe finds nothing on any page, in either theme, in either language; none is wider than a phone',
  { timeout: 600000 },
  async () => {
    const get = async (path) => (await workspace.api('GET', path)).body;
    const [agent, call, document, tool, webhook] = await Promise.all([
      get('/v1/agents').then((b) => b.agents[0]),
      get('/v1/calls').then((b) => b.calls[0]),
      get('/v1/knowledge/documents').then((b) => b.documents[0]),
      get('/v1/tools').then((b) => b.tools[0]),
      get('/v1/webhooks').then((b) => b.webhooks[0]),
    ]);
    const paths = {
      overview: '',
      agents: '/agents',
      agent: `/agents/${agent.id}`,
      calls: '/calls',
      call: `/calls/${call.id}`,
      knowledge: '/knowledge',
      document: `/knowledge/${document.id}`,
      tools: '/tools',
      tool: `/tools/${tool.id}`,
      'new-tool': '/tools/new',
      voices: '/voices',
      webhooks: '/webhooks',
      webhook: `/webhooks/${webhook.id}`,
      keys: '/keys',
      members: '/members',
      settings: '/settings',
    };
    for (const [name, path] of Object.entries(paths)) await look(name, path);
    assert.deepEqual(page.errors, []);
  },
);

/* The page as it stands, in both themes. */
async function lookInThemes(name) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}], html:not([data-theme])`).waitFor();
    assert.deepEqual(await faults(`${name} ${colorScheme}`), []);
    await picture(`${name}-${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: null });
}

test(
  'axe finds nothing on the tabs of an agent, in an empty workspace and on the pages for everybody',
  { timeout: 600000 },
  async () => {
    const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
    await page.evaluate(() => localStorage.clear());
    await at(`/studio/agents/${agent.id}`);
    await settled();
    const tabs = await page.locator('.tabs a').evaluateAll((links) => links.map((one) => one.getAttribute('href')));
    assert.ok(tabs.length >= 7, tabs.join());
    const tops = await page.locator('.tabs a').evaluateAll((links) => links.map((one) => one.offsetTop));
    assert.equal(new Set(tops).size, 1, 'the tabs stand in one line');
    for (const tab of tabs.slice(1)) {
      await page.locator(`.tabs a[href="${tab}"]`).click();
      await page.locator(`.tabs a[href="${tab}"][aria-current]`).waitFor();
      await settled();
      await lookInThemes(`agent-${tab.slice(1)}`);
    }

    const { workspaceId } = await makeWorkspace(service, { name: 'Empty' });
    const one = await service.cli('studio', 'link', '--workspace', workspaceId, '--json');
    await browser.clearCookies();
    await at('/docs');
    await at(`/studio#link=${one.link}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const path of ['', '/agents', '/calls', '/knowledge', '/tools', '/webhooks']) {
      await at(`/studio${path}`);
      await settled();
      await lookInThemes(`empty${path.replace('/', '-')}`);
    }

    const nowhere = ['agents/ua_none', 'calls/none', 'knowledge/kd_none', 'tools/tool_none', 'webhooks/none', 'none'];
    for (const path of nowhere) {
      await at(`/studio/${path}`);
      await settled();
      await lookInThemes(`none-${path.split('/')[0]}`);
    }

    await browser.clearCookies();
    await at('/studio');
    await button('Sign in').waitFor();
    await lookInThemes('sign-in');
    for (const path of ['/', '/docs', '/docs/button', '/try']) {
      await at(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await until(() => page.open.size === 0, { what: `${path} to be there` });
      await page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });
      await lookInThemes(`page${path.replaceAll('/', '-')}`);
      await page.setViewportSize({ width: 320, height: 700 });
      await fits(path);
      await picture(`page${path.replaceAll('/', '-')}-phone`);
      await page.setViewportSize({ width: 1280, height: 860 });
    }
    assert.deepEqual(page.errors, []);
  },
);

/* What is written somewhere on the page, or in one of its fields, and is no element of it. */
async function isShown(text) {
  const isThere = () => page.evaluate((wanted) =>
    document.querySelector('main').textContent.includes(wanted) || document.querySelector('img[src="x"]') ||
    [...document.querySelectorAll('input, textarea')].some((field) => field.value.includes(wanted)), text);
  await until(isThere, { what: `${page.url()} to show ${text}` });
  assert.equal(await page.locator('img[src="x"]').count(), 0, `${page.url()} makes an element of it`);
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined, page.url());
}

test('markup in every name and text stands where it belongs, as text', { timeout: 600000 }, async () => {
  const { workspaceId } = await makeWorkspace(service, { name: NASTY });
  const one = await service.cli('studio', 'link', '--workspace', workspaceId, '--json');
  const ask = person(service);
  const make = async (path, body, headers) => {
    const answer = await ask('POST', path, body, headers);
    assert.ok([200, 201].includes(answer.status), `${path}: ${answer.text}`);
    return answer.body;
  };
  await make('/v1/session', { link: one.link }, { 'User-Agent': NASTY });
  const { tool } = await make('/v1/tools', { name: NASTY, description: NASTY, url: `${receiverUrl}/nasty`,
    headers: [{ key: 'X-Nasty', value: NASTY }], sampleOutput: NASTY });
  const { document } = await make('/v1/knowledge/documents', { name: NASTY, text: `We are open ${NASTY} at noon.` });
  const { agent } = await make('/v1/agents', { name: NASTY, systemInstruction: NASTY, greetingMode: 'static',
    greetingText: NASTY, variables: { x: { defaultValue: NASTY, description: NASTY } },
    documentIds: [document.id], toolIds: [tool.id] });
  const { webhook } = await make('/v1/webhooks', { url: `${receiverUrl}/hook?${encodeURIComponent(NASTY)}` });
  await make('/v1/members', { name: NASTY, email: 'nasty@example.com', role: 'viewer' });
  await make('/v1/keys', { name: NASTY });

  await at('/docs');
  await page.evaluate(() => localStorage.clear());
  await browser.clearCookies();
  const [name, value] = ask.cookie.split('=');
  await browser.addCookies([{ name, value, url: service.url, httpOnly: true, sameSite: 'Strict' }]);
  await at(`/studio/agents/${agent.id}`);
  await button('Start a test call').click();
  await page.locator('.bubbles .assistant', { hasText: `"'&` }).first().waitFor(); // tags are not said
  await isShown(TAG);
  await button('Hang up').click();
  await page.getByRole('link', { name: 'Details of the call' }).click();
  await page.getByRole('heading', { level: 1, name: /^Call/ }).waitFor();
  await isShown(TAG);

  const { callId } = await make('/v1/calls', { agentId: agent.id, participant: { identity: NASTY, name: NASTY },
    metadata: { [NASTY]: NASTY }, variables: { x: NASTY } });
  await make(`/v1/calls/${callId}/end`);
  const tabs = ['', '#voice', '#tools', '#documents'].map((tab) => `/agents/${agent.id}${tab}`);
  const shown = {
    [TAG]: ['', '/agents', ...tabs, '/calls', `/calls/${callId}`, '/knowledge', `/knowledge/${document.id}`,
      `/tools/${tool.id}`, '/keys', '/members', '/settings'],
    [tool.name]: ['/tools'],
    [encodeURIComponent(TAG)]: ['/webhooks', `/webhooks/${webhook.id}`],
  };
  for (const [text, paths] of Object.entries(shown)) {
    for (const path of paths) {
      await at('/docs'); // another part of the same page would be no visit
      await at(`/studio${path}`);
      await settled();
      await isShown(text);
    }
  }
  await at(`/studio/tools/${tool.id}`);
  await button('Run').click();
  await page.getByText('state', { exact: false }).filter({ hasText: 'onerror' }).first().waitFor();
  await isShown(TAG);
  assert.deepEqual(page.errors, []);
});

/* What comes last in it, after a name. */
async function isLeftToRight(place) {
  const places = await place.evaluate(({ lastChild }) => [...lastChild.data].map((_, i) => {
    const range = document.createRange();
    range.setStart(lastChild, i);
    range.setEnd(lastChild, i + 1);
    return range.getBoundingClientRect().left;
  }));
  assert.deepEqual(places, [...places].sort((a, b) => a - b), 'it is read from left to right');
}

test('a name that turns the direction of writing turns nothing beside it', { timeout: 300000 }, async () => {
  const turning = 'Ann\u202E';
  const { workspaceId } = await makeWorkspace(service, { name: turning });
  const one = await service.cli('studio', 'link', '--workspace', workspaceId, '--json');
  const ask = person(service);
  const { member } = (await ask('POST', '/v1/session', { link: one.link })).body;
  assert.equal((await ask('PATCH', `/v1/members/${member.id}`, { name: turning })).status, 200);
  await browser.clearCookies();
  const [name, value] = ask.cookie.split('=');
  await browser.addCookies([{ name, value, url: service.url, httpOnly: true, sameSite: 'Strict' }]);
  await at('/docs');
  await at('/studio');
  await isLeftToRight(page.locator('.who .soft'));

  const { body: { document } } = await ask('POST', '/v1/knowledge/documents',
    { name: turning, text: 'We are open at noon.' });
  await until(async () => (await ask('GET', `/v1/knowledge/documents/${document.id}`)).body.document.status === 'ready',
    { what: 'the document to be read' });
  await at('/studio/knowledge');
  await page.getByRole('searchbox', { name: 'Question' }).fill('When are you open?');
  await button('Search').click();
  await isLeftToRight(page.locator('[aria-live] .list .soft.small'));
});
