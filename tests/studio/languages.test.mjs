/* The pages in each language: whatever stands on one is in it, is written the way it is read, and is not seen in
 * another one before; the language that is chosen stays. axe-core looks at the pages for everybody in both languages
 * and both themes; none is wider than a phone. SCREENSHOTS names a directory for pictures. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeWorkspace, root, startService, until } from '../harness/service.mjs';
import { faults } from '../harness/axe.mjs';
import { openBrowser } from '../harness/browser.mjs';
import { signIn } from '../harness/studio.mjs';
import { strangers } from '../harness/words.mjs';

const PAGES = ['/', '/try', '/docs', '/docs/button'];
const WIDE = { width: 1280, height: 860 }, PHONE = { width: 320, height: 700 };
const table = (id) => JSON.parse(readFileSync(join(root, `studio/texts/${id}.json`)));
const texts = { en: table('en'), hi: table('hi') };
let service, workspace, browser, page, agent;

before(async () => {
  service = await startService();
  workspace = await makeWorkspace(service, { name: 'दुकान' });
  ({ agent } = (await workspace.api('POST', '/v1/agents', { name: 'स्वागत', greetingMode: 'static',
    greetingText: 'नमस्ते।', embed: { enabled: true } })).body);
  browser = await openBrowser();
  page = await newPage();
});

after(async () => {
  await browser?.close();
  await service?.close();
});

async function newPage() {
  const made = await browser.newPage();
  made.errors = [];
  made.on('pageerror', (error) => made.errors.push(String(error)));
  made.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) made.errors.push(message.text());
  });
  await made.setViewportSize(WIDE);
  return made;
}

const at = (path, where = page) => where.goto(service.url + path);

/* As if the person had chosen before. */
async function choose(language, where = page) {
  await at('/studio/icon.svg', where);
  await where.evaluate((id) => (id ? localStorage.setItem('earshot.language', id) : localStorage.clear()), language);
}

const isThere = (path, where = page) => where.locator(path === '/docs' ? 'details' : 'h1').first().waitFor();

async function show(path, language) {
  await choose(language);
  await at(path);
  await page.locator(`html[lang=${language}][dir=ltr]`).waitFor();
  await isThere(path);
}

const isWide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth &&
  [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 200)));

