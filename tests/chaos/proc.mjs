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
