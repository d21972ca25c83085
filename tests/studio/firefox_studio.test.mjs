/* The studio's main walk in Debian's Firefox: from the printed link through an agent, a document and a search, a test
 * call, and a key, to the call's page. The microphone is a tone, which says nothing. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { hasFirefox, openFirefox } from '../harness/firefox.mjs';

const option = { timeout: 300000, skip: !hasFirefox() && 'firefox-esr is not installed' };
let service, workspace, firefox;
before(async () => {
  if (option.skip) return;
  service = await startService();
  workspace = await makeWorkspace(service);
  firefox = await openFirefox();
});
after(async () => {
  await firefox?.close();
  await service?.close();
});

const quoted = JSON.stringify;
/* Expressions of what a person would look for: by what is written on it, or by its label. */
const written = (selector, text) =>
  `[...document.querySelectorAll(${quoted(selector)})].find((e) => e.checkVisibility() && ` +
  `e.textContent.trim().startsWith(${quoted(text)}))`;
const labelled = (text) => `${written('label', text)}?.control`;
const there = (element, what = element) => until(() => firefox.evaluate(`Boolean(${element})`), { what });
const click = async (element, what) => {
  await there(element, what);
  await firefox.click(element);
};
const button = (text) => click(written('button', text), `the button ${text}`);
const fill = async (label, text) => {
  await there(labelled(label), `the field ${label}`);
  await firefox.type(labelled(label), text);
};
const heading = (text) => there(written('h1', text), `the page ${text}`);
const greeting =
  "[...document.querySelectorAll('.bubbles .assistant:not(.is-interim)')].find((e) => /Firefox/.test(e.innerText))";
const at = (path) => firefox.goto(`${service.url}${path}`);

test('the printed link signs in, and an agent is made from a template and edited', option, async () => {
  const { link } = await service.cli('studio', 'link', '--workspace', workspace.workspaceId, '--json');
  await at(`/studio#link=${link}`);
  await heading('Overview');
  await click(written('nav a', 'Agents'));
  await heading('Agents');
  await button('New agent');
  await button('Front desk');
  await fill('Name', 'Desk');
  await button('Create');
  await heading('Desk');
  await fill('Name', 'Reception');
  await fill('What it says first', 'Hello, this is Firefox.');
  await button('Save');
  await there(written('.toast', 'Saved.'));
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  assert.deepEqual([agent.name, agent.greetingText], ['Reception', 'Hello, this is Firefox.']);
});

test('a text is added to what agents know, and found', option, async () => {
  await at('/studio/knowledge');
  await button('Add');
  await fill('Name', 'hours');
  await fill('Text', 'We are open from nine to five.');
  await click(written('dialog button[type=submit]', 'Add'));
  await there(written('td', 'Ready'));
  await fill('A question of a caller', 'When are you open?');
  await click(written('form button', 'Search'));
  await there(written('li', 'We are open from nine to five.'), 'the passage');
});

test('a test call is heard, ended, and looked at', option, async () => {
  const { agents: [agent] } = (await workspace.api('GET', '/v1/agents')).body;
  await at(`/studio/agents/${agent.id}`);
  await button('Start a test call');
  await there(greeting, 'the greeting');
  await button('Hang up');
  await click(written('a', 'Details of the call'));
  await heading('Call of');
  await there(greeting, 'the greeting in the transcript');
  const call = async () => (await workspace.api('GET', '/v1/calls?source=studio')).body.calls[0];
  await until(async () => (await call()).endReason === 'user-left', { what: 'the end of the call' });
});

test('a key is made, shown once, and works', option, async () => {
  await at('/studio/keys');
  await button('New key');
  await fill('Name', 'from Firefox');
  await button('Create');
  await there("document.querySelector('.secret code')");
  const key = await firefox.evaluate("document.querySelector('.secret code').textContent.trim()");
  assert.equal((await client(service, key)('GET', '/v1/me')).status, 200);
});