const picture = (name) => process.env.SCREENSHOTS &&
  page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`), fullPage: !name.includes('docs-') });

for (const language of ['en', 'hi'])
  for (const path of PAGES)
    test(`${path} is in ${language}, whole, for everybody`, { timeout: 300000 }, async () => {
      await show(path, language);
      const name = `${path.replaceAll('/', '-').slice(1) || 'home'}-${language}`;
      await page.evaluate(() => [...document.querySelectorAll('details')].forEach((one, i) => { one.open = i < 8; }));
      assert.deepEqual(await strangers(page, language), []);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
        assert.deepEqual(await faults(page, `${name} ${colorScheme}`), []);
        await picture(`${name}-${colorScheme}`);
      }
      await page.emulateMedia({ colorScheme: null });
      await page.setViewportSize(PHONE);
      assert.deepEqual(await isWide(), false, `${name} is wider than a phone`);
      await picture(`${name}-phone`);
      await page.setViewportSize(WIDE);
      assert.deepEqual(page.errors, []);
    });

test('a language is chosen on a page, at once, and stays for all pages and the studio',
  { timeout: 300000 }, async () => {
  await show('/docs/button', 'en');
  const other = await newPage();
  await at('/', other);
  await page.getByRole('combobox', { name: texts.en.language, exact: true }).selectOption('hi');
  await page.getByRole('heading', { level: 1, name: texts.hi['button.title'] }).waitFor();
  assert.equal(await page.title(), texts.hi['button.name']);
  assert.deepEqual(await strangers(page, 'hi'), []);
  const code = await page.locator('[data-text="button.policy"] code').allTextContents();
  assert.deepEqual(code, [service.url, 'script-src', 'connect-src', service.url.replace('http', 'ws'), 'connect-src'],
    'each in its place of the sentence');
  await page.getByRole('combobox', { name: texts.hi.language, exact: true }).selectOption('en');
  assert.deepEqual(await strangers(page, 'en'), []);
  assert.equal((await page.locator('[data-text="button.policy"] code').allTextContents())[2], service.url);
  await page.getByRole('combobox', { name: texts.en.language, exact: true }).selectOption('hi');
  await other.getByRole('heading', { level: 1, name: texts.hi['home.title'] }).waitFor(); // another tab
  await other.close();
  await at('/studio');
  await page.getByRole('button', { name: 'साइन इन करें' }).waitFor();
});

test("without a choice it is the first of the browser's languages that is there", { timeout: 300000 }, async () => {
  for (const [wanted, language] of [[['fr-FR', 'hi-IN', 'en'], 'hi'], [['en-IN', 'hi'], 'en'], [['fr'], 'en']]) {
    const fresh = await newPage();
    await choose(null, fresh);
    await fresh.addInitScript((ids) => Object.defineProperty(navigator, 'languages', { get: () => ids }), wanted);
    for (const path of ['/', '/studio']) {
      await at(path, fresh);
      await fresh.locator(`html[lang=${language}] h1`).waitFor();
      assert.deepEqual(await strangers(fresh, language), [], `${path} for ${wanted}`);
    }
    await fresh.close();
  }
});

test('nothing is seen in another language before, nor is anything waited for', { timeout: 300000 }, async () => {
  await choose('hi');
  await page.addInitScript(() => {
    globalThis.seen = new Set();
    const look = () => {
      const title = document.querySelector('h1');
      if (title?.checkVisibility({ visibilityProperty: true })) globalThis.seen.add(title.textContent);
      requestAnimationFrame(look);
    };
    look();
  });
  for (const path of ['/', '/try', '/docs/button']) {
    let come;
    const isShown = new Promise((done) => { come = done; });
    const late = /(try|button|livekit-client)\.js$/;
    await page.route(late, async (route) => { await isShown; await route.continue().catch(() => {}); });
    const gone = page.goto(service.url + path, { waitUntil: 'commit' });
    const isSeen = () => page.evaluate(() => globalThis.seen?.size > 0).catch(() => false);
    await until(isSeen, { what: `${path} to be seen` });
    const seen = await page.evaluate(() => [...globalThis.seen]);
    come();
    await gone;
    await page.unroute(late);
    assert.deepEqual(seen.filter((title) => !/[\u0900-\u097f]/.test(title)), [], path);
  }
});

test('pages are read without scripts, in English', { timeout: 300000 }, async () => {
  const plain = await newPage();
  await plain.route(/\.js$/, (route) => route.abort());
  const titles = { '/': 'home.title', '/try': 'try.agent', '/docs': 'docs.name', '/docs/button': 'button.title' };
  for (const [path, title] of Object.entries(titles)) {
    await at(path, plain);
    assert.equal(await plain.locator('h1').textContent(), texts.en[title]);
    assert.equal(await plain.locator('[data-text]:empty:not(option)').count(), 0, path);
    assert.equal(await plain.locator('html').getAttribute('lang'), 'en');
  }
  await plain.close();
});

const refuse = (code, error) => page.route('**/v1/embed/calls', (route) =>
  route.fulfill({ status: 403, json: { code, error } }));

test('what goes wrong at the page to talk with an agent is said in the language that is chosen',
  { timeout: 300000 }, async () => {
  await choose('hi');
  const link = `/try#key=${agent.publicKey}`;
  for (const code of Object.keys(texts.en).map((name) => name.match(/^problem\.([A-Z_]+)$/)?.[1]).filter(Boolean)) {
    await refuse(code, 'In English.');
    await at(link);
    await page.reload();
    await page.click('#start');
    await page.getByText(texts.hi[`problem.${code}.help`]).waitFor();
    assert.deepEqual(await strangers(page, 'hi'), []);
    await page.unroute('**/v1/embed/calls');
  }
  await refuse('OF_A_LATER_VERSION', 'It is late.');
  await page.click('#start');
  assert.equal(await page.getByText('It is late.').getAttribute('lang'), 'en');
  await page.unroute('**/v1/embed/calls');
  await page.getByRole('combobox', { name: texts.hi.language }).selectOption('en');
  await page.getByText(texts.en['problem.other']).waitFor();
  assert.deepEqual(await strangers(page, 'en'), []);
});

