/* The call button on somebody else's page: another origin, a strict content security policy, a real call with a
 * recorded voice, and every refusal in words. SCREENSHOTS names a directory for pictures. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { makeWorkspace, startService, until } from '../harness/service.mjs';
import { faults } from '../harness/axe.mjs';
import { openBrowser, speechFile } from '../harness/browser.mjs';

let service, api, site, siteUrl, talker, quiet;
const pages = new Map();

const escape = (text) => text.replace(/[&"<>]/g, (c) => `&#${c.charCodeAt(0)};`);

/* A page of the other origin; answers its address. */
function put(path, { script = {}, element = null, body = '', lang = 'en' }) {
  const attributes = (set) =>
    Object.entries(set)
      .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
      .join('');
  pages.set(
    path,
    `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>A shop</title></head>` +
      `<body><main><h1>A shop</h1>${body}
    ${element ? `<earshot-call${attributes(element)}></earshot-call>` : ''}</main>` +
      `<script src="${service.url}/embed/earshot.js"${attributes(script)}></script></body></html>`,
  );
  return siteUrl + path;
}

before(async () => {
  service = await startService();
  ({ api } = await makeWorkspace(service, { calls: 20 }));
  site = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; script-src ${service.url}; frame-src *;
      connect-src ${service.url} ${service.url.replace('http', 'ws')}; require-trusted-types-for 'script'`.replace(
        /\s+/g,
        ' ',
      ),
    );
    response.end(pages.get(request.url) ?? '');
  });
  await new Promise((done) => site.listen(0, done));
  siteUrl = `http://127.0.0.1:${site.address().port}`;
  [talker, quiet] = await Promise.all([
    openBrowser({ microphone: speechFile('What are your opening hours?', { before: 6 }) }),
    openBrowser(),
  ]);
});

after(async () => {
  await Promise.all([talker?.close(), quiet?.close()]);
  site?.close();
  await service?.close();
});

const newAgent = async (embed = {}, fields = {}) =>
  (
    await api('POST', '/v1/agents', {
      name: 'Front desk',
      greetingMode: 'static',
      greetingText: 'Hello {{caller_city}}, how can I help?',
      variables: { caller_city: { defaultValue: 'there' } },
      embed: { enabled: true, ...embed },
      ...fields,
    })
  ).body.agent;

async function open(context, url) {
  const page = await context.newPage();
  page.errors = [];
  page.bytes = {};
  page.on('pageerror', (error) => page.errors.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML/.test(message.text())) page.errors.push(message.text());
  });
  page.on('requestfinished', async (request) => {
    if (!request.url().startsWith(service.url)) return;
    const sizes = await request.sizes().catch(() => null); // the page may be closed meanwhile
    if (sizes) page.bytes[new URL(request.url()).pathname] = sizes.responseBodySize;
  });
  await page.addInitScript(() => {
    globalThis.told = [];
    for (const name of ['started', 'transcript', 'ended', 'error'])
      addEventListener(`earshot:${name}`, (event) => globalThis.told.push([name, event.detail]));
  });
  await page.goto(url);
  return page;
}

const picture = async (page, name) =>
  process.env.SCREENSHOTS && page.screenshot({ path: join(process.env.SCREENSHOTS, `${name}.png`) });
const told = (page, name) =>
  page.evaluate((wanted) => globalThis.told.filter(([n]) => n === wanted).map(([, detail]) => detail), name);

