/* What no client of goodwill sends: refusals with status, text and CORS header, broken frames and descriptions,
 * half-open sockets, garbage by UDP. Whatever comes, the call of somebody else in the same process goes on. */
import assert from 'node:assert/strict';
import dgram from 'node:dgram';
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { dispose, Room, RoomEvent } from '@livekit/rtc-node';
import { mint, startRooms, until } from './rooms.mjs';
import { connect, expect, frame, joinParam, send, upgrade, v1 } from './wire.mjs';

const sdp = (name) => readFileSync(new URL(`../unit/rtc/sdp/${name}.sdp`, import.meta.url), 'utf8');
const offer = (text, id = 1) => ({ case: 'offer', value: { type: 'offer', sdp: text, id } });
let server, witness;

/* Somebody else's call, which must not notice anything. */
before(async () => {
  server = await startRooms();
  const room = await server.open();
  const client = new Room();
  const events = [];
  for (const name of ['Disconnected', 'Reconnecting', 'Reconnected', 'ConnectionStateChanged'])
    client.on(RoomEvent[name], () => events.push(name));
  await client.connect(server.url, await room.token({ identity: 'witness' }), { autoSubscribe: true, dynacast: false });
  await room.until((s) => s.isJoined);
  events.length = 0;
  witness = { room, client, events };
});

after(async () => {
  const seen = await witness.room.seen();
  assert.deepEqual(witness.events, []);
  assert.deepEqual([seen.joined, seen.left, seen.isJoined], [1, 0, true]);
  await witness.client.disconnect();
  await server.stop();
  await dispose();
});

async function tryUpgrade(path, headers) {
  const wire = await connect(server.url);
  const answer = await upgrade(wire, path, headers);
  wire.socket.destroy();
  return answer;
}

/* A join request whose gzip ends too early. */
function cutZip() {
  const whole = Buffer.from(joinParam({ metadata: 'x'.repeat(500) }), 'base64');
  const cut = whole.subarray(0, whole.length - 12);
  cut[3] -= 12; /* the length of field 2 */
  return cut.toString('base64');
}

/* A joined connection without media. */
async function joined(room, path) {
  const wire = await connect(server.url);
  const answer = await upgrade(wire, path ?? v1(await room.token()));
  assert.equal(answer.status, 101);
  const join = await expect(wire, 'join');
  assert.equal(join.value.participant.identity, 'caller');
  return wire;
}

test('refusals have their status, their text and the CORS header, on upgrade and validate alike', async () => {
  const room = await server.open(), over = await server.open();
  await over.close();
  const good = await room.token(), overToken = await over.token();
  const rows = [
    ['', 401, /no permissions/], ['access_token=', 401, /no permissions/], ['access_token=x.y.z', 401, /invalid token/],
    [`access_token=${await mint({ room: room.name, secret: 'x' })}`, 401, /invalid token/],
    [`access_token=${await mint({ room: room.name, key: 'x' })}`, 401, /invalid API key/],
    [`access_token=${await mint({ room: room.name, ttl: '-2m' })}`, 401, /expired/],
    [`access_token=${await mint({ room: room.name, grants: { roomJoin: false } })}`, 401, /permissions denied/],
    [`access_token=${await mint({ room: 'nowhere' })}`, 404, /requested room does not exist/],
    [`access_token=${overToken}`, 403, /over/],
  ];
  const withParam = (query, param) => `${query}&join_request=${encodeURIComponent(param)}`;
  const broken = [
    [`access_token=${good}`, 400, /missing join_request/],
    [withParam(`access_token=${good}`, '!!!'), 400, /base64/],
    [withParam(`access_token=${good}`, 'AAAA'), 400, /./],
    [
      withParam(`access_token=${good}`, joinParam({}, { raw: Buffer.from('\xff\xff\xff', 'latin1') })),
      400,
      /unmarshal/,
    ],
    [withParam(`access_token=${good}`, joinParam({ publisherOffer: { type: 'offer', sdp: 'broken' } })), 400, /SDP/],
    [
      withParam(
        `access_token=${good}`,
        joinParam({ publisherOffer: { type: 'offer', sdp: 'v=0\r\no=- 1 1 IN IP4 0\r\n' } }),
      ),
      400,
      /SDP/,
    ],
    [
      withParam(
        `access_token=${good}`,
        joinParam({}, { compress: false, raw: Buffer.concat([Buffer.from([0x7a]), randomBytes(9)]) }),
      ),
      400,
      /./,
    ],
    [withParam(`access_token=${good}`, joinParam({}, { raw: Buffer.alloc(8 << 20) })), 400, /too large/],
    [withParam(`access_token=${good}`, cutZip()), 400, /decompress/],
  ];
  const param = joinParam();
  for (const [query, status, text] of [
    ...rows.map(([query, ...rest]) => [withParam(query, param), ...rest]),
    ...broken,
  ]) {
    for (const path of [`/rtc/v1?${query}`, `//rtc/v1?${query}`]) {
      const answer = await tryUpgrade(path);
      assert.equal(answer.status, status, `${path.slice(0, 60)}: ${answer.body}`);
      assert.match(answer.body, text);
      assert.match(answer.head, /access-control-allow-origin: \*/i);
    }
    const validate = await fetch(`${server.http}/rtc/v1/validate?${query}`);
    assert.equal(validate.status, status);
    assert.equal(validate.headers.get('access-control-allow-origin'), '*');
    assert.match(await validate.text(), text);
  }
  for (const [query, status] of rows)
    assert.equal((await fetch(`${server.http}/rtc/validate?${query}`)).status, status);
});

