/* What a person does who has just started the service, from the printed link to the call button on a page of their own:
 * written once, and walked in each browser (walk_*.test.mjs). The data directory is empty, the engines are the embedded
 * ones, and the microphone says two questions again and again: the first is answered by the document, the second by
 * the tool. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { client, SOON_MS, startService, until } from '../harness/service.mjs';
import { speechFile } from '../harness/browser.mjs';
import { sign, startReceiver } from '../harness/receiver.mjs';

const QUESTIONS = ['What are your opening hours?', 'What is my order status?'];
const HOURS = 'Our opening hours are from nine in the morning to five in the evening. Dogs may come along.';
const STATE = 'on its way';
const HEARD_MS = 240000; // for a question that may be missed more than once, on whatever machine

const quoted = JSON.stringify;
/* Expressions of what a person would look for: by what is written on it, or by its label. */
const written = (selector, text, within = 'document') =>
  `[...${within}.querySelectorAll(${quoted(selector)})].find((e) => e.checkVisibility() && ` +
  `e.textContent.trim().startsWith(${quoted(text)}))`;
const saying = (selector, pattern) =>
  `[...document.querySelectorAll(${quoted(selector)})].find((e) => e.checkVisibility() && ` +
  `${pattern}.test(e.innerText))`;
const labelled = (text) => `${written('label', text)}?.control`;
const one = (selector, within = 'document') => `${within}.querySelector(${quoted(selector)})`;

/* open({ voice }): a browser whose microphone says that file: { goto(url), evaluate(expression), click(element),
 * type(element, text), choose(element, path), close() }; elements are expressions. */
