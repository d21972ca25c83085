/* earshot listen receives what the service delivers, verifies and prints it, and answers 401 to what is not signed so.
 * */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { binary, startService, makeWorkspace, until } from '../harness/service.mjs';

const SECRET = 'whsec_0123456789abcdef';

async function listen(...args) {
  const child = spawn(binary, ['listen', '--listen', '127.0.0.1:0', '--json', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  const heard = { lines: [], url: null, code: null };
  let text = '', said = '';
  child.stdout.on('data', (part) => {
    text += part;
    heard.lines = text.split('\n').slice(0, -1).map((line) => JSON.parse(line));
  });
  child.stderr.on('data', (part) => { said += part; });
  child.on('close', (code) => { heard.code = code; }); // after the last of its output
  heard.stop = () => child.kill();
  heard.url = await until(() => said.match(/http:\S+/)?.[0], { what: 'earshot listen' });
  return heard;
}

test('listen prints verified events and ends after --count', async () => {
  const service = await startService({ env: { EARSHOT_RTC_PORT: '0' } });
  const heard = await listen('--secret', SECRET, '--count', '1');
  try {
    const { api } = await makeWorkspace(service);
    const { webhook } = (await api('POST', '/v1/webhooks', { url: heard.url, events: ['*'], secret: SECRET })).body;
    const { body } = await api('POST', `/v1/webhooks/${webhook.id}/test`);
    assert.deepEqual(body, { ok: true, status: 200 });
    await until(() => heard.code !== null, { what: 'listen to end' });
    assert.equal(heard.code, 0);
    assert.equal(heard.lines.length, 1);
    assert.equal(heard.lines[0].verdict, 'verified');
    assert.equal(heard.lines[0].event.type, 'webhook.test');
    assert.equal(heard.lines[0].event.data.subscriptionId, webhook.id);
  } finally {
    heard.stop();
    await service.close();
  }
});

test('listen refuses what is signed with another secret', async () => {
  const heard = await listen('--secret', SECRET);
  try {
    const post = (headers) => fetch(heard.url, { method: 'POST', body: '{"id":"evt_1","type":"webhook.test"}',
      headers });
    const now = String(Math.floor(Date.now() / 1000));
    assert.equal((await post({ 'X-Service-Timestamp': now, 'X-Service-Signature': 'sha256=00' })).status, 401);
    assert.equal((await post({})).status, 401);
    assert.equal((await fetch(heard.url, { method: 'POST', body: 'no JSON' })).status, 400);
    await until(() => heard.lines.length === 2, { what: 'two lines' });
    assert.ok(heard.lines.every((line) => line.verdict === 'WRONG SIGNATURE'));
    assert.equal(heard.lines[1].isRepeated, true);
  } finally {
    heard.stop();
  }
});

test('listen prints nothing that a terminal acts on', async () => {
  for (const args of [['--json'], []]) {
    const child = spawn(binary, ['listen', '--listen', '127.0.0.1:0', '--count', '1', ...args],
      { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '', said = '', code = null;
    child.stdout.on('data', (part) => { out += part.toString('latin1'); });
    child.stderr.on('data', (part) => { said += part; });
    child.on('close', (status) => { code = status; });
    const url = await until(() => said.match(/http:\S+/)?.[0], { what: 'earshot listen' });
    const text = 'bye\u001b[2J\u009b31m\u202egnol\u007f';
    await fetch(url, { method: 'POST', body: JSON.stringify(
      { id: `evt_\u009b`, type: '\u001b]0;x\u0007', call: { id: '\u001b' }, data: { text } }) });
    await until(() => code !== null, { what: 'listen to end' });
    assert.ok(!/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae/.test(out), JSON.stringify(out));
    assert.match(out, /bye\\u001b\[2J\\u009b31m\\u202egnol\\u007f/i);
    if (args.length) assert.equal(JSON.parse(out).event.data.text, text);
  }
});
