/* A PostgreSQL server of the test's own: a new cluster in a temporary directory, on a Unix socket there and on a
 * free port of loopback, run by another user than root. */
import { spawn, execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { adopt } from './faults.mjs';
import { freePort } from './port.mjs';

function binaries() {
  const base = '/usr/lib/postgresql';
  const version = existsSync(base) && readdirSync(base).sort().pop();
  if (!version) throw new Error('PostgreSQL is not installed (package postgresql-15)');
  return join(base, version, 'bin');
}

/* As root: the command as user postgres; else as it is. */
function asServerUser(argv) {
  return userInfo().uid === 0 ? ['runuser', '-u', 'postgres', '--', ...argv] : argv;
}

/* A cluster is made once for a machine and copied from then on: each file of tests has a server of its own. */
function makeCluster(bin, dir, data) {
  const kept = join(tmpdir(), `earshot-pg-cluster-${statSync(dir).uid}`);
  const run = (...argv) => {
    const [command, ...args] = asServerUser(argv);
    execFileSync(command, args, { stdio: 'ignore' });
  };
  const isKept = () => existsSync(join(kept, 'PG_VERSION')) && statSync(kept).uid === statSync(dir).uid;
  if (isKept()) {
    run('cp', '-a', kept, data);
    return;
  }
  run(join(bin, 'initdb'), '-D', data, '-U', 'earshot', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N');
  const copy = join(dir, 'copy');
  run('cp', '-a', data, copy);
  try {
    renameSync(copy, kept);
  } catch { // another one was quicker
    rmSync(copy, { recursive: true, force: true });
  }
}

/* given: an empty directory of user postgres (as root) to hold it, which stays. */
export async function startPostgres(given) {
  const bin = binaries();
  const dir = given ?? mkdtempSync(join(tmpdir(), 'earshot-pg-'));
  if (userInfo().uid === 0) {
    const id = (flag) => Number(execFileSync('id', [flag, 'postgres']).toString());
    chownSync(dir, id('-u'), id('-g'));
  }
  const data = join(dir, 'data');
  makeCluster(bin, dir, data);
  const server = { dir, port: await freePort(), child: null };
  server.url = `postgresql://earshot@127.0.0.1:${server.port}/postgres`;
  server.start = () => launch(server, bin, data);
  server.stop = async () => {
    await halt(server, 'SIGINT');
    if (!given) rmSync(dir, { recursive: true, force: true });
  };
  server.revive = async () => {
    if (server.child.exitCode !== null || server.child.signalCode !== null) await server.start();
  };
  server.halt = (signal) => halt(server, signal);
  server.freeze = (isFrozen) => freeze(server, isFrozen);
  await server.start();
  return server;
}

async function launch(server, bin, data) {
  const [command, ...args] = asServerUser([
    join(bin, 'postgres'),
    '-D',
    data,
    '-k',
    server.dir,
    '-p',
    String(server.port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'max_connections=200',
    '-c',
    'shared_buffers=32MB',
    '-c',
    'min_wal_size=32MB',
    '-c',
    'max_wal_size=96MB',
    '-c',
    'fsync=off',
  ]); // processes are killed here, machines are not
  let log = '';
  server.child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  adopt(server.child);
  await new Promise((ready, failed) => {
    server.child.stderr.on('data', (part) => {
      log += part;
      if (log.includes('ready to accept connections')) ready();
    });
    server.child.once('exit', (code) => failed(new Error(`postgres ended (${code}): ${log}`)));
  });
}

/* The server and all its processes stand still, or go on. */
function freeze(server, isFrozen) {
  const pid = postmaster(server);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  for (const one of [pid, ...children]) {
    try {
      process.kill(one, isFrozen ? 'SIGSTOP' : 'SIGCONT');
    } catch {
      /* it has ended meanwhile */
    }
  }
  if (!isFrozen) server.child.kill('SIGCONT'); // runuser stands still when its child does
}

const postmaster = (server) => Number(readFileSync(join(server.dir, 'data/postmaster.pid'), 'latin1').split('\n')[0]);

/* SIGINT: fast shutdown; SIGQUIT: as a crash. The signal goes to the server itself, not to runuser. */
async function halt(server, signal) {
  if (!server.child || server.child.exitCode !== null) return;
  const ended = new Promise((exit) => server.child.once('exit', exit));
  process.kill(postmaster(server), signal);
  await ended;
}
