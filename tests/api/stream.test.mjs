/* GET /v1/calls/{id}/stream: a call is told as it goes on, to who may see it, until its end. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { named, silence, watchAt } from '../harness/stream.mjs';
import { signIn } from '../harness/studio.mjs';

const OWN_STREAMS = 3;
let service, workspace, dir;

before(async () => {
  service = await startService({ env: { EARSHOT_HTTP_STREAMS: String(10 * OWN_STREAMS), EARSHOT_RATE_LIMIT: '0' } });
  workspace = await makeWorkspace(service);
  dir = mkdtempSync(join(tmpdir(), 'earshot-stream-'));
});
after(async () => {
  await service?.close();
  rmSync(dir, { recursive: true, force: true });
});

const watch = (callId, headers) => watchAt(service.url, callId, headers);
const byKey = (key = workspace.key) => ({ Authorization: `Bearer ${key}` });

/* Streams of earlier tests may hold the places yet. */
const open = (callId) => until(async () => {
  const one = await watch(callId, byKey());
  return one.status === 200 && one;
}, { what: 'a place' });

async function start(fields = {}) {
  const given = { name: 'Watched', greetingMode: 'none', ...fields };
  const { agent } = (await workspace.api('POST', '/v1/agents', given)).body;
  const { callId } = (await workspace.api('POST', '/v1/calls', { agentId: agent.id })).body;
  return { agent, callId };
}

const oneCall = async () => (await workspace.api('GET', '/v1/calls?status=active')).body.calls[0];

test('states, turns, runs of tools and the end are told as they come', { timeout: 120000 }, async () => {
  const { tool } = (await workspace.api('POST', '/v1/tools',
    { name: 'prices', description: 'd', kind: 'before_call', url: 'http://127.0.0.1:9/' })).body;
  const { agent } = (await workspace.api('POST', '/v1/agents',
    { name: 'Watched', greetingMode: 'static', greetingText: 'Hello there.', toolIds: [tool.id] })).body;
  const called = service.cli('call', '--agent', agent.id, '--in', silence(dir), '--seconds', '200',
    '--url', service.url, '--key', workspace.key);
  const { id } = await until(oneCall, { what: 'the call' });
  const stream = await watch(id, byKey());
  assert.deepEqual([stream.status, stream.type], [200, 'text/event-stream']);
  await until(() => named(stream, 'turn').length, { what: 'the greeting' });
  const [turn] = named(stream, 'turn');
  assert.deepEqual([turn.role, turn.text], ['assistant', 'Hello there.']);
  assert.equal(named(stream, 'call')[0].status, 'active');
  assert.deepEqual(named(stream, 'tool').map((run) => [run.name, run.status]), [['prices', 'failed']]);
  await until(() => named(stream, 'state').length, { what: 'what the agent does' });
  const before = await watch(id, { ...byKey(), 'Last-Event-ID': '1' });
  await workspace.api('POST', `/v1/calls/${id}/say`, { text: 'One more thing.' });
  await until(() => named(stream, 'turn').length === 2, { what: 'what was said' });
  await workspace.api('POST', `/v1/calls/${id}/end`);
  await until(() => stream.isOver && before.isOver, { what: 'the end of the streams' });
  assert.deepEqual([stream.fault, before.fault], [undefined, undefined]);
  const [last, end] = stream.events.slice(-2);
  assert.deepEqual([last.event, last.data.status, last.data.endReason, end.event], ['call', 'ended', 'api', 'end']);
  assert.deepEqual(named(before, 'turn').map(({ text }) => text), ['One more thing.'], 'what was seen');
  const { transcript } = (await workspace.api('GET', `/v1/calls/${id}`)).body.call;
  assert.deepEqual(named(stream, 'turn'), transcript);
  await called.catch(() => {});
  const late = await watch(id, byKey());
  await until(() => late.isOver, { what: 'the stream of a call that is over' });
  assert.deepEqual(late.events.at(-1).event, 'end');
});

test('who may not see the call sees no stream, and no more once that is so', { timeout: 120000 }, async () => {
  const { agent, callId } = await start();
  const other = await makeWorkspace(service, { name: 'Other' });
  assert.equal((await watch(callId, byKey(other.key))).status, 404);
  assert.equal((await watch(callId, byKey(agent.apiKey))).status, 403);
  assert.equal((await watch(callId, {})).status, 401);
  const ann = await signIn(service, { workspaceId: workspace.workspaceId, email: 'ann@example.com' });
  assert.equal((await watch(callId, { Cookie: ann.cookie })).status, 403, 'no page of ours');
  const made = ['--workspace', workspace.workspaceId, '--name', 'second', '--json'];
  const second = await service.cli('key', 'create', ...made);
  const seen = await watch(callId, { Cookie: ann.cookie, 'X-Earshot-Studio': '1' });
  const keyed = await watch(callId, byKey(second.apiKey.key));
  assert.deepEqual([seen.status, keyed.status], [200, 200]);
  await ann('DELETE', '/v1/session');
  await service.cli('key', 'revoke', '--key', second.apiKey.id);
  await until(() => seen.isOver && keyed.isOver, { what: 'the end of what they may see' });
  assert.deepEqual([...named(seen, 'end'), ...named(keyed, 'end')], [], 'the call goes on');
  await workspace.api('POST', `/v1/calls/${callId}/end`);
});