export function walk(open, { skip = false } = {}) {
  const option = { timeout: 600000, skip };
  let service, browser, tool, hooks, site, secret, key;
  const asked = []; // of the tool

  before(async () => {
    if (skip) return;
    service = await startService({ args: ['--demo'] });
    hooks = await startReceiver();
    tool = await listen((request, response) => {
      asked.push({ path: request.url, headers: request.headers });
      response.end(JSON.stringify({ state: STATE }));
    });
    browser = await open({ voice: speechFile(QUESTIONS, { before: 4, after: 9 }) });
  });
  after(async () => {
    await browser?.close();
    for (const server of [tool, site]) { server?.closeAllConnections(); server?.close(); }
    hooks?.close();
    await service?.close();
  });

  const at = (path) => browser.goto(`${service.url}${path}`);
  const is = (element) => browser.evaluate(`Boolean(${element})`);
  const there = (element, what = element, options = {}) => until(() => is(element), { what, ...options });
  const click = async (element, what) => {
    await there(element, what);
    await browser.click(element);
  };
  const textOf = async (element) => {
    await there(element);
    return browser.evaluate(`${element}.textContent`);
  };
  const button = (text) => click(written('button', text), `the button ${text}`);
  const tab = (text) => click(written('.tabs a', text), `the tab ${text}`);
  const fill = async (label, text) => {
    await there(labelled(label), `the field ${label}`);
    await browser.type(labelled(label), text);
  };
  const heading = (text) => there(written('h1', text), `the page ${text}`);
  const save = async () => {
    await there(written('.saver p', 'There are changes'), 'the change');
    await button('Save');
    await there(written('.saver p', 'Everything is saved'), 'the save');
  };
  const openAgent = async () => {
    await click(written('nav a', 'Agents'));
    await heading('Agents');
    await click(written('td a', 'Reception'));
    await heading('Reception');
  };
  /* For what may move away under the pointer. */
  const clickUntil = (element, effect, what) => until(async () => {
    if (await is(element)) await browser.click(element).catch(() => {}); // it is there once more
    return there(effect, what, { timeoutMs: SOON_MS }).catch(() => false);
  }, { what });
  const heard = (element, what) => there(element, what, { timeoutMs: HEARD_MS }).catch(async (error) => {
    const said = await browser.evaluate("document.querySelector('.talk').innerText");
    throw new Error(`${error.message}; on the page: ${said}`);
  });

  test('the printed link signs in', option, async () => {
    await at(`/studio#${await until(() => service.output.match(/\/studio#(\S+)/)?.[1], { what: 'the printed link' })}`);
    await heading('Overview');
  });

  test('an agent is made from a template and edited', option, async () => {
    await click(written('nav a', 'Agents'));
    await button('New agent');
    await button('Front desk');
    await fill('Name', 'Reception');
    await button('Create');
    await heading('Reception');
    await fill('What it says first', 'Hello, this is the reception.');
    await save();
  });

  test('a document is uploaded, found by a question, and given to the agent', option, async () => {
    const file = join(service.data, 'hours.txt');
    writeFileSync(file, HOURS);
    await click(written('nav a', 'Knowledge'));
    await heading('Knowledge');
    await there(one('input[type=file]'), 'the place for files');
    await browser.choose(one('input[type=file]'), file);
    await there(saying('tr', '/hours\\.txt[^]*Ready/'), 'the document to be ready');
    await fill('A question of a caller', 'When are you open?');
    await click(written('form button', 'Search'));
    await there(written('li', 'Our opening hours are'), 'the passage');
    await openAgent();
    await tab('Documents');
    await click(labelled('hours.txt'));
    await save();
  });

  test('a tool is made, tested, and given to the agent', option, async () => {
    await click(written('nav a', 'Tools'));
    await heading('Tools');
    await click(written('a', 'New tool'));
    await fill('Name', 'order_status');
    await fill('Description', 'Tells where the order of a caller is.');
    await fill('Address', `${urlOf(tool)}/orders`);
    await button('Create');
    await heading('order_status');
    await button('Run');
    await there(written('aside pre', '{'), 'what the tool answered');
    assert.match(await textOf(one('aside pre')), new RegExp(STATE));
    assert.equal(asked.at(-1).headers['x-service-test-call'], 'true');
    await openAgent();
    await tab('Tools');
    await click(labelled('order_status'));
    await save();
  });

  test('a webhook is made, its secret shown', option, async () => {
    await click(written('nav a', 'Webhooks'));
    await button('New subscription');
    await fill('Address', hooks.url('/hook'));
    await button('Create');
    secret = await textOf(one('.secret code'));
    await click(written('dialog a', 'Done'));
    await button('Send a test');
    await there(written('p', 'The test was answered with 204'), 'the answer of the test');
  });

  const delivered = (type) => hooks.of('/hook').filter((delivery) => delivery.type === type);

  test('a test call answers from the document, runs the tool, and is told to the webhook', option, async () => {
    const before = asked.length;
    await openAgent();
    await button('Start a test call');
    await heard(saying('.bubbles .assistant', '/reception/'), 'the greeting');
    await heard(saying('.bubbles .user:not(.is-interim)', '/open/i'), 'the first question');
    await heard(saying('.bubbles .assistant', '/nine in the morning/i'), 'the answer out of the document');
    await heard(saying('.talk .runs summary', '/[1-9] found/'), 'what was looked up');
    await heard(saying('.bubbles .user:not(.is-interim)', '/order/i'), 'the second question');
    await heard(saying('.talk .runs summary', '/order_status[^]*answered/'), 'the run of the tool');
    await heard(saying('.bubbles .assistant', `/${STATE}/`), "the tool's answer");
    await heard(saying('.talk .state p', '/Listening/'), 'the end of the answer');
    assert.ok(await is(written('button', 'Hang up')), 'all of it while the call runs');
    const [run] = asked.slice(before);
    assert.deepEqual([run?.path, run?.headers['x-service-test-call']], ['/orders', 'true']);
    await clickUntil(written('button', 'Hang up'), written('a', 'Details of the call'), 'the end of the call');
    await clickUntil(saying('.talk .runs summary', '/[1-9] found/'), saying('.talk .runs blockquote', '/hours\\.txt/'),
      'the passage that was used');
    await click(written('a', 'Details of the call'));
    await heading('Call of');
    await there(saying('.bubbles .assistant', `/${STATE}/`), "the tool's answer in the transcript");
    await there(saying('.runs summary', '/order_status[^]*answered/'), 'the run in the details');
    const end = await until(() => delivered('call.ended')[0], { what: 'the webhook of the end' });
    assert.equal(end.signature, sign(secret, end.timestamp, end.body), 'signed with the secret that was shown');
    assert.match(end.body, new RegExp(STATE));
    await until(async () => {
      await button('Refresh');
      return is(saying('details summary', '/call\\.ended[^]*1 delivered/'));
    }, { what: 'the delivery on the page' });
  });

  test('a key is made, shown once, and used by curl', option, async () => {
    await click(written('nav a', 'API keys'));
    await heading('API keys');
    await button('New key');
    await fill('Name', 'Till');
    await button('Create');
    key = await textOf(one('.secret code'));
    const { stdout } = await promisify(execFile)('sh', ['-c', await textOf(one('dialog pre'))]);
    assert.match(stdout, /"name":"Till"/);
    await button('Done');
    const { calls: [call] } = (await client(service, key)('GET', '/v1/calls?source=studio')).body;
    assert.equal(call.endReason, 'user-left');
  });

  test('the button on a page of another origin calls, under a strict policy', option, async () => {
    await openAgent();
    await tab('Web button');
    await click(labelled('Web pages may call this agent'));
    await save();
    const snippet = await textOf(saying('.secret code', '/embed.earshot\\.js/'));
    const policy = `default-src 'none'; script-src ${service.url}; connect-src ${service.url} ` +
      service.url.replace('http', 'ws');
    site = await listen((request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.setHeader('Content-Security-Policy', policy);
      response.end(`<!doctype html><html lang="en"><title>A shop</title><h1>A shop</h1>${snippet}</html>`);
    });
    await browser.goto(urlOf(site));
    await heading('A shop');
    await browser.evaluate("['started', 'transcript', 'ended', 'error'].map((name) => " +
      'addEventListener(`earshot:${name}`, (event) => (globalThis.told ??= []).push({ name, ...event.detail })))');
    const told = (test) => browser.evaluate(`(globalThis.told ?? []).filter(${test})`);
    const within = `${one('earshot-call')}.shadowRoot`;
    await click(one('.call', within), 'the call button');
    await click(written('.start', 'Start the call', within), 'what agrees to the call');
    const happens = (test, what) => until(async () => (await told(test)).at(-1), { what, timeoutMs: HEARD_MS });
    const started = await happens("({ name }) => name !== 'transcript'", 'the call');
    assert.equal(started.name, 'started', quoted(started));
    await happens("({ role, text }) => role === 'assistant' && /reception/.test(text)", 'the greeting');
    await happens("({ role, text, isFinal }) => role === 'user' && isFinal && /open/i.test(text)", 'the question');
    await happens("({ role, text }) => role === 'assistant' && /nine in the morning/i.test(text)", 'the answer');
    await click(written('.end', 'Hang up', within), 'the end of the call');
    assert.equal((await happens("({ name }) => name === 'ended'", 'the end')).reason, 'caller');
    assert.deepEqual(await told("({ name }) => name === 'error'"), []);
    const call = async () => (await client(service, key)('GET', `/v1/calls/${started.callId}`)).body.call;
    await until(async () => (await call()).endReason === 'user-left', { what: 'the end of the call' });
    assert.equal((await call()).source, 'embed');
  });
}

const urlOf = (server) => `http://127.0.0.1:${server.address().port}`;

async function listen(answer) {
  const server = createServer(answer);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server;
}
