/* Tools of different workspaces at the same endpoints: each workspace has connections of its own, and endpoints that
 * hang hold only their own workspace's place. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { startService, makeWorkspace, until } from '../harness/service.mjs';

const PER_WORKSPACE = 16; // tools.per_workspace

/* Raw HTTP: /hang... is never answered, all else with its own path. `paths` are those that each connection saw. */
async function startEndpoint() {
  const connections = [];
  const server = createServer((socket) => {
    const seen = { paths: [], socket };
    connections.push(seen);
    socket.on('error', () => {});
    socket.on('data', (part) => {
      const path = part.toString().match(/^GET (\S+) /)?.[1];
      if (!path) return;
      seen.paths.push(path);
      if (path.startsWith('/hang')) return;
      if (path.startsWith('/long')) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LONG.length}\r\n\r\n${LONG}`);
      else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { connections, url: (path) => `http://127.0.0.1:${server.address().port}${path}`,
    close: () => { for (const { socket } of connections) socket.destroy(); server.close(); } };
}

const LONG = `[${Array(300000).fill('[]').join(',')}]`;

let endpoint, service, first, second;
before(async () => {
  endpoint = await startEndpoint();
  service = await startService();
  first = (await makeWorkspace(service, { name: 'First' })).api;
  second = (await makeWorkspace(service, { name: 'Second' })).api;
});
after(async () => {
  await service?.close();
  endpoint?.close();
});

async function makeTool(api, path, more = {}) {
  const { status, text, body } = await api('POST', '/v1/tools',
    { name: `t${Math.random().toString(36).slice(2)}`, description: 'd', url: endpoint.url(path),
    timeoutMs: 30000, ...more });
  assert.equal(status, 201, text);
  return body.tool.id;
}

const run = async (api, id) => (await api('POST', `/v1/tools/${id}/test`, {})).body;

test('no connection carries the requests of two workspaces', async () => {
  const ours = await makeTool(first, '/first'), theirs = await makeTool(second, '/second');
  for (let i = 0; i < 5; i++) {
    assert.equal((await run(first, ours)).data, '/first');
    assert.equal((await run(second, theirs)).data, '/second');
  }
  for (const { paths } of endpoint.connections) assert.ok(new Set(paths).size <= 1, paths.join(' '));
  assert.equal(endpoint.connections.length, 2); // each is used again
});

test('endpoints that hang hold only their own workspace back', async () => {
  const hanging = await makeTool(first, '/hang'), good = await makeTool(second, '/good'),
    own = await makeTool(first, '/own');
  const atHang = () => endpoint.connections.filter(({ paths }) => paths.at(-1) === '/hang');
  const hung = () => atHang().length;
  let answered = 0;
  const runs = Array.from({ length: 3 * PER_WORKSPACE }, () => run(first, hanging)
    .then(() => { answered++; }, () => {}));
  await until(() => hung() === PER_WORKSPACE, { what: 'the hanging endpoints to be asked' });
  const late = run(first, own).catch(() => null);
  for (let i = 0; i < 5; i++) assert.equal((await run(second, good)).success, true);
  assert.equal(answered, 0);
  assert.equal(hung(), PER_WORKSPACE);
  for (const { socket } of atHang()) socket.destroy(); // their places go to those that wait
  await until(() => hung() > PER_WORKSPACE, { what: 'the next requests' });
  const ends = setInterval(() => { for (const { socket } of atHang()) socket.destroy(); }, 50);
  assert.equal((await late).success, true);
  await Promise.all(runs);
  clearInterval(ends);
});

test('a long answer is told whole', async () => {
  const answer = await run(first, await makeTool(first, '/long'));
  assert.equal(answer.data.length, 300000);
});
