/* The end of a service and its next start, while others still want something of it: what is asked, sent and read then
 * is finished or left to the next start, once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startReceiver } from '../harness/receiver.mjs';
import { client, until } from '../harness/service.mjs';
import { indexSql, sql } from '../harness/sql.mjs';
import { startApi } from './contract.mjs';

const HELD_MS = 2500; // an answer comes after several looks for what is due
const AGENT = { name: 'a', greetingMode: 'none' };

let t;
before(async () => { t = await startApi({ env: { EARSHOT_SERVICE_DRAIN_GRACE: '1' } }); });
after(() => t?.close());

async function startCalls(webhookUrl, count) {
  const { body: { agent } } = await t.api('POST', '/v1/agents', { ...AGENT, webhookUrl });
  for (let n = 0; n < count; n++) await t.api('POST', '/v1/calls', { agentId: agent.id });
}

async function again() {
  await t.service.restart();
  t.api = client(t.service, t.workspace.key);
}

/* Refuses at first; when `isWell`, answers late. */
async function moodyReceiver() {
  const posts = []; // { id, isWell }
  const receiver = { posts, isWell: false };
  const server = createServer((request, response) => {
    const { isWell } = receiver;
    posts.push({ id: request.headers['x-service-delivery'], isWell });
    request.resume();
    if (isWell) setTimeout(() => response.writeHead(204).end(), HELD_MS);
    else response.writeHead(500).end();
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  receiver.url = `http://127.0.0.1:${server.address().port}/`;
  receiver.close = () => { server.closeAllConnections(); server.close(); };
  return receiver;
}

test('what is due when a service starts is sent once', async () => {
  const receiver = await moodyReceiver();
  const { body: { webhook } } = await t.api('POST', '/v1/webhooks', { url: receiver.url, events: ['call.started'] });
  await startCalls('', 3);
  await until(() => new Set(receiver.posts.map(({ id }) => id)).size === 3, { what: 'the first attempts' });
  await t.service.stop('SIGTERM');
  sql(t.service, `UPDATE deliveries SET due_ms = ${Date.now()} WHERE state = 'waiting' AND due_ms > ${Date.now()}`);
  receiver.isWell = true;
  await again();
  await until(async () => {
    const { body } = await t.api('GET', `/v1/webhooks/${webhook.id}/deliveries?limit=100`);
    return body.deliveries.length === 3 && body.deliveries.every(({ state }) => state === 'delivered');
  }, { what: 'the deliveries' });
  const sent = receiver.posts.filter(({ isWell }) => isWell).map(({ id }) => id);
  assert.deepEqual([...sent].sort(), [...new Set(sent)].sort(), 'each once since the start');
  await t.api('DELETE', `/v1/webhooks/${webhook.id}`);
  receiver.close();
});

test('a receiver that never answers keeps no outcome from being stored', async () => {
  const receiver = await startReceiver();
  await startCalls(receiver.url('/slow'), 2);
  await until(() => receiver.of('/slow').length >= 2, { what: 'attempts under way' });
  const from = t.service.output.length;
  assert.equal((await t.service.stop('SIGTERM')).code, 0);
  assert.doesNotMatch(t.service.output.slice(from), /webhooks\.(store|stop) /);
  await again();
  receiver.close();
});

/* `earshot show` again and again, without the program. */
function keepAsking(path) {
  const asking = { isOn: true, answers: 0 };
  const ask = () => {
    if (!asking.isOn) return;
    const socket = connect(path);
    socket.on('data', () => { asking.answers++; });
    socket.on('error', () => {});
    socket.on('close', () => setImmediate(ask));
  };
  for (let n = 0; n < 40; n++) ask();
  return asking;
}

test('a service that is being looked at ends well', async () => {
  for (let round = 0; round < 3; round++) {
    const asking = keepAsking(join(t.service.data, 'earshot.sock'));
    await until(() => asking.answers > 100, { what: 'answers to show' });
    assert.equal((await t.service.stop('SIGTERM')).code, 0);
    asking.isOn = false;
    await again();
  }
});

/* Cutting it takes a while, in a sanitizer's build above all. */
const longText = () => Array.from({ length: 12000 }, (_, n) => `Sentence ${n} has words like ${n * 7919 % 99991}.` +
  (n % 9 ? '' : '\n\n')).join(' ');

test('a document that is being cut keeps no service from its end and is read by the next one', async () => {
  const text = new TextEncoder().encode(longText());
  const ids = [];
  for (let n = 0; n < 2; n++) {
    const { status, body, text: said } = await t.api('POST', `/v1/knowledge/documents?name=Book${n}.txt`, text,
      { 'Content-Type': 'application/octet-stream' });
    assert.equal(status, 201, said);
    ids.push(body.document.id);
  }
  assert.equal((await t.service.stop('SIGTERM')).code, 0);
  await again();
  for (const id of ids)
    await until(async () => (await t.api('GET', `/v1/knowledge/documents/${id}`)).body.document.status === 'ready',
      { what: 'a document to be read' });
});

/* Holds SQLite's write lock, from another process. */
async function holdLock(service) {
  const child = spawn('sqlite3', ['-cmd', '.timeout 10000', join(service.data, 'earshot.db')],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((end) => child.on('close', end));
  const held = new Promise((come) => child.stdout.once('data', come));
  child.stdin.write("BEGIN IMMEDIATE; SELECT 'held';\n");
  await held;
  return { release: () => { child.stdin.end('COMMIT;\n'); return ended; } };
}

/* Calls can be made, but their ends fail each time as if the disk were at fault. */
const NO_END = `CREATE TRIGGER no_end BEFORE UPDATE OF end_reason ON calls WHEN NEW.end_reason = 'dispatch-failed'
  BEGIN SELECT RAISE(ROLLBACK, 'not now'); END`;

test('starts that are committed when the service ends keep it from no end, and each is answered',
  { skip: process.env.TEST_DATABASE === 'postgresql' && "is about SQLite's one writer" }, async () => {
    const STARTS = 4;
    const { body: { agent } } = await t.api('POST', '/v1/agents', AGENT);
    sql(t.service, NO_END);
    const lock = await holdLock(t.service);
    const from = t.service.output.length;
    const said = () => t.service.output.slice(from);
    const starts = [...Array(STARTS)].map(() => t.api('POST', '/v1/calls', { agentId: agent.id }));
    await until(async () => (await t.service.cli('show', '--json')).service.connections >= STARTS,
      { what: 'the starts to wait' });
    const ended = t.service.stop('SIGTERM');
    await until(() => said().includes('event=service.drain'), { what: 'the drain' });
    await lock.release();
    const answers = await Promise.all(starts);
    assert.deepEqual(await ended, { code: 0, signal: null });
    const told = answers.map(({ status, body }) => `${status} ${body.code}`);
    assert.deepEqual(told, Array(STARTS).fill('503 UNAVAILABLE'));
    assert.doesNotMatch(said(), /service\.cut/);
    sql(t.service, 'DROP TRIGGER no_end');
    await again();
    const rows = () => sql(t.service, `SELECT status, end_reason, count(*) FROM calls WHERE agent_id = '${agent.id}'
      GROUP BY 1, 2`);
    await until(() => rows() === `ended|agent-shutdown|${STARTS}`, { what: 'recovery to end them' });
  });

/* Many different words: the index takes its time to take them in. */
const spelled = (n) => { // a word of its own for each number
  let word = '';
  for (let rest = n + 1; rest > 0; rest = Math.floor(rest / 80))
    word += 'bcdfghklmnprstvz'[rest % 16] + 'aeiou'[rest % 80 >> 4];
  return word;
};
const manyWords = (book) => 'The zebra lives in house number nine.\n\n' + Array.from({ length: 60000 },
  (_, n) => spelled(n) + spelled(book) + (n % 9 ? '' : '.\n\n')).join(' ');

test('documents that are being indexed keep no service from its end and are found by the next one', async () => {
  const AT_ONCE = 4, ids = [], searches = [];
  let found = 0;
  const isReady = async (id) => (await t.api('GET', `/v1/knowledge/documents/${id}`)).body.document.status === 'ready';
  const search = (id) => t.api('POST', '/v1/knowledge/search',
    { documentIds: [id], query: 'where does the zebra live' });
  const isMaking = () => { // one of these: those of the test before may be in the making yet
    const own = ids.map((id) => `'${id}'`);
    return indexSql(t.service, `SELECT count(*) FROM documents WHERE state = 0 AND id IN (${own})`) !== '0';
  };
  const addSome = async () => {
    const from = ids.length;
    for (let n = from; n < from + AT_ONCE; n++) {
      const { status, body, text: said } = await t.api('POST', `/v1/knowledge/documents?name=Words${n}.txt`,
        new TextEncoder().encode(manyWords(n)), { 'Content-Type': 'application/octet-stream' });
      assert.equal(status, 201, said);
      ids.push(body.document.id);
    }
    for (const id of ids.slice(from)) await until(() => isReady(id), { what: 'a document to be read' });
    for (const id of ids.slice(from)) // each makes its own document meanwhile
      searches.push(search(id).then(() => { found++; }, () => {}));
  };
  await until(async () => {
    if (isMaking()) return true;
    if (found === ids.length) await addSome(); // or all were made before anybody looked
    return false;
  }, { what: 'a document to be in the making' });
  assert.equal((await t.service.stop('SIGTERM')).code, 0);
  await Promise.all(searches);
  await again();
  await until(async () => (await search(ids[0])).body.hits.length > 0, { what: 'a document to be found' });
  for (const id of ids) await t.api('DELETE', `/v1/knowledge/documents/${id}`);
});

/* The other node is a row alone: alive for 10 s, and silent. */
test('a request that waits for another node is answered before the end',
  { skip: process.env.TEST_DATABASE !== 'postgresql' && 'needs PostgreSQL' }, async () => {
    const { body: { agent } } = await t.api('POST', '/v1/agents', AGENT);
    const { body: { callId } } = await t.api('POST', '/v1/calls', { agentId: agent.id });
    await t.service.stop('SIGKILL');
    sql(t.service, `INSERT INTO nodes (id, epoch, public_url, lease_until_ms, started_ms)
      VALUES ('silent', 1, 'http://silent', ${Date.now() + 60000}, ${Date.now()});
      UPDATE calls SET owner = 'silent', owner_epoch = 1 WHERE id = '${callId}'`);
    await again();
    const answer = t.api('POST', `/v1/calls/${callId}/end`);
    await until(() => sql(t.service, `SELECT count(*) FROM commands WHERE node = 'silent'`) !== '0',
      { what: 'the command' });
    const exit = await t.service.stop('SIGTERM');
    assert.equal((await answer).status, 503, 'told before the connection closed');
    assert.equal(exit.code, 0);
    await again();
  });