test('a visitor of another origin talks under a strict policy, by keyboard alone', { timeout: 300000 }, async () => {
  const agent = await newAgent({ allowedOrigins: ['127.0.0.1'] });
  const page = await open(
    talker,
    put('/call', {
      script: { 'data-key': agent.publicKey, 'data-variables': '{"caller_city":"Pune"}', 'data-caller': 'Ann' },
    }),
  );
  await page.waitForSelector('earshot-call');
  await page.waitForLoadState('networkidle');
  await until(() => Object.keys(page.bytes).length, { what: 'the size of what was loaded' });
  assert.deepEqual(Object.keys(page.bytes), ['/embed/earshot.js'], 'the rest is loaded on click');
  assert.ok(page.bytes['/embed/earshot.js'] < 10000, `${page.bytes['/embed/earshot.js']} bytes before the first click`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Start the call' }).waitFor();
  assert.match(await page.getByRole('dialog').textContent(), /automated agent/);
  assert.deepEqual(await faults(page), []);
  await picture(page, 'button-consent');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Hang up' }).waitFor();
  await until(
    async () => (await told(page, 'transcript')).some((t) => t.role === 'assistant' && /Hello Pune/.test(t.text)),
    { what: 'the greeting with its variable' },
  );
  await until(
    async () => (await told(page, 'transcript')).some((t) => t.role === 'user' && t.isFinal && /open/i.test(t.text)),
    { what: 'what the visitor said' },
  );
  assert.match(await page.locator('earshot-call .captions').textContent(), /Hello Pune/);
  assert.deepEqual(await faults(page), []);
  await picture(page, 'button-call');
  await page.getByRole('button', { name: 'Mute' }).click();
  assert.equal(await page.getByRole('button', { name: 'Unmute' }).getAttribute('aria-pressed'), 'true');
  const [{ callId }] = await told(page, 'started');
  assert.equal((await api('GET', `/v1/calls/${callId}`)).body.call.source, 'embed');
  await page.getByRole('button', { name: 'Hang up' }).click();
  const [ended] = await until(
    async () => {
      const all = await told(page, 'ended');
      return all.length && all;
    },
    { what: 'the end' },
  );
  assert.deepEqual([ended.callId, ended.reason], [callId, 'caller']);
  assert.match(await page.getByRole('status').textContent(), /ended/);
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('dialog').isVisible(), false);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('a call that the agent ends is told as its end, and can be started again', { timeout: 300000 }, async () => {
  const agent = await newAgent();
  const page = await open(quiet, put('/agent-ends', { element: { key: agent.publicKey, consent: 'off' } }));
  await page.getByRole('button', { name: 'Talk to us' }).click(); // nothing to agree to: the call starts at once
  await page.getByRole('button', { name: 'Hang up' }).waitFor();
  const [{ callId }] = await told(page, 'started');
  await api('POST', `/v1/calls/${callId}/end`);
  await until(async () => (await told(page, 'ended')).length, { what: 'the end' });
  assert.equal((await told(page, 'ended'))[0].reason, 'agent');
  await page.getByRole('button', { name: 'Start the call' }).click();
  await page.getByRole('button', { name: 'Hang up' }).click();
  await until(async () => (await told(page, 'ended')).length === 2, { what: 'the second end' });
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('what keeps a call from starting is said in words, in the page\'s language', { timeout: 300000 }, async () => {
  const cases = [
    [{ allowedOrigins: ['elsewhere.example'] }, 'en', 'ORIGIN_NOT_ALLOWED', /may not start calls/],
    [{ dailySpendLimit: 0 }, 'en', 'DAILY_LIMIT_REACHED', /limit of calls is reached/],
    [{ enabled: false }, 'hi', 'EMBED_DISABLED', /वेब पेजों से कॉल बंद हैं/],
  ];
  for (const [embed, lang, code, words] of cases) {
    const agent = await newAgent(embed);
    const page = await open(quiet, put(`/${code}`, { element: { key: agent.publicKey, consent: 'off' }, lang }));
    await page.getByRole('button').click();
    await page.getByRole('alert').waitFor();
    assert.match(await page.getByRole('alert').textContent(), words);
    assert.equal((await told(page, 'error'))[0].code, code);
    assert.deepEqual(await faults(page), []);
    await picture(page, `button-${code}`);
    await page.close();
  }
});

test('a refused microphone, and a frame without permission, are told apart', { timeout: 300000 }, async () => {
  const agent = await newAgent();
  const deaf = await openBrowser({ mayUseMicrophone: false });
  try {
    const refused = await open(deaf, put('/refused', { element: { key: agent.publicKey, consent: 'off' } }));
    await refused.getByRole('button').click();
    await refused.getByRole('alert').waitFor();
    assert.match(await refused.getByRole('alert').textContent(), /microphone is blocked/);
  } finally {
    await deaf.close();
  }
  put('/inner', { element: { key: agent.publicKey, consent: 'off' } });
  const other = siteUrl.replace('127.0.0.1', 'localhost');
  for (const [allow, words] of [['', /frame may not use the microphone/], ['microphone; autoplay', null]]) {
    pages.set(
      '/outer',
      `<!doctype html><title>Outer</title><iframe title="shop" allow="${allow}" width="600" height="500" ` +
      `src="${siteUrl}/inner"></iframe>`,
    );
    const page = await open(quiet, `${other}/outer`);
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button').click();
    if (words) {
      await frame.getByRole('alert').waitFor();
      assert.match(await frame.getByRole('alert').textContent(), words);
    } else {
      await frame.getByRole('button', { name: 'Hang up' }).click();
    }
    await page.close();
  }
});

test('a button that is taken away while it connects leaves no call and no open microphone', { timeout: 300000 },
  async () => {
    const agent = await newAgent();
    const page = await open(quiet, put('/taken', { element: { key: agent.publicKey, consent: 'off' } }));
    await page.evaluate(() => {
      const { getUserMedia } = navigator.mediaDevices;
      navigator.mediaDevices.getUserMedia = async function (...wanted) {
        const stream = await getUserMedia.apply(this, wanted);
        globalThis.microphones = stream.getTracks();
        return stream;
      };
    });
    await page.route('**/v1/embed/calls', async (route) => {
      await page.evaluate(() => document.querySelector('earshot-call').remove());
      await route.continue();
    });
    const sockets = [];
    page.on('websocket', (socket) => sockets.push(socket.url()));
    await page.getByRole('button').click();
    await page.waitForFunction(() => globalThis.microphones?.every((track) => track.readyState === 'ended'));
    assert.deepEqual([sockets, await told(page, 'started'), await told(page, 'error')], [[], [], []]);
    await page.close();
  });

/* Where a start waits, and how it goes on: the first one is held until end() was called. */
const CALLED_OFF = {
  'before the panel is there': async () => {},
  'while the client is loaded': (page, end) => page.route('**/livekit-client.js', async (route) => {
    await end(); // asked for once
    await route.continue();
  }),
  'while the microphone is asked for': (page, end) => page.exposeFunction('asked', end).then(() => page.evaluate(() => {
    const { getUserMedia } = navigator.mediaDevices;
    navigator.mediaDevices.getUserMedia = async function (...wanted) {
      if (!globalThis.microphones) await globalThis.asked();
      const stream = await getUserMedia.apply(this, wanted);
      globalThis.microphones = stream.getTracks();
      return stream;
    };
  })),
  'while the call is asked for': (page, end) => page.route('**/v1/embed/calls', async (route) => {
    await end();
    await route.continue().catch(() => {}); // the page has taken its request back
  }),
  'while the room is joined': (page, end) => page.routeWebSocket(/\/rtc/, async (socket) => {
    if ((await told(page, 'ended')).length) return socket.connectToServer();
    await end();
    return socket.close();
  }).then(() => page.reload()), // from then on
};
for (const [when, hold] of Object.entries(CALLED_OFF))
  test(`end() ${when} calls the start off, once`, { timeout: 300000 }, async () => {
    const agent = await newAgent();
    const page = await open(quiet, put('/off', { element: { key: agent.publicKey, consent: 'off' } }));
    const element = page.locator('earshot-call');
    const end = () => element.evaluate((one) => one.end());
    await hold(page, end);
    const isAtOnce = when.startsWith('before');
    await element.evaluate((one, atOnce) => {
      const start = one.start();
      return atOnce ? one.end().then(() => start) : start;
    }, isAtOnce);
    await until(async () => (await told(page, 'ended')).length > 0, { what: 'the end of the start' });
    if (when.includes('microphone'))
      await page.waitForFunction(() => globalThis.microphones?.every((track) => track.readyState === 'ended'));
    const calls = async () => (await api('GET', `/v1/calls?agentId=${agent.id}`)).body.calls;
    assert.equal((await calls()).filter(({ userJoinedAt }) => userJoinedAt).length, 0, 'nobody joins it');
    assert.equal((await calls()).length <= (when.includes('room') ? 1 : 0), true, 'none is made that is not wanted');
    await page.unrouteAll();
    await element.evaluate((one) => one.start()); // and the next one is as the first would have been
    await until(async () => (await told(page, 'started')).length === 1, { what: 'the next start' });
    await end();
    const [first, next, ...more] = await told(page, 'ended');
    assert.deepEqual([first.reason, first.seconds, next.reason, more], ['caller', 0, 'caller', []]);
    assert.deepEqual(await told(page, 'error'), []);
    await page.close();
  });

test('a service that is away at the click is said, and the next click tries again', { timeout: 300000 }, async () => {
  const agent = await newAgent();
  const page = await open(quiet, put('/away', { element: { key: agent.publicKey } }));
  await page.route('**/embed/call.js', (route) => route.abort());
  await page.getByRole('button', { name: 'Talk to us' }).click();
  await page.getByRole('button', { name: 'cannot be reached' }).waitFor();
  assert.deepEqual((await told(page, 'error')).map(({ code, message }) => [code, message]),
    [['unreachable', 'The service cannot be reached. Please try again.']]);
  await page.unroute('**/embed/call.js');
  await page.getByRole('button', { name: 'cannot be reached' }).click();
  await page.getByRole('button', { name: 'Start the call' }).waitFor();
  await page.getByRole('button', { name: 'Talk to us' }).waitFor();
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('an element that was opened, or called, leaves no listener on its page', { timeout: 300000 }, async () => {
  const agent = await newAgent();
  const page = await open(quiet, put('/listeners', { element: { key: agent.publicKey } }));
  await page.evaluate(() => {
    const { addEventListener: add, removeEventListener: remove } = globalThis;
    globalThis.hiding = new Set();
    globalThis.addEventListener = (name, fn, ...rest) => {
      if (name === 'pagehide') globalThis.hiding.add(fn);
      return add(name, fn, ...rest);
    };
    globalThis.removeEventListener = (name, fn, ...rest) => {
      if (name === 'pagehide') globalThis.hiding.delete(fn);
      return remove(name, fn, ...rest);
    };
  });
  const count = () => page.evaluate(() => globalThis.hiding.size);
  await page.locator('earshot-call').click();
  await page.getByRole('button', { name: 'Start the call' }).waitFor();
  assert.equal(await count(), 0);
  await page.getByRole('button', { name: 'Start the call' }).click();
  await page.getByRole('button', { name: 'Hang up' }).waitFor();
  assert.ok(await count() > 0, 'a call is left with its page');
  await page.getByRole('button', { name: 'Hang up' }).click();
  await until(async () => await count() === 0, { what: 'the last listener to go' });
  await page.close();
});

test('a host that is no address is said at the click', { timeout: 300000 }, async () => {
  const url = put('/host', { element: { key: 'pk_x', host: 'voice.example.com' } });
  const page = await open(quiet, url);
  await page.locator('earshot-call').click();
  await until(async () => (await told(page, 'error')).length === 1, { what: 'the error' });
  assert.equal((await told(page, 'error'))[0].code, 'unreachable');
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('attributes choose look, languages and words; text is never markup', { timeout: 300000 }, async () => {
  const nasty = '<img src=x onerror=told.push(1)>';
  const agent = await newAgent({}, { name: nasty });
  const page = await open(
    quiet,
    put('/look', {
      element: {
        key: agent.publicKey,
        label: nasty,
        consent: nasty,
        name: nasty,
        languages: 'en, hi',
        accent: '#ffe066',
        mode: 'floating',
        position: 'left',
        theme: 'dark',
      },
    }),
  );
  const button = page.getByRole('button');
  assert.equal(await button.textContent(), nasty);
  const style = await button.evaluate((e) => [
    getComputedStyle(e).backgroundColor,
    getComputedStyle(e).color,
    getComputedStyle(e.getRootNode().host).position,
  ]);
  assert.deepEqual(style, ['rgb(255, 224, 102)', 'rgb(0, 0, 0)', 'fixed']);
  await button.click();
  await page.getByRole('button', { name: 'Start the call' }).waitFor();
  assert.deepEqual(await page.getByRole('combobox').locator('option').allTextContents(), ['English', 'Hindi']);
  assert.equal(await page.locator('earshot-call img').count(), 0);
  assert.deepEqual(await faults(page), []);
  await page.getByRole('combobox').selectOption('hi');
  const asked = page.waitForRequest(
    (request) => request.url().endsWith('/v1/embed/calls') && request.method() === 'POST',
  );
  await page.getByRole('button', { name: 'Start the call' }).click();
  assert.equal((await asked).postDataJSON().language, 'hi');
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('what is no key comes into no line to paste', { timeout: 300000 }, async () => {
  const foreign = encodeURIComponent('pk_"></script><script src="https://elsewhere.example/x.js">');
  const page = await open(quiet, `${service.url}/docs/button#key=${foreign}`);
  const line = page.locator('#snippet');
  await line.filter({ hasText: 'pk_...' }).waitFor();
  assert.doesNotMatch(await line.textContent(), /elsewhere/);
  await page.close();
});

test('the page of the button shows it live, by the key in the address', { timeout: 300000 }, async () => {
  const agent = await newAgent();
  const page = await open(quiet, `${service.url}/docs/button#key=${agent.publicKey}`);
  assert.match(
    await page.locator('#snippet').textContent(),
    new RegExp(`${service.url}/embed/earshot.js.*${agent.publicKey}`, 's'),
  );
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    assert.deepEqual(await faults(page), [], scheme);
    await picture(page, `button-docs-${scheme}`);
  }
  await page.getByRole('button', { name: 'Talk to us' }).click();
  await page.getByRole('button', { name: 'Start the call' }).click();
  await page.getByRole('button', { name: 'Hang up' }).click();
  await until(async () => /earshot:ended/.test(await page.locator('#events').textContent()), {
    what: 'the events on the page',
  });
  assert.deepEqual(page.errors, []);
  await page.close();
});

test(
  'pages of the service are compressed for those who take it, and only the button is for other origins',
  { timeout: 300000 },
  async () => {
    for (const [path, isShared] of [
      ['/embed/earshot.js', true],
      ['/embed/call.js', true],
      ['/embed/livekit-client.js', true],
      ['/studio/try.js', false],
      ['/', false],
    ]) {
      const { headers, status } = await fetch(service.url + path, { headers: { 'Accept-Encoding': 'gzip' } });
      assert.equal(status, 200, path);
      assert.equal(headers.get('content-encoding'), 'gzip', path);
      assert.equal(headers.get('access-control-allow-origin'), isShared ? '*' : null, path);
      const plain = await fetch(service.url + path, { headers: { 'Accept-Encoding': 'identity' } });
      assert.equal(plain.headers.get('content-encoding'), null, path);
      assert.equal(
        (await fetch(service.url + path, { headers: { 'If-None-Match': headers.get('etag') } })).status,
        304,
        path,
      );
    }
    for (const path of ['/embed/', '/embed/x.js', '/studio/embed/x.js', '/embed/../x'])
      assert.equal((await fetch(service.url + path)).status, 401, path);
  },
);
