/* Rooms with unmodified livekit-client in headless Chromium: both signalling paths, audio both ways, data, ends,
 * reconnects. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openPages } from './page.mjs';
import { mint, startRooms, until } from './rooms.mjs';

let server, pages;
before(async () => { [server, pages] = await Promise.all([startRooms(), openPages()]); });
after(async () => { await pages.close(); await server.stop(); });

async function join(room, options = {}) {
  const page = await pages.open();
  await page.evaluate(
    ([url, token, settings]) => window.join(url, token, settings),
    [room.url, options.token ?? (await room.token()), options],
  );
  return page;
}

const seen = (page, check, what) =>
  until(
    async () => {
      const all = await page.seen();
      return check(all) && all;
    },
    { what },
  );

for (const singlePeerConnection of [true, false]) {
  describe(singlePeerConnection ? 'v1, one peer connection' : 'v0, two peer connections', () => {
    test('joins, hears the agent, is heard, mutes, leaves', async () => {
      const room = await server.open();
      const page = await join(room, { singlePeerConnection });
      assert.equal(await page.evaluate(() => window.room.name), room.name);
      assert.equal(await page.evaluate(() => [...window.room.remoteParticipants.values()][0].isAgent), true);
      await seen(page, (s) => s.tracks === 1, 'the agent track');
      const heard = await page.evaluate(() => window.hear());
      assert.ok(Math.abs(heard.hz - 440) < 12, `heard ${heard.hz} Hz, ${heard.db} dB`);
      await page.evaluate(() =>
        window.room.localParticipant.setMicrophoneEnabled(true, {
          echoCancellation: false,
          noiseSuppression: false,
          autoGainControl: false,
        }),
      );
      await seen(page, (s) => s.events.includes('LocalTrackSubscribed'), 'the agent to subscribe');
      await room.until((s) => s.rms > 1000 && Math.abs(s.hz - 300) < 6, 'the tone at the agent');
      await page.evaluate(() => window.room.localParticipant.setMicrophoneEnabled(false));
      await room.until((s) => s.muted === 1, 'the mute');
      await page.evaluate(() => window.room.localParticipant.setMicrophoneEnabled(true));
      await room.until((s) => s.unmuted === 1, 'the unmute');
      const stats = await page.evaluate(async () => {
        const report = await window.track.getRTCStatsReport();
        return [...report.values()].find((entry) => entry.type === 'inbound-rtp');
      });
      assert.ok(stats.packetsReceived > 20);
      assert.equal(stats.packetsLost, 0);
      await page.evaluate(() => window.room.disconnect());
      const left = await room.until((s) => s.left === 1);
      assert.equal(left.lastLeft, 0);
      await page.close();
    });

    test('speakers, connection quality and a fresh token are told', async () => {
      const room = await server.open();
      const page = await pages.open();
      const token = await room.token();
      await page.evaluate(async ([url, first, settings]) => {
        const joined = window.join(url, first, settings);
        window.told = { speakers: new Set(), quality: [] };
        window.room.on('activeSpeakersChanged', (speakers) =>
          speakers.forEach(({ identity }) => window.told.speakers.add(identity)),
        );
        window.room.on('connectionQualityChanged', (quality, participant) =>
          window.told.quality.push([quality, participant.identity]),
        );
        await joined;
        await window.room.localParticipant.setMicrophoneEnabled(true, {
          echoCancellation: false,
          noiseSuppression: false,
          autoGainControl: false,
        });
      }, [room.url, token, { singlePeerConnection }]);
      await room.state('speaking');
      const told = () =>
        page.evaluate(() => ({
          speakers: [...window.told.speakers],
          quality: window.told.quality,
          token: window.room.engine.token,
        }));
      const all = await until(
        async () => {
          const now = await told();
          return now.speakers.length === 2 && now.quality.length > 0 && now;
        },
        { what: 'speakers and quality' },
      );
      assert.deepEqual(all.speakers.sort(), ['agent-test', 'caller']);
      assert.deepEqual(all.quality[0], ['excellent', 'caller']);
      assert.notEqual(all.token, token);
      const claims = JSON.parse(Buffer.from(all.token.split('.')[1], 'base64url'));
      assert.deepEqual([claims.sub, claims.video.room], ['caller', room.name]);
      await page.close();
    });

    test('the microphone may be on before the room is joined', async () => {
      const room = await server.open();
      const page = await pages.open();
      await page.evaluate(async ([url, token, settings]) => {
        const joined = window.join(url, token, settings);
        await Promise.all([joined, window.room.localParticipant.setMicrophoneEnabled(true)]);
      }, [room.url, await room.token(), { singlePeerConnection }]);
      await room.until((s) => s.opus > 20, 'packets of the microphone');
      await page.close();
    });

    test('an agent that comes late is heard; its state follows', async () => {
      const room = await server.open({ late: true });
      const page = await join(room, { singlePeerConnection });
      await room.until((s) => s.isJoined);
      await room.state('initializing');
      await seen(page, (s) => s.tracks === 1, 'the agent track');
      assert.ok(Math.abs((await page.evaluate(() => window.hear())).hz - 440) < 12);
      await room.state('thinking');
      await seen(page, (s) => s.states.includes('thinking'), 'the state');
      await page.close();
    });

    test('unpublish and publish again', async () => {
      const room = await server.open();
      const page = await join(room, { singlePeerConnection });
      await page.evaluate(() => window.room.localParticipant.setMicrophoneEnabled(true));
      await room.until((s) => s.opus > 10, 'packets');
      await page.evaluate(() => {
        const [publication] = window.room.localParticipant.trackPublications.values();
        return window.room.localParticipant.unpublishTrack(publication.track);
      });
      await room.until((s) => s.muted === 1, 'the unpublish');
      const before = (await room.seen()).opus;
      await page.evaluate(() => window.room.localParticipant.setMicrophoneEnabled(true));
      await room.until((s) => s.unmuted === 1 && s.opus > before + 20, 'packets again');
      await page.close();
    });

    test('DTX and RED, on and off, stay audible', async () => {
      for (const [dtx, red] of [[true, true], [false, false]]) {
        const room = await server.open();
        const page = await join(room, { singlePeerConnection, publishDefaults: { dtx, red } });
        await page.evaluate(() =>
          window.room.localParticipant.setMicrophoneEnabled(true, {
            echoCancellation: false,
            noiseSuppression: false,
            autoGainControl: false,
          }),
        );
        await room.until((s) => s.rms > 1000 && Math.abs(s.hz - 300) < 6, `the tone, dtx ${dtx}, red ${red}`);
        await page.close();
      }
    });

    test('transcripts come as text streams and in the older form', async () => {
      const room = await server.open();
      const page = await join(room, { singlePeerConnection });
      await room.until((s) => s.isJoined);
      await room.say('agent', 'SG_1', 'Hello');
      await room.say('agent', 'SG_1', ' there.', true);
      await room.say('caller', 'SG_2', 'What time is it? नमस्ते', true);
      const all = await seen(
        page,
        (s) => s.streams.length === 2 && s.streams.every((stream) => stream.done) && s.transcripts.length === 3,
        'transcripts',
      );
      assert.deepEqual(all.streams.map((s) => [s.sender, s.text, s.attributes['lk.transcription_final']]),
        [['agent-test', 'Hello there.', 'true'], ['caller', 'What time is it? नमस्ते', 'true']]);
      assert.deepEqual(all.transcripts.map((t) => [t.id, t.text, t.final]),
        [['SG_1', 'Hello', false], ['SG_1', 'Hello there.', true], ['SG_2', 'What time is it? नमस्ते', true]]);
      await page.close();
    });

    test('chat arrives in each of its forms', async () => {
      const room = await server.open();
      const page = await join(room, { singlePeerConnection });
      await page.evaluate(() => window.room.localParticipant.sendText('as a stream', { topic: 'lk.chat' }));
      assert.equal((await room.until((s) => s.chats === 1)).lastChat, 'as a stream');
      await page.evaluate(() => window.room.localParticipant.sendChatMessage('as a packet'));
      assert.equal((await room.until((s) => s.chats === 2)).lastChat, 'as a packet');
      await page.evaluate(() =>
        window.room.localParticipant.publishData(
          new TextEncoder().encode(JSON.stringify({ id: '1', timestamp: 1, message: 'as JSON' })),
          { reliable: true, topic: 'lk-chat-topic' },
        ),
      );
      assert.equal((await room.until((s) => s.chats === 3)).lastChat, 'as JSON');
      await page.close();
    });

    test('attributes without the grant and unknown methods are refused', async () => {
      const room = await server.open();
      const page = await join(room, { singlePeerConnection });
      const errors = await page.evaluate(async () => [
        await window.room.localParticipant.setAttributes({ mood: 'good' }).then(
          () => 'done',
          (error) => error.name,
        ),
        await window.room.localParticipant
          .performRpc({ destinationIdentity: 'agent-test', method: 'dance', payload: '' })
          .then(
            () => 'done',
            (error) => error.code,
          ),
      ]);
      assert.notEqual(errors[0], 'done');
      assert.equal(errors[1], 1400);
      await page.close();
    });

    test('the end of the room is told', async () => {
      const room = await server.open();
      const page = await join(room, { singlePeerConnection });
      await room.until((s) => s.joined === 1);
      await room.close();
      assert.equal((await seen(page, (s) => s.ended !== null, 'the end')).ended, 5);
      const refusal = await page.evaluate(
        ([url, token]) =>
          window.join(url, token).then(
            () => 'joined',
            (error) => error.status,
          ),
        [room.url, await room.token()],
      );
      assert.equal(refusal, 403);
      await page.close();
    });

    test('a page that is closed is missed', async () => {
      const room = await server.open({ hasty: true });
      const page = await join(room, { singlePeerConnection });
      await room.until((s) => s.joined === 1);
      await page.close();
      await room.until((s) => s.left === 1, 'the loss');
    });

    for (const scenario of ['signal-reconnect', 'resume-reconnect', 'full-reconnect']) {
      test(`comes back after '${scenario}'`, async () => {
        const room = await server.open();
        const page = await join(room, { singlePeerConnection });
        await page.evaluate(() => window.room.localParticipant.setMicrophoneEnabled(true));
        await room.until((s) => s.joined === 1 && s.opus > 10);
        await page.evaluate((name) => window.room.simulateScenario(name), scenario);
        await seen(page, (s) => s.events.includes('Reconnected'), 'the return');
        const back = await room.until((s) => s.isJoined, 'the room to have it again');
        assert.equal(back.joined, scenario === 'signal-reconnect' ? 1 : 2, 'only the first resumes its session');
        await room.until((s) => s.opus > back.opus + 20, 'packets again');
        assert.ok(Math.abs((await page.evaluate(() => window.hear())).hz - 440) < 12);
        await until(async () => { /* livekit-client drops what it is given while it still counts as reconnecting */
          await page.evaluate(() => window.room.localParticipant.sendText('still there', { topic: 'lk.chat' }));
          return (await room.seen()).chats > 0;
        }, { what: 'the chat' });
        assert.equal((await page.seen()).ended, null);
        await page.close();
      });
    }
  });
}

test('a refusal is told with its status and text', async () => {
  const room = await server.open();
  const page = await pages.open();
  const refuse = async (options) =>
    page.evaluate(
      ([url, token]) =>
        window.join(url, token).then(
          () => 'joined',
          (error) => ({ status: error.status, text: error.message }),
        ),
      [room.url, await mint({ room: room.name, ...options })],
    );
  for (const [options, status, text] of [
    [{ secret: 'another-secret' }, 401, /invalid token/],
    [{ ttl: '-2m' }, 401, /expired/],
    [{ grants: { roomJoin: false } }, 401, /permissions denied/],
  ]) {
    const refusal = await refuse(options);
    assert.equal(refusal.status, status, JSON.stringify(options));
    assert.match(refusal.text, text);
  }
  await page.close();
});
