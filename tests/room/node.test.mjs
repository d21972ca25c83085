/* Rooms with @livekit/rtc-node (the Rust core of most SDKs): both signalling paths, audio, data, transcripts, ends. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
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
import { measure, mint, sine, startRooms, until } from './rooms.mjs';

let server;
before(async () => { server = await startRooms(); });
after(async () => { await server.stop(); await dispose(); });

/* A connected client with what it has seen. */
async function join(room, { single = true, token, ...options } = {}) {
  const client = new Room();
  const seen = { tracks: [], ended: null, states: [], streams: [] };
  client.on(RoomEvent.TrackSubscribed, (track, publication, participant) =>
    seen.tracks.push({ track, publication, participant }),
  );
  client.on(RoomEvent.Disconnected, (reason) => { seen.ended = reason; });
  client.on(RoomEvent.ParticipantAttributesChanged, (changed, participant) =>
    seen.states.push(participant.attributes['lk.agent.state']),
  );
  client.registerTextStreamHandler('lk.transcription', async (reader, sender) => {
    const stream = { sender: sender.identity, attributes: reader.info.attributes, text: '', done: false };
    seen.streams.push(stream);
    for await (const part of reader) stream.text += part;
    stream.done = true;
  });
  await client.connect(room.url, token ?? (await room.token()), {
    autoSubscribe: true,
    dynacast: false,
    singlePeerConnection: single,
    ...options,
  });
  return { client, seen };
}

/* Publishes a tone that goes on until stop(). */
async function publishTone(client, hz = 300) {
  const source = new AudioSource(48000, 1);
  const track = LocalAudioTrack.createAudioTrack('mic', source);
  const options = new TrackPublishOptions();
  options.source = TrackSource.SOURCE_MICROPHONE;
  const publication = await client.localParticipant.publishTrack(track, options);
  let going = true, at = 0;
  const done = (async () => {
    while (going) {
      await source.captureFrame(new AudioFrame(sine(hz, 48000, 480, (2 * Math.PI * hz * at) / 48000), 48000, 1, 480));
      at += 480;
    }
  })();
  return { track, publication, stop: async () => { going = false; await done; } };
}

/* A TCP relay whose connections can be cut. */
async function startProxy(port) {
  const sockets = new Set();
  const relay = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    for (const [from, to] of [[near, far], [far, near]]) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => {}).on('close', () => { sockets.delete(from); to.destroy(); });
    }
  });
  await new Promise((done) => relay.listen(0, '127.0.0.1', done));
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return { port: relay.address().port, cut, close: () => { cut(); relay.close(); } };
}

const isTone = ({ hz, rms }) => Math.abs(hz - 440) < 5 && rms > 3000;

/* The agent's tone on a track, for a whole second; else what was heard last. Late packets leave holes. */
async function hear(track) {
  const reader = new AudioStream(track, 48000, 1)[Symbol.asyncIterator]();
  for (let second = 1; ; second++) {
    const samples = [];
    while (samples.length < 48000) {
      const { value, done } = await reader.next();
      if (done) return measure(samples, 48000);
      samples.push(...value.data);
    }
    const heard = measure(samples, 48000);
    if (isTone(heard) || second === 60) return heard;
  }
}

