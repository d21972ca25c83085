/* Starts the real `earshot serve` for a test: its own data directory, a port of the system's choice, SQLite or
 * PostgreSQL (TEST_DATABASE), and stops it. EARSHOT_BIN names the binary (default build/earshot). No dependency but
 * Node.js 18. */
import { spawn, execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { adopt, exitFault, fail } from './faults.mjs';
import { startPostgres } from './postgres.mjs';

const run = promisify(execFile);
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
export const binary = process.env.EARSHOT_BIN ?? join(root, 'build/earshot');

/* Waits until condition() is truthy and answers it. It asks again every few milliseconds: what it looks at (another
 * process, its database, its log) tells no event that a test could await. The deadline is for what never happens: it is
 * no measure of speed, and long enough for a sanitizer's build on a busy machine. */
export async function until(condition, { timeoutMs = 90000, what = 'condition' } = {}) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await new Promise((next) => setTimeout(next, 10));
  }
}

/* For what happens within a second on a machine with room, and must not wait for something of another order. */
export const SOON_MS = 10000;

/* options: env (more EARSHOT_ settings), args (of serve), data (an existing directory), binary (another one),
 * database ('sqlite' | 'postgresql' | a URL), postgresDir (where to make that one's cluster). */
export async function startService(options = {}) {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'earshot-test-'));
  const database = options.database ?? process.env.TEST_DATABASE ?? 'sqlite';
  const postgres = database === 'postgresql' ? await startPostgres(options.postgresDir) : null;
  const databaseUrl = postgres?.url ?? (database.includes('://') ? database : '');
  const env = {
    ...process.env,
    EARSHOT_DATA: data,
    EARSHOT_LISTEN: '127.0.0.1:0',
    EARSHOT_RTC_PORT: '0',
    EARSHOT_RTC_PRIORITY: 'false',
    EARSHOT_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
    ...(databaseUrl ? { EARSHOT_DATABASE_URL: databaseUrl } : {}),
    ...options.env,
  };
  const service = { binary: options.binary ?? binary, data, env, postgres, output: '', exit: null };
  await launch(service, options.args ?? []);
  service.cli = (...args) => cli(databaseUrl ? { ...env, EARSHOT_DATABASE_URL: patient(databaseUrl) } : env, ...args);
  service.stop = (signal = 'SIGTERM') => stop(service, signal);
  service.restart = () => launch(service, options.args ?? []);
  service.close = async () => {
    await stop(service, 'SIGTERM');
    await postgres?.stop();
    if (!options.data) rmSync(data, { recursive: true, force: true });
  };
  return service;
}

/* A command asks once: it is given more time than a service, which asks again. */
const patient = (url) => `${url}${url.includes('?') ? '&' : '?'}connect_timeout=60`;

async function launch(service, args) {
  const child = spawn(service.binary, ['serve', ...args], { env: service.env, stdio: ['ignore', 'pipe', 'pipe'] });
  adopt(child);
  service.child = child;
  service.exit = null;
  service.isStopping = false;
  const from = service.output.length;
  const started = () => service.output.slice(from).match(/listening on (https?:\/\/\S+)/);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => { service.output += part; });
  let isAsked = false; // as it was at the end: a restart may come before the last of the output
  child.on('exit', (code, signal) => {
    isAsked = service.isStopping;
    service.exit = { code, signal };
  });
  child.on('close', (code, signal) => { // after the last of its output
    const output = service.output.slice(from);
    const wasCut = service.mayBeCut && isAsked && code === 1 && output.includes('event=service.cut');
    const fault = exitFault({ code: wasCut ? 0 : code, signal }, output, { isAsked, mayRefuse: !started() });
    if (fault) fail('earshot serve', fault, service.output);
  });
  child.on('error', (error) => { service.exit = { code: -1, error }; });
  await until(() => started() || service.exit, { what: 'the service to listen' });
  if (!started()) throw new Error(`earshot serve ended: ${JSON.stringify(service.exit)}\n${service.output}`);
  service.url = started()[1].replace(/\/$/, '');
}

async function stop(service, signal) {
  if (service.exit) return service.exit;
  service.isStopping = true;
  service.child.kill(signal);
  return until(() => service.exit, { what: `the end of the service after ${signal}` });
}

/* Runs a command of the binary beside the service; answers its standard output, parsed when it is JSON. */
export async function cli(env, ...args) {
  const { stdout } = await run(binary, args, { env, maxBuffer: 1 << 24 });
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout;
  }
}

/* A workspace with a balance and a key; answers { workspaceId, keyId, key, api(method, path, body, headers) }. */
export async function makeWorkspace(service, { balance = 25, calls = 5, name = 'Test' } = {}) {
  const { workspace } = await service.cli('workspace', 'create', '--name', name, '--balance', String(balance),
    '--max-concurrent-calls', String(calls), '--json');
  const { apiKey } = await service.cli('key', 'create', '--workspace', workspace.id, '--name', 'test', '--json');
  return { workspaceId: workspace.id, keyId: apiKey.id, key: apiKey.key, api: client(service, apiKey.key) };
}

/* fetch() with a key: answers { status, headers, body (parsed), text }. A body that is no string is sent as JSON. */
export function client(service, key) {
  return async (method, path, body, headers = {}, signal = undefined) => {
    const response = await fetch(service.url + path, {
      method,
      signal,
      headers: {
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      redirect: 'manual',
    });
    const text = await response.text();
    let parsed = null;
    try { parsed = JSON.parse(text); } catch { /* not JSON */ }
    return { status: response.status, headers: response.headers, body: parsed, text };
  };
}
