/* The binary as an operator uses it: commands beside a running service, signals, a crash, a call from a WAV file. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOON_MS, binary, client, makeWorkspace, startService, until } from '../harness/service.mjs';
import { speechFile } from '../harness/browser.mjs';
import { sql } from '../harness/sql.mjs';
import { silence } from '../harness/stream.mjs';
import { signIn } from '../harness/studio.mjs';

/* Runs a command to its end, whatever that is. */
function earshot(env, ...args) {
  return new Promise((resolve) => execFile(binary, args, { env, maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
    resolve({ code: error ? error.code : 0, stdout, stderr })));
}

let service;
before(async () => {
  service = await startService({ args: ['--demo'], env: { EARSHOT_SERVICE_DRAIN_GRACE: '80' } });
});
after(() => service?.close());

async function demo() {
  const { workspaces } = await service.cli('workspace', 'list', '--json');
  const id = workspaces.find((workspace) => workspace.name === 'Demo').id;
  const { apiKey } = await service.cli('key', 'create', '--workspace', id, '--name', 'test', '--json');
  const answer = await fetch(`${service.url}/v1/agents`, { headers: { Authorization: `Bearer ${apiKey.key}` } });
  const { agents } = await answer.json();
  return { workspaceId: id, key: apiKey.key, agents };
}

const lastCall = async (key) => {
  const answer = await fetch(`${service.url}/v1/calls?limit=1`, { headers: { Authorization: `Bearer ${key}` } });
  return (await answer.json()).calls[0];
};

test('--demo prints a link that signs in to the studio, as does the command', async () => {
  const printed = await until(() => service.output.match(/^The studio .*: (\S+)\/studio#link=(\S+)$/m),
    { what: 'the link' });
  assert.equal(printed[1], service.url);
  const owner = await signIn(service, { link: printed[2] });
  assert.equal((await owner('GET', '/v1/me')).body.workspaces[0].name, 'Demo');
  const { workspaceId } = await demo();
  const told = await service.cli('studio', 'link', '--workspace', workspaceId);
  const [, url, link] = told.match(/^(\S+)\/studio#link=(\S+)\n\(signs in once, within 15 minutes\)\n$/);
  assert.equal(url, service.url, 'with the port that the service was given');
  await signIn(service, { link });
});

test('workspace and key commands print what programs read', async () => {
  const made = await earshot(
    service.env,
    'workspace',
    'create',
    '--name',
    'Ä "b"',
    '--balance',
    '25',
    '--max-concurrent-calls',
    '5',
    '--json',
  );
  assert.match(made.stdout, /^\{"workspace":\{"id":"usr_[A-Za-z0-9]{20}"\}\}\n$/);
  const { id } = JSON.parse(made.stdout).workspace;
  const key = await earshot(service.env, 'key', 'create', '--workspace', id, '--name', 'n', '--json');
  assert.match(key.stdout, /^\{"apiKey":\{"id":"key_[A-Za-z0-9]{20}","name":"n","key":"sk_[A-Za-z0-9]{38}"\}\}\n$/);
  const credit = await service.cli('workspace', 'credit', '--workspace', id, '--amount', '0.5', '--json');
  assert.deepEqual(credit, { workspace: { id, balance: 25.5 } });
  const { workspaces } = await service.cli('workspace', 'list', '--json');
  assert.deepEqual(workspaces.find((workspace) => workspace.id === id),
    { id, name: 'Ä "b"', plan: 'standard', balance: 25.5, maxConcurrentCalls: 5 });
  const { apiKeys } = await service.cli('key', 'list', '--workspace', id, '--json');
  assert.equal(apiKeys.length, 1);
});

test('a revoked key is refused by the running service within two seconds', async () => {
  const { keyId, api } = await makeWorkspace(service);
  assert.equal((await api('GET', '/v1/me')).status, 200);
  await service.cli('key', 'revoke', '--key', keyId, '--json');
  await until(async () => (await api('GET', '/v1/me')).status === 401, { timeoutMs: SOON_MS, what: '401' });
  const again = await earshot(service.env, 'key', 'revoke', '--key', keyId);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /no such key/);
});

test('mistakes are refused with a sentence', async () => {
  const cases = [
    [['workspace', 'create'], 2, /--name is required/],
    [['workspace', 'create', '--name', ''], 1, /--name must be 1 to 100 printable characters/],
    [['workspace', 'create', '--name', '  '], 1, /--name must be/],
    [['workspace', 'create', '--name', 'a\nb'], 1, /--name must be/],
    [['workspace', 'create', '--name', 'x'.repeat(101)], 1, /--name must be/],
    [['workspace', 'create', '--name', 'x', '--balance', '1.23456'], 1, /no amount of USD/],
    [['workspace', 'create', '--name', 'x', '--balance', '-5'], 1, /--balance must be 0 or more/],
    [['workspace', 'create', '--name', 'x', '--plan', 'gold'], 1, /no plan 'gold'/],
    [['workspace', 'credit', '--workspace', 'usr_x', '--amount', '1'], 1, /no such workspace/],
    [['key', 'create', '--workspace', 'usr_x', '--name', 'x'], 1, /no such workspace/],
    [['nonsense'], 2, /unknown command/],
    [['serve', '--sett', 'x'], 2, /unknown option/],
    [['serve', '--set', 'service.listen=nowhere'], 1, /no address:port/],
    [['serve', '--set', 'rtc.bind=nowhere'], 1, /rtc\.bind/],
    [['show', '--set', 'service.data=/nowhere'], 1, /no service runs/],
  ];
  for (const [args, code, sentence] of cases) {
    const result = await earshot(service.env, ...args);
    assert.equal(result.code, code, args.join(' '));
    assert.match(result.stderr, sentence);
  }
});

test('a second service on the same directory is refused', async () => {
  const second = await earshot(service.env, 'serve');
  assert.equal(second.code, 1);
  assert.match(second.stderr, /runs on this data directory already/);
});

test('show tells of loops and calls, doctor finds no fault', async () => {
  const shown = await service.cli('show', '--json');
  assert.equal(shown.service.state, 'serving');
  assert.equal(shown.service.publicUrl, service.url);
  assert.deepEqual(shown.loops.slice(0, 2).map((loop) => loop.name), ['control', 'delivery']);
  assert.deepEqual(shown.calls, []);
  assert.equal(statSync(join(service.data, 'earshot.sock')).mode & 0o777, 0o600);
  const { findings } = await service.cli('doctor', '--json');
  assert.deepEqual(findings.filter((finding) => finding.level === 'fault'), []);
  assert.match(
    findings.find((finding) => finding.subject === 'load').text,
    /^has room: 0 calls are encoded cheaper, 0 were refused/,
  );
});

test('show and doctor name what was set aside', async () => {
  const { key, workspaceId } = await makeWorkspace(service);
  const api = client(service, key);
  const { body: { webhook } } = await api('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/hook' });
  const { body: { agent } } = await api('POST', '/v1/agents', { name: 'n', greetingMode: 'none' });
  sql(service, `UPDATE webhooks SET settings = 'spoilt' WHERE id = '${webhook.id}';`);
  const { status, body } = await api('POST', '/v1/calls', { agentId: agent.id });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal((await api('POST', `/v1/calls/${body.callId}/end`)).body.call.status, 'ended');
  const deadLetters = await until(async () => {
    const shown = await service.cli('show', '--json');
    return shown.deadLetters.webhook >= 2 && shown.deadLetters;
  }, { what: 'both events to be set aside' });
  assert.deepEqual(
    [deadLetters.newest[0].kind, deadLetters.newest[0].subject, deadLetters.newest[0].workspace],
    ['webhook', webhook.id, workspaceId],
  );
  const { findings } = await service.cli('doctor', '--json');
  const told = findings.filter((finding) => finding.subject === 'dead letters').map((finding) => finding.text);
  assert.match(told[0], /set aside.*webhook \d/);
  assert.ok(told[1].includes(webhook.id) && told[1].includes('does not read'), told[1]);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  assert.match(metrics, /earshot_dead_letters_total\{kind="webhook"\} \d/);
});

test('a start that may open too few files says so', async () => {
  const data = mkdtempSync(join(tmpdir(), 'earshot-few-'));
  const env = { ...service.env, EARSHOT_DATA: data };
  const { code, stderr } = await new Promise((resolve) => execFile('sh', ['-c', `ulimit -n 40; exec "${binary}" serve`],
    { env }, (error, _, text) => resolve({ code: error?.code, stderr: text })));
  assert.equal(code, 1, stderr);
  assert.match(stderr, /event=service.start fault="40 open files are too few: at least \d+ are needed/);
  rmSync(data, { recursive: true, force: true });
});

test('doctor names what is wrong', async () => {
  const result = await earshot(
    { ...service.env, EARSHOT_TLS_CERT: '/nowhere.pem', EARSHOT_LISTEN: 'x', EARSHOT_EGRESS_ALLOW: 'y' },
    'doctor',
    '--json',
  );
  const { findings } = JSON.parse(result.stdout);
  const faults = findings.filter((finding) => finding.level === 'fault').map((finding) => finding.subject);
  assert.deepEqual(faults, ['listen', 'certificate', 'outgoing']);
  assert.equal(result.code, 1);
});

test('a WAV file calls the demo agent, which answers from its document', { timeout: 240000 }, async () => {
  const { key, agents } = await demo();
  const reply = join(service.data, 'reply.wav');
  const question = speechFile('What are your opening hours?', { before: 0.2, after: 0.5 });
  const result = await earshot(service.env, 'call', '--agent', agents[0].id, '--in', question, '--out', reply,
    '--url', service.url, '--key', key, '--json');
  assert.equal(result.code, 0, result.stderr);
  const events = result.stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(events[0].agent, 'Front desk');
  assert.match(events.find((event) => event.type === 'you').text, /open/i);
  assert.match(events.filter((event) => event.type === 'agent').at(-1).text, /Tuesday/);
  const turn = events.find((event) => event.what === 'answered');
  assert.ok(turn.tookMs > 100 && turn.tookMs < 60000, `answered after ${turn.tookMs} ms`);
  const wav = readFileSync(reply);
  assert.equal(wav.toString('latin1', 0, 4), 'RIFF');
  assert.ok(wav.length > 5 * 32000);
  const call = await until(async () => { const last = await lastCall(key); return last.status === 'ended' && last; });
  assert.equal(call.endReason, 'user-left');
  const shown = (await earshot(service.env, 'show', 'call', call.id)).stdout.split('\n');
  assert.match(shown[1], /^ended user-left, \d+ s$/);
  assert.ok(shown.some((line) => /^[\d:.]{12} {2}caller .*open/.test(line)), shown.join('\n'));
  assert.ok(shown.some((line) => /^ {4}first_packet +[\d.]+ ms \|[ #]{40}\|/.test(line)), shown.join('\n'));
});

test('call says why it could not', async () => {
  const question = speechFile('Hello.', { before: 0, after: 0 });
  const { key } = await demo();
  const call = (...args) => earshot(service.env, 'call', '--in', question, '--url', service.url, ...args);
  assert.match((await call('--agent', 'ua_x', '--key', 'sk_wrong')).stderr, /401/);
  assert.match((await call('--agent', 'ua_x', '--key', key)).stderr, /404/);
  assert.match((await earshot(service.env, 'call', '--in', '/nowhere.wav', '--agent', 'x')).stderr, /nowhere\.wav/);
  assert.match((await earshot(service.env, 'call', '--in', binary, '--agent', 'x')).stderr, /wav|wave|RIFF/i);
});

test('--demo makes its agent once', async () => {
  const link = service.output.match(/\S+\/try#\S+/)[0].replace(/^.*#/, '');
  await service.stop();
  await service.restart();
  const links = service.output.match(/\S+\/try#\S+/g).map((text) => text.replace(/^.*#/, ''));
  assert.deepEqual([...new Set(links)], [link]);
  assert.equal((await demo()).agents.length, 1);
});

async function startCall(key, agentId) {
  const answer = await fetch(`${service.url}/v1/calls`, { method: 'POST', body: JSON.stringify({ agentId }),
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' } });
  return { status: answer.status, body: await answer.json() };
}

test('SIGTERM refuses new calls and gives running ones the grace, a second one does not', async () => {
  const { key, agents } = await demo();
  const dir = mkdtempSync(join(tmpdir(), 'earshot-caller-'));
  const caller = earshot(service.env, 'call', '--agent', agents[0].id, '--in', silence(dir), '--seconds', '200',
    '--url', service.url, '--key', key);
  await until(async () => (await lastCall(key))?.userJoinedAt && (await lastCall(key)).status === 'active',
    { what: 'the caller in the room' });
  service.child.kill('SIGTERM');
  await until(async () => (await fetch(`${service.url}/readyz`)).status === 503, { what: 'not ready' });
  const refused = await startCall(key, agents[0].id);
  assert.equal(refused.status, 503);
  assert.equal(service.exit, null);
  assert.deepEqual(await service.stop('SIGTERM'), { code: 0, signal: null });
  await caller;
  rmSync(dir, { recursive: true, force: true });
  await service.restart();
  const { calls } = await (
    await fetch(`${service.url}/v1/calls`, { headers: { Authorization: `Bearer ${key}` } })
  ).json();
  assert.deepEqual([...new Set(calls.map((call) => call.status))], ['ended']);
  assert.ok(calls.some((call) => call.endReason === 'agent-shutdown'));
});

test('a killed service ends its calls when it comes back', async () => {
  const { key, agents } = await demo();
  const { body } = await startCall(key, agents[0].id);
  await service.stop('SIGKILL');
  await service.restart();
  const answer = await fetch(`${service.url}/v1/calls/${body.callId}`, { headers: { Authorization: `Bearer ${key}` } });
  const { call } = await answer.json();
  assert.equal(call.status, 'ended');
  assert.equal(call.endReason, 'agent-shutdown');
});

test('a service that others can reach makes a certificate, and SIGHUP reads it again', async () => {
  const data = mkdtempSync(join(tmpdir(), 'earshot-tls-'));
  const open = await startService({ data, env: { EARSHOT_LISTEN: '0.0.0.0:0' } });
  try {
    assert.match(open.url, /^https:/);
    assert.match(open.output, /tls\.self_signed/);
    const { workspaceId } = await makeWorkspace(open);
    const { url } = await open.cli('studio', 'link', '--workspace', workspaceId, '--json');
    assert.equal(url.split('/studio#link=')[0], open.url, 'the link of the command says https');
    const serial = () => new Promise((resolve, reject) => {
      const port = new URL(open.url).port;
      const sent = request(
        { host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, agent: false },
        (answer) => {
          resolve(answer.socket.getPeerCertificate().serialNumber);
          answer.resume();
        },
      );
      sent.on('error', reject).end();
    });
    const first = await serial();
    const other = await startService({ env: { EARSHOT_LISTEN: '0.0.0.0:0' } });
    for (const name of ['self-signed.crt', 'self-signed.key'])
      writeFileSync(join(data, name), readFileSync(join(other.data, name)));
    await other.close();
    assert.equal(await serial(), first);
    open.child.kill('SIGHUP');
    await until(async () => (await serial()) !== first, { what: 'the new certificate' });
  } finally {
    await open.close();
    rmSync(data, { recursive: true, force: true });
  }
});

test('a demonstration beside other services takes ports that are free', async () => {
  const standard = { EARSHOT_LISTEN: undefined, EARSHOT_RTC_PORT: undefined };
  const first = await startService({ args: ['--demo'], env: standard });
  const second = await startService({ args: ['--demo'], env: standard });
  try {
    assert.notEqual(first.url, second.url);
    for (const one of [first, second]) assert.equal((await fetch(`${one.url}/healthz`)).status, 200);
    const given = await earshot(
      {
        ...second.env,
        EARSHOT_DATA: `${second.data}-third`,
        EARSHOT_DATABASE_URL: undefined, // a key of its own opens no database of another's
        EARSHOT_LISTEN: new URL(first.url).host,
        EARSHOT_RTC_PORT: '0',
      },
      'serve',
      '--demo',
    );
    assert.equal(given.code, 1);
    assert.match(given.stderr, /service\.listen/);
    rmSync(`${second.data}-third`, { recursive: true, force: true });
  } finally {
    await first.close();
    await second.close();
  }
});