test('validate says success, other paths and methods do not', async () => {
  const room = await server.open();
  const token = await room.token();
  const query = v1(token).split('?')[1];
  const ok = await fetch(`${server.http}/rtc/v1/validate?${query}`);
  assert.deepEqual([ok.status, await ok.text(), ok.headers.get('access-control-allow-origin')], [200, 'success', '*']);
  assert.equal(
    (await fetch(`${server.http}/rtc/validate`, { headers: { Authorization: `Bearer ${token}` } })).status,
    200,
  );
  for (const path of ['/rtc', '/rtc/v1', '/rtc/v2', '/rtc/v2/validate', '/rtc/x']) {
    const answer = await fetch(`${server.http}${path}?${query}`);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  }
  const preflight = await fetch(`${server.http}/rtc/v1/validate`, { method: 'OPTIONS' });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get('access-control-allow-headers'), /Authorization/);
  for (const headers of [
    { 'Sec-WebSocket-Key': undefined },
    { 'Sec-WebSocket-Key': 'short' },
    { 'Sec-WebSocket-Version': '8' },
  ])
    assert.ok([400, 426].includes((await tryUpgrade(v1(token), headers)).status));
});

test('both base64 alphabets, padded or not, plain and zipped requests are taken', async () => {
  const room = await server.open();
  const fields = { publisherOffer: { type: 'offer', sdp: sdp('browser-single-1-offer'), id: 7 } };
  for (const compress of [true, false]) {
    const safe = joinParam(fields, { compress });
    for (const param of [safe, safe.replace(/=+$/, ''), safe.replace(/-/g, '+').replace(/_/g, '/')]) {
      const wire = await joined(room, v1(await room.token(), param));
      const answer = await expect(wire, 'answer');
      assert.equal(answer.value.id, 7);
      assert.match(answer.value.midToTrackId['0'], /^TR_/);
      assert.match(answer.value.sdp, /a=ice-lite/);
      wire.socket.destroy();
    }
  }
});

test('each captured offer gets its answer', async () => {
  for (const name of [
    'browser-single-1-offer',
    'browser-single-2-with-mic-offer',
    'rtc-node-single-1-offer',
    'rtc-node-single-2-with-mic-offer',
  ]) {
    const room = await server.open();
    const wire = await joined(room);
    send(wire, offer(sdp(name), 3));
    const { value } = await expect(wire, 'answer');
    const sections = (text) =>
      text
        .split(/^m=/m)
        .slice(1)
        .map((part) => [part.split(' ')[0], part.match(/a=mid:(\S+)/)[1]]);
    assert.deepEqual(sections(value.sdp), sections(sdp(name)));
    assert.equal(value.sdp.match(/a=setup:passive/g).length, sections(value.sdp).length);
    assert.equal(value.sdp.match(/a=sendonly/g).length, 1);
    assert.equal(value.sdp.match(/a=candidate:/g).length >= 1, true);
    wire.socket.destroy();
  }
});

test('a broken description in the session ends it with a reason', async () => {
  for (const text of [
    '',
    'x',
    'v=0\r\n',
    sdp('browser-single-1-offer').replace(/a=fingerprint.*\r?\n/g, ''),
    `${sdp('browser-single-1-offer')}a=mid:0\r\n`,
  ]) {
    const room = await server.open();
    const wire = await joined(room);
    send(wire, offer(text));
    const leave = await expect(wire, 'leave');
    assert.deepEqual([leave.value.reason, leave.value.action], [7, 0]);
    assert.equal((await expect(wire, 'none')).code, 1000);
    wire.socket.destroy();
  }
});

