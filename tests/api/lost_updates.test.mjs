/* Changes of different fields that come at once: none is lost, on either database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiForFile } from './contract.mjs';

const ROUNDS = 10;
let workspace;
const { t } = apiForFile({}, async () => { workspace = await t.newWorkspace(); });

/* In each round every field is changed by a request of its own, all at once; then the round's value stands in all of
 * them. */
async function changeAll(path, method, name, fields) {
  for (let round = 1; round <= ROUNDS; round++) {
    const wanted = Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, value(round)]));
    const answers = await Promise.all(Object.entries(wanted)
      .map(([field, value]) => workspace.api(method, path, { [field]: value })));
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    const found = (await workspace.api('GET', path)).body[name];
    for (const [field, value] of Object.entries(wanted)) assert.deepEqual(found[field], value,
      `${field} in round ${round}`);
  }
}

test('changes of a tool', async () => {
  const { body: { tool } } = await workspace.api('POST', '/v1/tools',
    { name: 'n', description: 'd', url: 'http://127.0.0.1:9/' });
  await changeAll(`/v1/tools/${tool.id}`, 'PUT', 'tool', {
    description: (n) => `d${n}`, url: (n) => `http://127.0.0.1:9/${n}`, timeoutMs: (n) => 1000 + n,
      body: (n) => `b${n}`,
    sampleOutput: (n) => `s${n}`, authUsername: (n) => `u${n}`,
  });
});

test('changes of a subscription', async () => {
  const { body: { webhook } } = await workspace.api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/' });
  await changeAll(`/v1/webhooks/${webhook.id}`, 'PATCH', 'webhook', {
    url: (n) => `http://127.0.0.1:9/${n}`, events: (n) => [n % 2 ? 'call.ended' : 'call.started'],
      enabled: (n) => n % 2 === 0,
  });
});

test('changes of an agent', async () => {
  const { body: { agent } } = await workspace.api('POST', '/v1/agents',
    { name: 'n', greetingMode: 'none', webhookUrl: '' });
  await changeAll(`/v1/agents/${agent.id}`, 'PATCH', 'agent', {
    name: (n) => `n${n}`, systemInstruction: (n) => `s${n}`, webhookUrl: (n) => `http://127.0.0.1:9/${n}`,
      greetingText: (n) => `g${n}`,
  });
});