test('the call button and its panel are in the language of the page around them', { timeout: 300000 }, async () => {
  for (const [language, start] of [['hi', 'कॉल शुरू करें'], ['en', 'Start the call'], ['de', 'Start the call']]) {
    await choose('hi');
    await at(`/docs/button#key=${agent.publicKey}`);
    await page.locator('earshot-call').evaluate((element, lang) => { element.lang = lang; }, language);
    await page.locator('earshot-call .call').click();
    await page.locator('earshot-call').getByRole('button', { name: start }).waitFor();
    const langs = await page.locator('earshot-call').evaluate(({ shadowRoot }) =>
      ['.call span', '.panel'].map((one) => shadowRoot.querySelector(one).lang));
    const spoken = language === 'hi' ? 'hi' : 'en';
    assert.deepEqual(langs, [spoken, spoken], 'whatever is said is marked as what it is');
    if (language === 'hi') assert.deepEqual(await strangers(page, 'hi'), []);
  }
});

/* Somebody with a Hindi name is signed in, in Hindi. */
async function enter() {
  const owner = await signIn(service, { workspaceId: workspace.workspaceId });
  await owner('PATCH', `/v1/members/${owner.member.id}`, { name: 'राधा' });
  const [name, value] = owner.cookie.split('=');
  await browser.addCookies([{ name, value, url: service.url, httpOnly: true, sameSite: 'Strict' }]);
  await choose('hi');
}

test('faults of fields are said in Hindi, those of a later version as the English that they are',
  { timeout: 300000 }, async () => {
  await enter();
  await at(`/studio/agents/${agent.id}`);
  const details = [{ field: 'name', message: 'must have at most 100 characters' },
    { field: 'greetingText', message: 'is of a later version' }];
  await page.route('**/v1/agents/*', (route) => (route.request().method() === 'PATCH'
    ? route.fulfill({ status: 400, json: { code: 'VALIDATION_FAILED', error: 'Not valid.', details } })
    : route.continue()));
  await page.getByLabel('नाम', { exact: true }).fill('द्वार');
  await page.getByRole('button', { name: 'सहेजें', exact: true }).click();
  await page.locator('.fault', { hasText: /^अधिकतम 100 अक्षर हों$/ }).waitFor();
  assert.equal(await page.locator('.fault [lang=en]').textContent(), 'is of a later version');
  assert.deepEqual(await strangers(page, 'hi'), []);
  assert.deepEqual(await faults(page, 'faults in Hindi'), []);
  await page.unroute('**/v1/agents/*');
  await page.evaluate(() => localStorage.clear());
  await browser.clearCookies();
});

test('all of the studio is in Hindi', { timeout: 600000 }, async () => {
  const make = async (path, body) => {
    const answer = await workspace.api('POST', path, body);
    assert.ok([200, 201].includes(answer.status), `${path}: ${answer.text}`);
    return answer.body;
  };
  const { tool } = await make('/v1/tools', { name: 'order_status', description: 'ऑर्डर', url: 'http://127.0.0.1:9/x' });
  const { document } = await make('/v1/knowledge/documents', { name: 'समय',
    text: 'हम सुबह नौ बजे से शाम पाँच बजे तक खुले रहते हैं।' });
  const { webhook } = await make('/v1/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['*'] });
  const { callId } = await make('/v1/calls', { agentId: agent.id, participant: { identity: 'राम', name: 'राम' } });
  await make(`/v1/calls/${callId}/end`);
  await enter();
  const named = (value) => (typeof value === 'string' ? value.match(/[A-Za-z][\w.]*/g) ?? []
    : Object.entries(value ?? {}).flatMap(([key, one]) => (key === 'description' ? [] : named(one))));
  const names = [];
  for (const path of ['/v1/catalog', '/v1/voices']) names.push(...named((await workspace.api('GET', path)).body));
  const tabs = ['', 'voice', 'engines', 'variables', 'tools', 'documents', 'embed', 'connections'];
  const paths = ['', '/agents', ...tabs.map((tab) => `/agents/${agent.id}#${tab}`), '/calls', `/calls/${callId}`,
    '/knowledge', `/knowledge/${document.id}`, '/tools', '/tools/new', `/tools/${tool.id}`, '/voices', '/webhooks',
    `/webhooks/${webhook.id}`, '/keys', '/members', '/settings', '/none'];
  for (const path of paths) {
    await at('/studio/icon.svg');
    await at(`/studio${path}`);
    await page.locator('.head').first().waitFor();
    await until(async () => await page.locator('.loading').count() === 0, { what: `${path} to be there` });
    assert.deepEqual(await strangers(page, 'hi', ['order_status', 'test', 'node', ...names]), [], path);
  }
  await browser.clearCookies();
});
