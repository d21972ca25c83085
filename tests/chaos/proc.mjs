/* What the kernel says of a process. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/* UDP ports that it has open. */
export function udpPorts(pid) {
  const sockets = new Set();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      sockets.add(readlinkSync(`/proc/${pid}/fd/${fd}`).match(/^socket:\[(\d+)\]$/)?.[1]);
    } catch {
      /* closed meanwhile */
    }
  }
  return readFileSync('/proc/net/udp', 'latin1')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => sockets.has(fields[9]))
    .map((fields) => parseInt(fields[1].split(':')[1], 16));
}

export function memoryMb(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/status`, 'latin1').match(/^VmRSS:\s+(\d+)/m)[1]) / 1024;
  } catch {
    return 0;
  }
}

/* Ticks of this process and of all that it has started, those that have ended too. */
function ownTicks() {
  const of = new Map(), below = new Map(); // by process: its ticks, its children
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number)) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
      of.set(pid, fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0));
      below.set(Number(fields[1]), [...(below.get(Number(fields[1])) ?? []), pid]);
    } catch {
      /* it has ended meanwhile */
    }
  }
  const sum = (pid) => (below.get(pid) ?? []).reduce((ticks, child) => ticks + sum(child), of.get(pid) ?? 0);
  return sum(process.pid);
}

function ticks() {
  const line = readFileSync('/proc/stat', 'latin1').split('\n', 1)[0];
  const [user, nice, system, idle, waiting, hard, soft, stolen] = line.trim().split(/\s+/).slice(1).map(Number);
  const busy = user + nice + system + hard + soft + stolen;
  return { all: busy + idle + waiting, others: busy - ownTicks() };
}

/* Which part of the machine's cores others had while act() went on: other programs, or other machines on its own. */
export async function othersDuring(act) {
  const before = ticks();
  await act();
  const after = ticks();
  return (after.others - before.others) / Math.max(1, after.all - before.all);
}
