/* A directory on a small disk of its own, where the system lets us make one, so that it can be filled. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIZE_MB = 400;

/* owner: the user that it belongs to; ours unless it is said. */
export function smallDisk(name, owner) {
  const path = mkdtempSync(join(tmpdir(), `earshot-chaos-${name}-`));
  const isMounted = attempt('mount', '-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=700`, 'earshot-chaos', path);
  if (owner) attempt('chown', owner, path);
  const ballast = join(path, 'ballast');
  return {
    path,
    isMounted,
    fill: () => fill(ballast),
    free: () => rmSync(ballast, { force: true }),
    close: () => {
      if (isMounted) attempt('umount', '-l', path);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function attempt(command, ...args) {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/* Until no byte more goes in. */
function fill(path) {
  const file = openSync(path, 'w');
  for (let size = 1 << 24; size >= 1; size >>= 4) {
    const piece = Buffer.alloc(size);
    try {
      for (;;) if (writeSync(file, piece) < size) break;
    } catch {
      /* full for pieces of this size */
    }
  }
  closeSync(file);
}