for (const single of [true, false]) {
  describe(single ? 'v1, one peer connection' : 'v0, two peer connections', () => {
    test('joins, sees the agent, hears it, is heard, leaves', async () => {
      const room = await server.open();
      const { client, seen } = await join(room, { single });
      assert.equal(client.name, room.name);
      assert.match(await client.getSid(), /^RM_/);
      assert.equal(client.metadata, '{"room":true}');
      const agent = [...client.remoteParticipants.values()][0];
      assert.equal(agent.identity, 'agent-test');
      assert.equal(agent.info.kind, 4);
      assert.equal(agent.attributes['lk.agent.state'], 'listening');
      await until(() => seen.tracks.length, { what: 'the agent track' });
      const heard = await hear(seen.tracks[0].track);
      assert.ok(isTone(heard), `heard ${heard.hz} Hz, rms ${heard.rms}`);
      const mic = await publishTone(client, 300);
      const state = await room.until((s) => s.rms > 2000 && Math.abs(s.hz - 300) < 4, 'the tone at the agent');
      assert.equal(state.lost, 0);
      await mic.stop();
      await client.disconnect();
      const left = await room.until((s) => s.left === 1);
      assert.equal(left.lastLeft, 0);
    });

    test('an agent that comes late is heard', async () => {
      const room = await server.open({ late: true });
      const { client, seen } = await join(room, { single });
      assert.equal(client.remoteParticipants.size, 0);
      await room.until((s) => s.isJoined);
      await room.state('initializing');
      await until(() => seen.tracks.length, { what: 'the agent track' });
      const heard = await hear(seen.tracks[0].track);
      assert.ok(isTone(heard), `heard ${heard.hz} Hz, rms ${heard.rms}`);
      await room.state('speaking');
      await until(() => seen.states.includes('speaking'), { what: 'the state' });
      await client.disconnect();
    });

    test('mute, unmute, unpublish and publish again', async () => {
      const room = await server.open();
      const { client } = await join(room, { single });
      let mic = await publishTone(client, 300);
      await room.until((s) => s.rms > 2000);
      mic.track.mute?.();
      if (mic.track.mute) await room.until((s) => s.muted === 1, 'the mute');
      mic.track.unmute?.();
      if (mic.track.unmute) await room.until((s) => s.unmuted === 1, 'the unmute');
      await mic.stop();
      const before = (await room.seen()).muted;
      await client.localParticipant.unpublishTrack(mic.publication.sid ?? mic.track.sid);
      await room.until((s) => s.muted === before + 1, 'the unpublish');
      mic = await publishTone(client, 600);
      await room.until((s) => s.rms > 2000 && Math.abs(s.hz - 600) < 6, 'the second tone');
      await mic.stop();
      await client.disconnect();
    });

    test('transcripts of both sides are text streams', async () => {
      const room = await server.open();
      const { client, seen } = await join(room, { single });
      await room.until((s) => s.isJoined);
      await room.say('agent', 'SG_1', 'Hello');
      await room.say('agent', 'SG_1', ' there.', true);
      await room.say('caller', 'SG_2', 'What', false);
      await room.say('caller', 'SG_2', 'What time is it? ₹ नमस्ते', true);
      await until(() => seen.streams.length === 3 && seen.streams.every((s) => s.done), { what: 'the streams' });
      const [agent, first, last] = seen.streams;
      assert.equal(agent.text, 'Hello there.');
      assert.equal(agent.sender, 'agent-test');
      assert.equal(agent.attributes['lk.segment_id'], 'SG_1');
      assert.match(agent.attributes['lk.transcribed_track_id'], /^TR_/);
      assert.deepEqual([first.text, first.attributes['lk.transcription_final']], ['What', 'false']);
      assert.deepEqual([last.text, last.attributes['lk.transcription_final']], ['What time is it? ₹ नमस्ते', 'true']);
      assert.equal(last.sender, 'caller');
      assert.equal(last.attributes['lk.segment_id'], 'SG_2');
      await client.disconnect();
    });

    test('long texts are whole, both ways', async () => {
      const room = await server.open();
      const { client, seen } = await join(room, { single });
      await room.until((s) => s.isJoined);
      const text = 'नमस्ते ₹ hello '.repeat(2000);
      await room.say('agent', 'SG_1', text, true);
      await until(() => seen.streams[0]?.done, { what: 'the long transcript' });
      assert.equal(seen.streams[0].text, text);
      await client.localParticipant.sendText(text, { topic: 'lk.chat' });
      const state = await room.until((s) => s.chats === 1, 'the chat');
      assert.equal(state.chatBytes, Buffer.byteLength(text));
      await client.disconnect();
    });

    test('a method of the agent that does not exist is error 1400', async () => {
      const room = await server.open();
      const { client } = await join(room, { single });
      await assert.rejects(
        client.localParticipant.performRpc({ destinationIdentity: 'agent-test', method: 'dance', payload: '{}' }),
        (error) => error.code === 1400);
      await client.disconnect();
    });

    test('own attributes need the grant', async () => {
      const room = await server.open();
      const { client } = await join(room, { single });
      await client.localParticipant
        .setAttributes({ mood: 'good' })
        .catch(() => {}); /* 1.1.0 does not report the refusal */
      assert.equal(client.localParticipant.attributes.mood, undefined);
      await client.disconnect();
      const allowed = await join(room, { single, token: await room.token({ grants: { canUpdateOwnMetadata: true } }) });
      await allowed.client.localParticipant.setAttributes({ mood: 'good' });
      await until(() => allowed.client.localParticipant.attributes.mood === 'good', { what: 'the attribute' });
      await allowed.client.disconnect();
    });

    test('the second of one identity replaces the first', async () => {
      const room = await server.open();
      const first = await join(room, { single });
      await room.until((s) => s.joined === 1);
      const second = await join(room, { single });
      await until(() => first.seen.ended !== null, { what: 'the end of the first' });
      assert.equal(first.seen.ended, DisconnectReason.DUPLICATE_IDENTITY);
      const state = await room.until((s) => s.joined === 2);
      assert.deepEqual([state.left, state.lastLeft], [1, 2]);
      await second.client.disconnect();
    });

    for (const [mode, reason] of [
      ['ended', 'ROOM_DELETED'],
      ['shutdown', 'SERVER_SHUTDOWN'],
      ['error', 'AGENT_ERROR'],
    ]) {
      test(`the end '${mode}' is told, and the room stays closed`, async () => {
        const room = await server.open();
        const { seen } = await join(room, { single });
        await room.until((s) => s.joined === 1);
        await room.close(mode);
        await until(() => seen.ended !== null, { what: 'the end' });
        assert.equal(seen.ended, DisconnectReason[reason]);
        await room.until((s) => s.closed === 1);
        await assert.rejects(join(room, { single }));
      });
    }

    test('a cut signalling connection is resumed while the sound goes on', async () => {
      const room = await server.open();
      const proxy = await startProxy(new URL(server.http).port);
      const { client, seen } = await join({ ...room, url: `ws://127.0.0.1:${proxy.port}` }, { single });
      const events = [];
      for (const name of ['Reconnecting', 'Reconnected']) client.on(RoomEvent[name], () => events.push(name));
      const mic = await publishTone(client, 300);
      await room.until((s) => s.rms > 2000, 'the tone');
      proxy.cut();
      await until(() => events.includes('Reconnected'), { what: 'the return' });
      await client.localParticipant.sendText('still there', { topic: 'lk.chat' });
      const state = await room.until((s) => s.chats === 1, 'the chat');
      assert.deepEqual([state.joined, state.left, state.lost], [1, 0, 0]);
      const heard = await hear(seen.tracks.at(-1).track);
      assert.ok(isTone(heard), `heard ${heard.hz} Hz, rms ${heard.rms}`);
      await mic.stop();
      await client.disconnect();
      await room.until((s) => s.left === 1);
      proxy.close();
    });

    test('returning after leaving gets the room again', async () => {
      const room = await server.open();
      for (let i = 1; i <= 3; i++) {
        const { client, seen } = await join(room, { single });
        await until(() => seen.tracks.length, { what: 'the agent track' });
        await room.until((s) => s.joined === i);
        await client.disconnect();
        await room.until((s) => s.left === i);
      }
    });
  });
}

test('tokens that are bad, expired, foreign or for a room that never was are refused', async () => {
  const room = await server.open();
  for (const options of [
    { secret: 'another-secret' },
    { key: 'another-key' },
    { ttl: '-2m' },
    { room: 'nowhere' },
    { grants: { roomJoin: false } },
  ]) {
    const token = await mint({ room: room.name, ...options });
    await assert.rejects(join(room, { token }), undefined, JSON.stringify(options));
  }
  const good = await join(room);
  await good.client.disconnect();
});

test('eight callers at once do not disturb one another', async () => {
  const rooms = await Promise.all(Array.from({ length: 8 }, () => server.open()));
  const joined = await Promise.all(rooms.map((room, i) => join(room, { single: i % 2 === 0 })));
  await Promise.all(joined.map(({ seen }) => until(() => seen.tracks.length, { what: 'the agent track' })));
  await Promise.all(rooms.map((room) => room.until((s) => s.isJoined, 'its media'))); // tracks are told of before
  await Promise.all(joined.map(({ client }) => client.disconnect()));
  await Promise.all(rooms.map((room) => room.until((s) => s.left === 1)));
});