test('a second offer with another certificate ends the session with a reason', async () => {
  const room = await server.open();
  const wire = await joined(room);
  const first = sdp('browser-single-1-offer');
  send(wire, offer(first));
  await expect(wire, 'answer');
  send(
    wire,
    offer(
      first.replace(/(a=fingerprint:sha-256 )(..)/g, (_, name, byte) => name + (byte === '00' ? '01' : '00')),
      2,
    ),
  );
  const leave = await expect(wire, 'leave');
  assert.deepEqual([leave.value?.reason, leave.value?.action], [7, 0]);
  const end = await expect(wire, 'none');
  assert.equal(end.code, 1000);
  assert.equal(end.reason, 'description does not fit the session'); /* and not the join limit's */
  wire.socket.destroy();
});

test('frames that are wrong close the connection with the right code', async () => {
  const cases = [
    [frame(Buffer.from('\xff\xff\xff\xff', 'latin1')), 1007, 'no protobuf'],
    [frame(Buffer.from('{}'), { opcode: 1 }), 1003, 'a text message'],
    [frame(Buffer.alloc(100), { declared: 1 << 30 }), 1009, 'a declared gigabyte'],
    [frame(Buffer.alloc(300000)), 1009, 'over the ceiling'],
    [frame(Buffer.from([8, 0]), { masked: false }), 1002, 'unmasked'],
    [frame(Buffer.from([8, 0]), { opcode: 11 }), 1002, 'an unknown opcode'],
    [frame(Buffer.alloc(200), { opcode: 9 }), 1005, 'a long ping'],
  ];
  for (const [bytes, code, what] of cases) {
    const room = await server.open();
    const wire = await joined(room);
    wire.socket.write(bytes);
    const end = await expect(wire, 'none');
    assert.deepEqual([end.case, end.code], ['closed', code], what);
    wire.socket.destroy();
  }
});

test('unknown and surprising messages do no harm', async () => {
  const room = await server.open();
  const wire = await joined(room);
  wire.socket.write(frame(Buffer.from([0xfa, 0x3f, 1, 0]))); /* unknown field 1023 */
  wire.socket.write(frame(Buffer.alloc(0)));
  send(wire, { case: 'answer', value: { type: 'answer', sdp: 'v=0' } });
  send(wire, { case: 'trickle', value: { candidateInit: 'no JSON', target: 1 } });
  send(wire, { case: 'mute', value: { sid: 'TR_none', muted: true } });
  send(wire, { case: 'subscription', value: { trackSids: ['TR_x'], subscribe: false } });
  send(wire, { case: 'syncState', value: {} });
  send(wire, { case: 'publishDataTrackRequest', value: { pubHandle: 4, name: 'x' } });
  assert.equal((await expect(wire, 'requestResponse')).value.reason, 2);
  send(wire, { case: 'updateMetadata', value: { name: 'x', requestId: 9 } });
  const refused = await expect(wire, 'requestResponse');
  assert.deepEqual([refused.value.requestId, refused.value.reason], [9, 2]);
  for (let i = 0; i < 12; i++) send(wire, { case: 'addTrack', value: { cid: `c${i}`, type: 0, source: 2 } });
  for (let i = 0; i < 8; i++) assert.match((await expect(wire, 'trackPublished')).value.track.sid, /^TR_/);
  send(wire, { case: 'pingReq', value: { timestamp: 5n } });
  assert.equal((await expect(wire, 'pongResp')).value.lastPingTimestamp, 5n);
  send(wire, { case: 'ping', value: 1n });
  assert.ok((await expect(wire, 'pong')).value > 1n);
  send(wire, { case: 'leave', value: { reason: 1 } });
  assert.equal((await expect(wire, 'none')).code, 1000);
});

test('a session to be resumed that is not there is told to join anew', async () => {
  const room = await server.open();
  for (const path of [v1(await room.token(), joinParam({ reconnect: true, participantSid: 'PA_gone' })),
    `/rtc?access_token=${await room.token()}&reconnect=1&sid=PA_gone`]) {
    const wire = await connect(server.url);
    assert.equal((await upgrade(wire, path)).status, 101);
    const leave = await expect(wire, 'leave');
    assert.deepEqual([leave.value.reason, leave.value.action], [6, 2]);
    wire.socket.destroy();
  }
});

