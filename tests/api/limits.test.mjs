/* Rates: a bucket for each key, failed authentications of an address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiForFile, refused, startApi } from './contract.mjs';

/* So few a minute that none comes back while a slow machine thinks. */
const FAILURES = 2;
const { t } = apiForFile({ env: { EARSHOT_RATE_LIMIT: '1', EARSHOT_RATE_BURST: '20',
  EARSHOT_AUTH_FAIL_LIMIT: String(FAILURES) } });

test('a key has its bucket, told in headers', async () => {
  const own = await t.newWorkspace();
  const first = await own.api('GET', '/v1/me');
  assert.equal(first.headers.get('ratelimit-limit'), '1');
  assert.equal(first.headers.get('ratelimit-remaining'), '19');
  assert.ok(Number(first.headers.get('ratelimit-reset')) >= 1);
  let last = first;
  for (let i = 0; i < 30 && last.status === 200; i++) last = await own.api('GET', '/v1/me');
  refused(last, 429, 'RATE_LIMITED');
  assert.ok(Number(last.headers.get('retry-after')) >= 1);
  assert.equal(last.headers.get('ratelimit-remaining'), '0');
  refused(await own.api('GET', '/v1/nothing'), 429, 'RATE_LIMITED');
  assert.equal((await t.api('GET', '/v1/me')).status, 200);
});

test('failed authentications of an address are limited, a valid key still works', async () => {
  const nobody = t.as('nonsense');
  for (let i = 0; i < FAILURES; i++) refused(await nobody('GET', '/v1/me'), 401, 'UNAUTHORIZED');
  const last = await nobody('GET', '/v1/me');
  refused(last, 429, 'RATE_LIMITED');
  assert.ok(Number(last.headers.get('retry-after')) >= 1);
  assert.equal((await t.api('GET', '/v1/me')).status, 200);
});

test("a room's token that fails counts like a key, one that is good does not", async () => {
  const own = await startApi({ env: { EARSHOT_AUTH_FAIL_LIMIT: String(FAILURES) } });
  try {
    const join = async (token) => (await fetch(`${own.service.url}/rtc/validate?access_token=${token}`)).status;
    const { body: { agent } } = await own.api('POST', '/v1/agents', { name: 'a', greetingMode: 'none' });
    const { body: { token } } = await own.api('POST', '/v1/calls', { agentId: agent.id });
    for (let i = 0; i < 10; i++) assert.equal(await join(token), 200);
    for (let i = 0; i < FAILURES; i++) assert.equal(await join('nonsense'), 401);
    assert.equal(await join('nonsense'), 429);
    refused(await own.as('nonsense')('GET', '/v1/me'), 429, 'RATE_LIMITED');
    assert.equal(await join(token), 200);
  } finally {
    await own.close();
  }
});
