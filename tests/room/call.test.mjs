/* Calls of the real service, joined by rtc-node: greeting, question and answer, say, chat; the ends that a room can
 * bring. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  DisconnectReason,
  dispose,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node';
import { makeWorkspace, startService, until } from '../harness/service.mjs';
import { speechFile } from '../harness/browser.mjs';

const GREETING = 'Good day. How can I help you?';
const AUDIBLE = 500;
let service, workspace, agent;
let missed; // the call of a client that has died: its window passes while the other tests run

before(async () => {
  service = await startService({ env: { EARSHOT_RATE_LIMIT: '60000', EARSHOT_RATE_BURST: '10000' } });
  workspace = await makeWorkspace(service, { calls: 20 });
  const document = await workspace.api('POST', '/v1/knowledge/documents', {
    name: 'Shop', text: 'Our opening hours are nine in the morning to five in the afternoon, from Monday to Friday.' });
  assert.equal(document.status, 201, document.text);
  const created = await workspace.api('POST', '/v1/agents', {
    name: 'Shop', greetingMode: 'static', greetingText: GREETING, documentIds: [document.body.document.id] });
  assert.equal(created.status, 201, created.text);
  agent = created.body.agent;
  await until(
    async () => (await workspace.api('GET', '/v1/knowledge/documents')).body.documents[0].status === 'ready',
    { what: 'the document' },
  );
  missed = await startCall();
  await joinAndDie(missed);
});
after(async () => { await service.close(); await dispose(); });

async function startCall(fields = {}) {
  const started = await workspace.api('POST', '/v1/calls', { agentId: agent.id, ...fields });
  assert.equal(started.status, 201, started.text);
  const call = {
    ...started.body,
    get: async () => (await workspace.api('GET', `/v1/calls/${started.body.callId}`)).body.call,
  };
  call.until = (check, what) =>
    until(
      async () => {
        const now = await call.get();
        return check(now) && now;
      },
      { what },
    );
  return call;
}

async function join(call, single = true) {
  const client = new Room();
  const seen = { tracks: [], streams: [], states: [], ended: null };
  client.on(RoomEvent.TrackSubscribed, (track) => seen.tracks.push(track));
  client.on(RoomEvent.Disconnected, (reason) => { seen.ended = reason; });
  client.on(RoomEvent.ParticipantAttributesChanged, (changed, participant) =>
    seen.states.push(participant.attributes['lk.agent.state']),
  );
  client.registerTextStreamHandler('lk.transcription', async (reader, sender) => {
    const stream = {
      isAgent: sender.identity.startsWith('agent-'),
      attributes: reader.info.attributes,
      text: '',
      done: false,
    };
    seen.streams.push(stream);
    try {
      for await (const part of reader) stream.text += part;
      stream.done = true;
    } catch { /* cut off by the end of the room */ }
  });
  await client.connect(call.livekitUrl, call.token, {
    autoSubscribe: true,
    dynacast: false,
    singlePeerConnection: single,
  });
  return { client, seen };
}

/* Asks a question in the call, again after a while: a word of it may be lost where a machine holds somebody up. Until
 * stop(). */
async function speak(client, line) {
  const samples = new Int16Array(readFileSync(speechFile(line, { before: 0.3, after: 20 })).buffer.slice(44));
  const source = new AudioSource(48000, 1);
  const options = new TrackPublishOptions();
  options.source = TrackSource.SOURCE_MICROPHONE;
  await client.localParticipant.publishTrack(LocalAudioTrack.createAudioTrack('mic', source), options);
  let going = true;
  const done = (async () => {
    for (let at = 0; going; at += 480) {
      const part = new Int16Array(480);
      part.set(samples.subarray(at % samples.length, (at % samples.length) + 480));
      await source.captureFrame(new AudioFrame(part, 48000, 1, 480));
    }
  })();
  return { stop: async () => { going = false; await done; } };
}

/* Root mean square of the first tenth of a second that is audible, or of the loudest within a minute. */
async function loudest(track, seconds = 60) {
  const reader = new AudioStream(track, 48000, 1)[Symbol.asyncIterator]();
  let best = 0, energy = 0, count = 0, total = 0;
  while (total < seconds * 48000 && best <= AUDIBLE) {
    const { value, done } = await reader.next();
    if (done) break;
    for (const sample of value.data) {
      energy += sample * sample;
      if (++count === 4800) { best = Math.max(best, Math.sqrt(energy / count)); energy = count = 0; }
    }
    total += value.data.length;
  }
  return best;
}

