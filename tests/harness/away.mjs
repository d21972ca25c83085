/* A database that does not answer and does not say so: PostgreSQL's processes stand still, or another process holds
 * SQLite's file. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adopt } from './faults.mjs';

function processes(server) {
  const postmaster = Number(readFileSync(join(server.dir, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
  const parent = (pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ')[1]);
    } catch {
      return 0;
    }
  };
  return [
    postmaster,
    ...readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && parent(name) === postmaster)
      .map(Number),
  ];
}

/* Answers what lets go again. */
export async function freeze(service) {
  if (service.postgres) {
    const pids = processes(service.postgres);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return () => {
      for (const pid of [...pids.splice(0), service.postgres.child.pid]) {
        // runuser stops itself when its child is stopped
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          /* it has ended meanwhile */
        }
      }
    };
  }
  return hold(service, 'BEGIN IMMEDIATE;');
}

/* A program beside the service that runs the SQL and then holds what it has got. */
export async function hold(service, sql) {
  const [command, args] = service.postgres
    ? ['psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', service.postgres.url]]
    : ['sqlite3', ['-cmd', '.timeout 10000', join(service.data, 'earshot.db')]];
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  adopt(child);
  child.stdin.write(`${sql}\nSELECT 'held';\n`);
  await new Promise((held) => { child.stdout.on('data', (part) => { if (String(part).includes('held')) held(); }); });
  const ended = new Promise((exit) => { child.once('exit', exit); });
  return () => {
    if (!child.stdin.writableEnded) child.stdin.end('ROLLBACK;\n');
    return ended;
  };
}
