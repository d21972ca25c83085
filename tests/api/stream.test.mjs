/* GET /v1/calls/{id}/stream: a call is told as it goes on, to who may see it, until its end. */
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { signIn } from '../harness/studio.mjs';

const OWN_STREAMS = 3;
let service, workspace, dir;

before(async () => {
  service = await startService({ env: { EARSHOT_HTTP_STREAMS: String(10 * OWN_STREAMS) } });
  workspace = await makeWorkspace(service);
  dir = mkdtempSync(join(tmpdir(), 'earshot-stream-'));
});
after(async () => {
  await service?.close();
  rmSync(dir, { recursive: true, force: true });
});

/* Half a second of silence at 16 kHz. */
function silence() {
  const file = join(dir, 'silence.wav');
  const head = Buffer.alloc(44);
  head.write('RIFF', 0); head.writeUInt32LE(36 + 16000, 4); head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22); head.writeUInt32LE(16000, 24);
  head.writeUInt32LE(32000, 28); head.writeUInt16LE(2, 32); head.writeUInt16LE(16, 34); head.write('data', 36);
  head.writeUInt32LE(16000, 40);
  writeFileSync(file, Buffer.concat([head, Buffer.alloc(16000)]));
  return file;
}

/* answers { status, type, events, isOver, close() }; events grow as they come. */
async function watch(callId, headers) {
  const cut = new AbortController();
  const response = await fetch(`${service.url}/v1/calls/${callId}/stream`, { headers, signal: cut.signal });
  const type = response.headers.get('content-type');
  const stream = { status: response.status, type, events: [], isOver: false, close: () => cut.abort() };
  let rest = '';
  const read = async () => {
    for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + part).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const fields = block.split('\n').map((line) => line.match(/^(\w*): (.*)$/).slice(1));
        const { event, id, data } = Object.fromEntries(fields);
        if (event) stream.events.push({ event, id, data: JSON.parse(data) });
      }
    }
  };
  read().catch((error) => { if (!cut.signal.aborted) stream.fault = error; }).then(() => { stream.isOver = true; });
  return stream;
}

const byKey = (key = workspace.key) => ({ Authorization: `Bearer ${key}` });
const named = (stream, name) => stream.events.filter(({ event }) => event === name).map(({ data }) => data);

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
  const called = service.cli('call', '--agent', agent.id, '--in', silence(), '--seconds', '20', '--url', service.url,
    '--key', workspace.key);
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

test('a workspace has so many streams at once, and the place of who leaves is free', { timeout: 120000 }, async () => {
  const { callId } = await start();
  const streams = [];
  for (let i = 0; i < OWN_STREAMS; i++) streams.push(await watch(callId, byKey()));
  const refused = await client(service, workspace.key)('GET', `/v1/calls/${callId}/stream`);
  assert.deepEqual([refused.status, refused.body.code, refused.headers.get('retry-after')], [429, 'RATE_LIMITED', '5']);
  assert.equal((await workspace.api('GET', '/v1/me')).status, 200, 'requests have places of their own');
  streams[0].close();
  const again = async () => {
    const one = await watch(callId, byKey());
    return one.status === 200 && one;
  };
  const next = await until(again, { what: 'the place of who has left' });
  assert.equal(named(await until(() => next.events.length && next, { what: 'its first event' }), 'call').length, 1);
  await workspace.api('POST', `/v1/calls/${callId}/end`);
  await until(() => next.isOver && streams.every((one) => one.isOver), { what: 'the end' });
});