async function joinAndDie(call) {
  const program = `import { Room } from '@livekit/rtc-node';
    const room = new Room();
    await room.connect(process.argv[1], process.argv[2], { autoSubscribe: true, dynacast: false });
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, call.livekitUrl, call.token],
    { cwd: fileURLToPath(new URL('.', import.meta.url)), stdio: 'ignore' });
  await call.until((c) => c.userJoinedAt, 'the client');
  child.kill('SIGKILL');
}

const agentSaid = (seen, pattern) => seen.streams.find((s) => s.isAgent && pattern.test(s.text));

for (const single of [true, false]) {
  describe(single ? 'v1' : 'v0', () => {
    test('greeting is heard and written, a question is answered, the caller leaves', async () => {
      const call = await startCall();
      const { client, seen } = await join(call, single);
      await until(() => seen.tracks.length, { what: 'the agent track' });
      assert.ok(await loudest(seen.tracks[0]) > AUDIBLE, 'the greeting is audible');
      await until(() => agentSaid(seen, /Good day\. How can I help you\?/)?.done, { what: 'the greeting as text' });
      await call.until((c) => c.status === 'active', 'the call to be active');
      await until(() => seen.states.at(-1) === 'listening', { what: 'the agent to listen' });
      const mouth = await speak(client, 'What are your opening hours?');
      const isAsked = (s) => !s.isAgent && s.attributes['lk.transcription_final'] === 'true' && /open/i.test(s.text);
      await until(() => seen.streams.some((s) => isAsked(s) && s.done), { what: 'the question as text' });
      await until(() => agentSaid(seen, /nine|Monday/i)?.done, { what: 'the answer as text' });
      await mouth.stop();
      await client.disconnect();
      const ended = await call.until((c) => c.status === 'ended', 'the end');
      assert.equal(ended.endReason, 'user-left');
      assert.equal(ended.transcript[0].text, GREETING);
      assert.ok(ended.transcript.some((turn) => turn.role === 'user'));
      const said = ended.transcript.find((turn) => turn.role === 'assistant' && /nine|Monday/i.test(turn.text));
      const { endpointMs, modelAskedMs, firstTokenMs, firstSentenceMs, firstByteMs, firstPacketMs } = said.timing;
      const [waited, held] = [JSON.stringify(said.timing), said.timing.holdMs];
      assert.ok(endpointMs > 0 && modelAskedMs <= firstTokenMs && firstSentenceMs >= endpointMs, waited);
      assert.ok(firstByteMs >= firstSentenceMs && firstPacketMs >= firstByteMs && held === null, waited);
      assert.ok(ended.transcript.every((turn) => turn.role === 'assistant' || !('timing' in turn)));
      assert.ok(ended.durationSeconds > 0 && ended.callCost > 0);
    });

    test('what the API has the agent say is said; its end reaches the caller', async () => {
      const call = await startCall();
      const { client, seen } = await join(call, single);
      await until(() => agentSaid(seen, /Good day/), { what: 'the greeting' });
      await call.until((c) => c.status === 'active');
      const said = await workspace.api('POST', `/v1/calls/${call.callId}/say`, { text: 'A line from the office.' });
      assert.equal(said.status, 200, said.text);
      await until(() => agentSaid(seen, /A line from the office\./)?.done, { what: 'the line' });
      await workspace.api('POST', `/v1/calls/${call.callId}/end`);
      await until(() => seen.ended !== null, { what: 'the end' });
      assert.equal(seen.ended, DisconnectReason.ROOM_DELETED);
      assert.equal((await call.get()).endReason, 'api');
      await assert.rejects(join(call, single));
      const validate = await fetch(`${service.url}/rtc/validate?access_token=${call.token}`);
      assert.deepEqual([validate.status, await validate.text()], [403, 'the room is over']);
      await client.disconnect();
    });
  });
}

test('a second client with the same token takes the call over', async () => {
  const call = await startCall();
  const first = await join(call);
  await call.until((c) => c.userJoinedAt, 'the first');
  const second = await join(call);
  await until(() => first.seen.ended !== null, { what: 'the end of the first' });
  assert.equal(first.seen.ended, DisconnectReason.DUPLICATE_IDENTITY);
  await until(() => second.seen.tracks.length, { what: 'the agent track' });
  assert.notEqual((await call.get()).status, 'ended');
  await second.client.disconnect();
  assert.equal((await call.until((c) => c.status === 'ended')).endReason, 'user-left');
});

test('a client that dies is missed: socket-lost after the window', { timeout: 300000 }, async () => {
  const ended = await missed.until((c) => c.status === 'ended', 'the end');
  assert.equal(ended.endReason, 'socket-lost');
});

test('a caller who is lost and comes back has the call again', { timeout: 300000 }, async () => {
  const call = await startCall();
  await joinAndDie(call);
  const { client, seen } = await join(call);
  await until(() => seen.tracks.length, { what: 'the agent track' });
  const say = () => workspace.api('POST', `/v1/calls/${call.callId}/say`, { text: 'Welcome back.' });
  await until(async () => (await say()).status === 200, { what: 'the line to be taken' });
  await until(() => agentSaid(seen, /Welcome back\./)?.done, { what: 'the line' });
  assert.equal((await call.get()).status, 'active');
  await client.disconnect();
  assert.equal((await call.until((c) => c.status === 'ended')).endReason, 'user-left');
});
