/* The call button in Debian's Firefox: another origin, a strict policy, a real call. Its microphone is a tone, which
 * says nothing. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { makeWorkspace, startService, until } from '../harness/service.mjs';
import { hasFirefox, openFirefox } from '../harness/firefox.mjs';

test(
  'a visitor with Firefox hears the greeting, and hangs up',
  { timeout: 300000, skip: !hasFirefox() && 'firefox-esr is not installed' },
  async () => {
    const service = await startService();
    const { api } = await makeWorkspace(service);
    const { agent } = (
      await api('POST', '/v1/agents', {
        name: 'Desk',
        greetingMode: 'static',
        greetingText: 'Hello, this is a greeting.',
        embed: { enabled: true },
      })
    ).body;
    const site = createServer((request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.setHeader(
        'Content-Security-Policy',
        `default-src 'none'; script-src ${service.url}; connect-src ${service.url} ` +
        `${service.url.replace('http', 'ws')}`,
      );
      response.end(
        `<!doctype html><html lang="en"><title>A shop</title><h1>A shop</h1><earshot-call ` +
        `key="${agent.publicKey}" consent="off"></earshot-call><script ` +
        `src="${service.url}/embed/earshot.js"></script></html>`,
      );
    });
    await new Promise((done) => site.listen(0, '127.0.0.1', done));
    const firefox = await openFirefox();
    try {
      await firefox.goto(`http://127.0.0.1:${site.address().port}/`);
      await firefox.evaluate(
        "['started', 'transcript', 'ended', 'error'].map((name) => addEventListener(`earshot:${name}`, (event) " +
        "=> (globalThis.told ??= []).push([name, event.detail])))",
      );
      await firefox.click("document.querySelector('earshot-call')");
      const told = await until(
        async () => {
          const all = await firefox.evaluate('globalThis.told ?? []');
          return (
            all.some(
              ([name, detail]) => name === 'error' || (name === 'transcript' && /this is a greeting/.test(detail.text)),
            ) && all
          );
        },
        { what: 'the greeting' },
      );
      assert.equal(told[0][0], 'started', JSON.stringify(told));
      assert.ok(
        told.every(([name]) => name !== 'error'),
        JSON.stringify(told),
      ); // the recogniser may take the tone for words
      await firefox.click("document.querySelector('earshot-call').shadowRoot.querySelector('.end')");
      await until(
        async () =>
          (await firefox.evaluate('globalThis.told')).some(
            ([name, detail]) => name === 'ended' && detail.reason === 'caller',
          ),
        { what: 'the end' },
      );
      await until(
        async () => (await api('GET', `/v1/calls/${told[0][1].callId}`)).body.call.endReason === 'user-left',
        { what: 'the end of the call' },
      );
    } finally {
      await firefox.close();
      site.close();
      await service.close();
    }
  },
);
