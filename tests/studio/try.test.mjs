/* A person opens the printed link, presses the button and talks with the demo agent: the real page, a real browser,
 * the real service with its embedded engines. SCREENSHOT names a file to keep a picture of the page in a call. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { startService, until } from '../harness/service.mjs';
import { openBrowser, speechFile } from '../harness/browser.mjs';

let service, link;

before(async () => {
  service = await startService({ args: ['--demo'] });
  link = await until(() => service.output.match(/https?:\/\/\S+\/try#\S+/)?.[0], { what: 'the link to try' });
});

after(() => service?.close());

async function openPage(options, url = link) {
  const browser = await openBrowser(options);
  const page = await browser.newPage();
  page.errors = [];
  page.on('pageerror', (error) => page.errors.push(String(error)));
  await page.goto(url);
  return { browser, page };
}

test('a person talks with the demo agent and sees both sides as captions', { timeout: 300000 }, async () => {
  const { browser, page } = await openPage({ microphone: speechFile('What are your opening hours?', { before: 9 }) });
  try {
    await page.click('#start');
    await page.waitForSelector('.agent-said');
    assert.match(await page.textContent('#agent-name'), /Front desk/);
    await page.locator('.caller-said:not(.interim)', { hasText: /open/i }).first().waitFor();
    await page.waitForFunction(() => {
      const said = [...document.querySelectorAll('#captions li')];
      const asked = said.findIndex((line) => line.className === 'caller-said' && /open/i.test(line.textContent));
      return said
        .slice(asked + 1)
        .some(
          (line) => line.className === 'agent-said' && /open|\b(am|pm|a\.m|o'clock)\b|monday/i.test(line.textContent),
        );
    });
    assert.ok(await page.evaluate(() => document.querySelector('#meter-agent').value >= 0));
    if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
    await page.click('#end');
    await page.waitForFunction(() => document.querySelector('#state').textContent === 'The call has ended');
    assert.deepEqual(page.errors, []);
  } finally {
    await browser.close();
  }
});

test('a refused microphone is said in words that help', { timeout: 300000 }, async () => {
  const { browser, page } = await openPage({ mayUseMicrophone: false });
  try {
    await page.click('#start');
    await page.waitForSelector('#problem:not([hidden])');
    assert.match(await page.textContent('#problem'), /microphone is blocked/i);
    assert.equal(await page.isVisible('#start'), true);
  } finally {
    await browser.close();
  }
});

test('a link without its key, and one with a wrong key, say so', { timeout: 300000 }, async () => {
  const { browser, page } = await openPage({}, link.replace(/#.*/, ''));
  try {
    assert.match(await page.textContent('#problem'), /incomplete/);
    await page.goto('about:blank');
    await page.goto(link.replace(/key=pk_\w+/, 'key=pk_wrong'));
    await page.click('#start');
    await page.waitForSelector('#problem:not([hidden])');
    assert.match(await page.textContent('#problem'), /no longer valid/);
  } finally {
    await browser.close();
  }
});

test('the pages run no inline script and may not be framed by others', { timeout: 300000 }, async () => {
  for (const path of ['/', '/docs', '/try']) {
    const { headers } = await fetch(service.url + path);
    const policy = headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'; script-src 'self'/, path);
    assert.doesNotMatch(policy, /unsafe/, path);
    assert.match(policy, /frame-ancestors '(none|self)'/, path);
    const own = path === '/try' ? ` ${service.url.replace('http', 'ws')} ${service.url}` : '';
    assert.ok(policy.endsWith(`; connect-src 'self'${own}`), policy);
    assert.deepEqual(
      [headers.get('x-content-type-options'), headers.get('referrer-policy')],
      ['nosniff', 'no-referrer'],
      path,
    );
    assert.ok(headers.get('x-request-id'), path);
  }
});

test('the API is shown, by a script of its own under its policy', { timeout: 300000 }, async () => {
  const { browser, page } = await openPage({}, `${service.url}/docs`);
  try {
    await page.waitForSelector('details');
    assert.match(await page.textContent('#main'), /POST\/v1\/calls Start a call/);
    assert.match(await page.textContent('#main'), /Objects/);
    assert.deepEqual(page.errors, []);
  } finally {
    await browser.close();
  }
});

test('a service that is gone is said, and the page can try again', { timeout: 300000 }, async () => {
  const { browser, page } = await openPage({});
  try {
    await service.stop();
    await page.click('#start');
    await page.waitForSelector('#problem:not([hidden])');
    assert.match(await page.textContent('#problem'), /cannot be reached/);
    assert.equal(await page.isEnabled('#start'), true);
  } finally {
    await browser.close();
  }
});

test('a page of another name than its node, whose address is of IPv6, calls there', { timeout: 300000 }, async () => {
  const six = await startService({ args: ['--demo'], env: { EARSHOT_LISTEN: '[::1]:0' } });
  const url = await until(() => six.output.match(/http:\/\/\[::1\]:\S+\/try#\S+/)?.[0], { what: 'the link to try' });
  const named = url.replace('[::1]', 'localhost'), { port } = new URL(url);
  const connects = (host) => new Promise((done) => {
    get({ host: '::1', port, path: '/try', headers: { Host: `${host}:${port}` } }, (answer) => {
      answer.resume();
      done(answer.headers['content-security-policy'].match(/connect-src ([^;]*)/)[1].split(' '));
    });
  });
  assert.deepEqual(await connects('[::1]'), ["'self'"]);
  assert.deepEqual(await connects('localhost'), ["'self'", `ws://*:${port}`, `http://*:${port}`]);
  const { browser, page } = await openPage({}, named);
  try {
    await page.click('#start');
    await page.waitForSelector('.agent-said');
    assert.deepEqual(page.errors, []);
  } finally {
    await browser.close();
    await six.close();
  }
});
