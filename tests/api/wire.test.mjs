/* Bytes that no well-behaved client sends: each is refused with a clear reason, closes its own connection, and hurts
 * nobody else. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { makeWorkspace, startService, until } from '../harness/service.mjs';

let service, key;
before(async () => {
  service = await startService({ env: { EARSHOT_RTC_PORT: '0' } });
  ({ key } = await makeWorkspace(service));
});
after(async () => { await service?.close(); });

/* A raw connection: what came back so far, and whether the service has closed it. */
function open() {
  const { hostname, port } = new URL(service.url);
  const wire = { got: '', closed: false, socket: connect(Number(port), hostname) };
  wire.socket.on('data', (part) => { wire.got += part.toString('latin1'); });
  wire.socket.on('close', () => { wire.closed = true; });
  wire.socket.on('error', () => {});
  return wire;
}

async function refusal(bytes) {
  const wire = open();
  wire.socket.write(bytes);
  await until(() => wire.closed, { what: 'the refusal' });
  const [head, body] = wire.got.split('\r\n\r\n');
  assert.equal(wire.got.match(/^HTTP\/1\.1 /gm)?.length, 1, wire.got);
  assert.match(head, /\r\nConnection: close\r\n/);
  assert.match(head, /\r\nX-Request-Id: /);
  const answer = JSON.parse(body);
  assert.equal(answer.status, Number(head.slice(9, 12)));
  return answer;
}

const HEAD = 'POST /v1/calls HTTP/1.1\r\nHost: x\r\n';
const refused = [
  ['both lengths', `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    + `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`, 400],
  ['two lengths', `${HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 400],
  ['a coding that is not chunked', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`, 501],
  ['a folded header', `${HEAD}X-A: b\r\n c\r\n\r\n`, 400],
  ['a bare line feed', 'GET /healthz HTTP/1.1\nHost: x\n\n', 400],
  ['a NUL', 'GET /healthz HTTP/1.1\r\nHost: x\0y\r\n\r\n', 400],
  ['a space before the colon', `${HEAD}Content-Length : 5\r\n\r\nhello`, 400],
  ['a malformed chunk', `${HEAD}Authorization: Bearer {key}\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello`, 400],
  ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  ['another version', 'GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n', 505],
  ['a long line', `GET /${'x'.repeat(40000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414],
  ['long headers', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'x'.repeat(70000)}\r\n\r\n`, 431],
  ['many headers', `GET /healthz HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(200)}\r\n`, 431],
  ['an unknown expectation', `${HEAD}Expect: patience\r\nContent-Length: 0\r\n\r\n`, 417],
];
for (const [what, bytes, status] of refused)
  test(`refused: ${what}`, async () => { assert.equal((await refusal(bytes.replace('{key}', key))).status, status); });

test('a request line of 16 KB is read', async () => {
  const response = await fetch(`${service.url}/healthz?${'x'.repeat(16000)}`);
  assert.equal(response.status, 200);
});

/* Requests beside 300 of them: answers whether all were still open at the end, as they are for 10 s. */
async function askBesideSilent() {
  const wires = Array.from({ length: 300 }, (_, number) => {
    const wire = open();
    if (number % 3 === 1) wire.socket.write('GET /healthz HTTP/1.1\r\nHos');
    if (number % 3 === 2) wire.socket.write(`${HEAD}Authorization: Bearer ${key}\r\nContent-Length: 100\r\n\r\n{`);
    return wire;
  });
  await until(() => wires.every(({ socket }) => !socket.connecting), { what: 'the connections' });
  for (let i = 0; i < 20; i++) assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
  const wereOpen = wires.every(({ closed }) => !closed);
  for (const wire of wires) wire.socket.destroy();
  return wereOpen;
}

test('half-open and silent connections take nothing from others',
  () => until(askBesideSilent, { what: 'answers while all the others are open' }));

test('a client that sends no more but still reads gets its answer', async () => {
  const wire = open();
  wire.socket.end('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => wire.closed, { what: 'the answer' });
  assert.match(wire.got, /^HTTP\/1\.1 200 OK\r\n/);
});
