/* What is large does not hold up the control loop: an operation that costs it a callback with over 2 ms of work each
 * time is found. What a busy machine does to a callback, by taking the processor or the disk away, is counted apart. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../harness/service.mjs';
import { startApi } from './contract.mjs';

const ROUNDS = 8;
// of the rounds: cold caches, a slow machine's neighbours; what is done on the loop is slow in all of them
const MOST = 5;
let t, own;
before(async () => {
  t = await startApi({ env: { EARSHOT_RATE_LIMIT: '100000', EARSHOT_RATE_BURST: '10000' } });
  own = await t.newWorkspace();
});
after(() => t.close());

async function busyOfControl() {
  const { text } = await own.api('GET', '/metrics');
  return Number(text.match(/^earshot_loop_busy_callbacks_total\{loop="control"\} (\d+)/m)?.[1] ?? 0);
}

/* The rounds in which the loop had such a callback. */
async function slowRounds(act) {
  let rounds = 0;
  for (let i = 0; i < ROUNDS; i++) {
    const before = await busyOfControl();
    await act(i);
    rounds += (await busyOfControl()) > before;
  }
  return rounds;
}

const line = 'The warehouse is open from nine to five on every weekday of the year.\n\n';
const upload = (bytes, name) =>
  own.api('POST', `/v1/knowledge/documents?name=${name}`, bytes, { 'Content-Type': 'application/octet-stream' });

// A sanitizer makes every callback several times as long.
const skip = process.env.ASAN_OPTIONS ? 'times of a sanitizer mean nothing' : false;

test('a file of 20 MB is given back', { skip }, async () => {
  const bytes = Buffer.from(`%PDF-1.7\n${line.repeat(280000)}`);
  const { status, body } = await upload(bytes, 'long.pdf');
  assert.equal(status, 201, JSON.stringify(body));
  const path = `/v1/knowledge/documents/${body.document.id}`;
  await until(async () => (await own.api('GET', path)).body.document.status !== 'processing');
  const slow = await slowRounds(async () => {
    assert.equal((await own.api('GET', `${path}/file`)).text.length, bytes.length);
  });
  assert.ok(slow <= MOST, `${slow} of ${ROUNDS} downloads were slow`);
});

test('long bodies and answers in memory', { skip }, async () => {
  const instruction = 'x'.repeat(25000);
  const { body: { agent } } = await own.api('POST', '/v1/agents', { name: 'Long', systemInstruction: instruction });
  const text = line.repeat(2700);
  const rows = {
    'an agent': () => own.api('GET', `/v1/agents/${agent.id}`),
    'a text of 190 KB': () => own.api('POST', '/v1/knowledge/documents', { name: 'Long', text }),
    'the OpenAPI document': () => own.api('GET', '/v1/openapi.json'),
    'a page': () => own.api('GET', '/docs'),
    'a body over its ceiling': () => own.api('POST', '/v1/agents', { name: 'x'.repeat(3 << 20) }),
  };
  for (const [what, act] of Object.entries(rows)) {
    const slow = await slowRounds(act);
    assert.ok(slow <= MOST, `${what}: ${slow} of ${ROUNDS} were slow`);
  }
});