/* A key is looked at with each sign of life, too: the witness, who came first, has none yet. */
test('a stream ends as soon as its member is removed or its key revoked', { timeout: 120000 }, async () => {
  const { callId } = await start();
  const ann = await signIn(service, { workspaceId: workspace.workspaceId, email: 'ann@example.com' });
  const made = (await ann('POST', '/v1/members', { name: 'B', email: 'bob@example.com', role: 'viewer' })).body;
  const bob = await signIn(service, { link: made.link });
  const { apiKey: key } = (await ann('POST', '/v1/keys', { name: 'third' })).body;
  const witness = await open(callId);
  const asBob = await watch(callId, { Cookie: bob.cookie, 'X-Earshot-Studio': '1' });
  const keyed = await watch(callId, byKey(key.key));
  assert.deepEqual([asBob.status, keyed.status], [200, 200]);
  const gone = [[asBob, `/v1/members/${made.member.id}`], [keyed, `/v1/keys/${key.id}`]];
  for (const [stream, path] of gone) {
    assert.equal((await ann('DELETE', path)).status, 200);
    await until(() => stream.isOver || witness.beats, { what: 'the end, or a sign of life' });
    assert.deepEqual([stream.isOver, named(stream, 'end'), witness.isOver], [true, [], false]);
  }
  await until(() => witness.beats, { what: 'a sign of life of who may see it' });
  await workspace.api('POST', `/v1/calls/${callId}/end`);
  await until(() => witness.isOver, { what: 'the end' });
});

test('a workspace has so many streams at once, and the place of who leaves is free', { timeout: 120000 }, async () => {
  const { callId } = await start();
  const streams = [];
  for (let i = 0; i < OWN_STREAMS; i++) streams.push(await open(callId));
  const refused = await client(service, workspace.key)('GET', `/v1/calls/${callId}/stream`);
  assert.deepEqual([refused.status, refused.body.code, refused.headers.get('retry-after')], [429, 'RATE_LIMITED', '5']);
  assert.equal((await workspace.api('GET', '/v1/me')).status, 200, 'requests have places of their own');
  streams[0].close();
  const next = await open(callId);
  assert.equal(named(await until(() => next.events.length && next, { what: 'its first event' }), 'call').length, 1);
  await workspace.api('POST', `/v1/calls/${callId}/end`);
  await until(() => next.isOver && streams.every((one) => one.isOver), { what: 'the end' });
});

/* So many turns, of 4 kB each, as if they had been said already: more than sockets hold. */
function fill(callId, turns) {
  sql(service, `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${turns})
    INSERT INTO call_turns (call_id, position, role, text, at_ms)
    SELECT '${callId}', i, 'assistant', '${'word '.repeat(800)}', 1700000000000 FROM n;
    UPDATE calls SET turns = ${turns} WHERE id = '${callId}'`);
}

/* Asks for the stream and reads no more of it than the status: resolves with that, and the socket. */
async function askAndSleep(callId) {
  const { hostname, port } = new URL(service.url);
  const seen = Buffer.alloc('HTTP/1.1 200'.length);
  let socket;
  const status = await new Promise((resolve) => {
    const callback = (length) => {
      resolve(seen.toString('latin1', 0, length));
      return false;
    };
    socket = connect({ host: hostname, port, onread: { buffer: seen, callback } });
    socket.on('error', () => {}); // it is cut
    const key = `Authorization: Bearer ${workspace.key}`;
    socket.write(`GET /v1/calls/${callId}/stream HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`);
  });
  return { status, socket };
}

test('who asks and does not read is cut, and the others are told all', { timeout: 240000 }, async () => {
  const TURNS = 5000;
  const { callId } = await start();
  fill(callId, TURNS);
  const sleeper = await until(async () => {
    const one = await askAndSleep(callId);
    if (one.status === 'HTTP/1.1 200') return one.socket;
    one.socket.destroy();
    return false;
  }, { what: 'a place for who sleeps' });
  const others = [];
  while (others.length < OWN_STREAMS - 1) others.push(await open(callId));
  await until(() => others.every((one) => named(one, 'turn').length === TURNS), { what: 'all turns' });
  (await open(callId)).close(); // the place of who slept
  await workspace.api('POST', `/v1/calls/${callId}/end`);
  await until(() => others.every((one) => one.isOver), { what: 'the end' });
  for (const one of others) assert.equal(one.events.at(-1).event, 'end');
  sleeper.destroy();
});