test('a token used again replaces its own session; after the end it opens nothing', async () => {
  const room = await server.open();
  const token = await room.token();
  const first = await joined(room, v1(token));
  const second = await joined(room, v1(token));
  assert.equal((await expect(first, 'leave')).value.reason, 2);
  await room.close();
  assert.equal((await expect(second, 'leave')).value.reason, 5);
  assert.equal((await tryUpgrade(v1(token))).status, 403);
});

test('another identity cannot push the caller out, nor be the agent', async () => {
  const room = await server.open();
  const wire = await joined(room);
  assert.equal((await tryUpgrade(v1(await room.token({ identity: 'other' })))).status, 403);
  assert.equal((await tryUpgrade(v1(await room.token({ identity: 'agent-test' })))).status, 403);
  send(wire, { case: 'pingReq', value: { timestamp: 1n } });
  assert.equal((await expect(wire, 'pongResp')).case, 'pongResp');
  wire.socket.destroy();
});

test('who brings no media path up in time is told so', async () => {
  const room = await server.open({ hasty: true });
  const wire = await joined(room);
  send(wire, offer(sdp('browser-single-1-offer')));
  await expect(wire, 'answer');
  const leave = await expect(wire, 'leave');
  assert.deepEqual([leave.value.reason, leave.value.action], [7, 0]);
  assert.equal((await expect(wire, 'none')).code, 1000);
  assert.equal((await room.seen()).left, 0);
});

test('a flood of joins with one token is cut at its room and disturbs no other', async () => {
  const room = await server.open(), quiet = await server.open();
  const path = v1(await room.token()), began = performance.now();
  const flood = Promise.all(Array.from({ length: 150 }, () => tryUpgrade(path)));
  const calm = await joined(quiet);
  const statuses = (await flood).map((answer) => answer.status);
  const most = 10 + Math.ceil((performance.now() - began) / 1000); // ten, and one more each second
  const of = (status) => statuses.filter((s) => s === status).length;
  assert.equal(of(101) + of(429), 150, String([...new Set(statuses)]));
  assert.ok(of(101) >= 10 && of(101) <= most, `${of(101)} joins, at most ${most}`);
  send(calm, { case: 'pingReq', value: { timestamp: 1n } });
  assert.equal((await expect(calm, 'pongResp')).case, 'pongResp');
  calm.socket.destroy();
});

test('a flood of joins with bad tokens is refused and lets others in', async () => {
  const room = await server.open();
  const path = v1(await mint({ room: room.name, secret: 'x' }));
  const flood = Promise.all(Array.from({ length: 300 }, () => tryUpgrade(path)));
  const wire = await joined(room);
  assert.deepEqual([...new Set((await flood).map((answer) => answer.status))], [401]);
  assert.equal((await room.seen()).left, 0);
  wire.socket.destroy();
});

test('half-open connections and endless heads hold nobody up', async () => {
  const idle = await Promise.all(Array.from({ length: 50 }, () => connect(server.url)));
  const slow = await connect(server.url);
  slow.socket.write('GET /rtc/v1?access_token=');
  const room = await server.open();
  const wire = await joined(room);
  const long = await tryUpgrade(`/rtc/v1?access_token=${'x'.repeat(40000)}`);
  assert.ok([401, 414].includes(long.status), String(long.status));
  for (const { socket } of [...idle, slow, wire]) socket.destroy();
});

test('garbage by UDP is dropped', async () => {
  const socket = dgram.createSocket('udp4');
  const { sent } = await witness.room.seen();
  const stun = Buffer.concat([
    Buffer.from([0, 1, 0, 8, 0x21, 0x12, 0xa4, 0x42]),
    randomBytes(12),
    Buffer.from([0, 6, 0, 4]),
    Buffer.from('abcd'),
  ]);
  for (let i = 0; i < 3000; i++) {
    const bytes =
      i % 3 === 0
        ? stun
        : i % 3 === 1
          ? Buffer.concat([Buffer.from([[22, 128, 0, 200][i % 4]]), randomBytes(i % 1400)])
          : randomBytes(1 + (i % 1400));
    await new Promise((done) => socket.send(bytes, server.udpPort, '127.0.0.1', done));
  }
  await witness.room.until((s) => s.sent > sent + 25, 'packets to the witness');
  socket.close();
});
