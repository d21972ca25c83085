/* Rooms over TLS: the connection moves from the control loop to the media loop with its session. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openPages } from './page.mjs';
import { startRooms, until } from './rooms.mjs';
import { connect, expect, frame, send, upgrade, v1, SignalRequest } from './wire.mjs';

const dir = mkdtempSync(join(tmpdir(), 'earshot-tls-'));
const cert = join(dir, 'cert.pem'), key = join(dir, 'key.pem');
let server;

before(async () => {
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
      '-addext',
      'basicConstraints=critical,CA:FALSE',
      '-keyout',
      key,
      '-out',
      cert,
    ],
    { stdio: 'ignore' },
  );
  server = await startRooms({ tls: { cert, key } });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; /* for fetch, which drives the server */
  process.env.SSL_CERT_FILE = cert; /* for rtc-node, which reads it when it first connects */
});
after(async () => {
  await server.stop();
  await (await import('@livekit/rtc-node')).dispose(); // else its threads keep the process
});

for (const singlePeerConnection of [true, false]) {
  test(`rtc-node joins and hears, ${singlePeerConnection ? 'v1' : 'v0'}`, async () => {
    const { Room, RoomEvent } = await import('@livekit/rtc-node');
    const room = await server.open(), client = new Room();
    let tracks = 0;
    client.on(RoomEvent.TrackSubscribed, () => tracks++);
    await client.connect(server.url, await room.token(), {
      autoSubscribe: true,
      dynacast: false,
      singlePeerConnection,
    });
    await until(() => tracks === 1, { what: 'the agent track' });
    await room.until((s) => s.isJoined, 'its media'); // the track is told of before
    await client.disconnect();
    assert.equal((await room.until((s) => s.left === 1)).lastLeft, 0);
  });

  test(`livekit-client joins and hears, ${singlePeerConnection ? 'v1' : 'v0'}`, async () => {
    const pages = await openPages();
    try {
      const room = await server.open(), page = await pages.open();
      await page.evaluate(
        ([url, token, options]) => window.join(url, token, options),
        [room.url, await room.token(), { singlePeerConnection }],
      );
      assert.ok(Math.abs((await page.evaluate(() => window.hear())).hz - 440) < 12);
      await room.close();
      await until(async () => (await page.seen()).ended === 5, { what: 'the end' });
    } finally {
      await pages.close();
    }
  });
}

test('what was sent right behind the request is not lost on the way', async () => {
  const room = await server.open(), wire = await connect(server.url);
  const message = new SignalRequest({ message: { case: 'pingReq', value: { timestamp: 7n } } });
  const upgraded = upgrade(wire, v1(await room.token()));
  wire.socket.write(frame(Buffer.from(message.toBinary())));
  assert.equal((await upgraded).status, 101);
  assert.equal((await expect(wire, 'join')).value.room.name, room.name);
  assert.equal((await expect(wire, 'pongResp')).value.lastPingTimestamp, 7n);
  for (let i = 0; i < 200; i++) send(wire, { case: 'pingReq', value: { timestamp: BigInt(i) } });
  for (let i = 0; i < 200; i++) assert.equal((await expect(wire, 'pongResp')).value.lastPingTimestamp, BigInt(i));
  wire.socket.destroy();
});

test('a hundred joins in a row leave no descriptor behind', async () => {
  const { readdirSync } = await import('node:fs');
  const open = () => readdirSync(`/proc/${server.child.pid}/fd`).length;
  const room = await server.open();
  const joinOnce = async () => {
    const wire = await connect(server.url);
    await upgrade(wire, v1(await room.token()));
    await expect(wire, 'join');
    send(wire, { case: 'leave', value: { reason: 1 } });
    await expect(wire, 'none');
    wire.socket.destroy();
  };
  for (let i = 0; i < 5; i++) await joinOnce();
  await until(() => open() < 60);
  const before = open();
  for (let i = 0; i < 100; i++) await joinOnce();
  await until(() => open() <= before + 2, { what: `descriptors: ${before} before` });
});
