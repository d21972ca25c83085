/* A microphone for browsers that take none from a file (Firefox): a PulseAudio of the test's own, which needs no sound
 * card and nothing that runs already. What is played into its sink `mouth` is the microphone; browsers play into `ear`,
 * so that a caller does not hear the agent. A file is said again and again: whoever is not there yet hears it the next
 * time. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { adopt } from './faults.mjs';
import { until } from './service.mjs';

const run = promisify(execFile);
const SCRIPT = (socket) => `
load-module module-null-sink sink_name=ear rate=48000
load-module module-null-sink sink_name=mouth rate=48000 channels=1
load-module module-remap-source source_name=microphone master=mouth.monitor
set-default-sink ear
set-default-source microphone
load-module module-native-protocol-unix socket=${socket} auth-anonymous=1
`;
/* Without what a container may refuse: real-time priority, and much shared memory. */
const ARGUMENTS = ['-n', '--daemonize=no', '--use-pid-file=no', '--exit-idle-time=-1', '--disable-shm',
  '--high-priority=no', '--realtime=no', '--log-target=stderr', '-F'];

/* answers { env, close() }; env: what a browser is started with, that it may hear and be heard. */
export async function openMicrophone(file) {
  const dir = mkdtempSync(join(tmpdir(), 'earshot-pulse-'));
  const socket = join(dir, 'native'), script = join(dir, 'microphone.pa');
  const env = { PULSE_SERVER: `unix:${socket}`, PULSE_RUNTIME_PATH: dir, PULSE_STATE_PATH: dir };
  const options = { env: { ...process.env, ...env, HOME: dir, XDG_RUNTIME_DIR: dir } };
  writeFileSync(script, SCRIPT(socket));
  const server = spawn('pulseaudio', [...ARGUMENTS, script], { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  adopt(server);
  let output = '', isOver = false, ended = null, player = null;
  server.stderr.on('data', (part) => { output += part; });
  server.once('error', (error) => { ended = `${error.message} (package pulseaudio)`; });
  server.once('exit', (code, signal) => {
    ended = `it ended by itself with ${code ?? signal}\n${output}`;
    if (!isOver) console.error(`pulseaudio: ${ended}`);
  });
  const isThere = () => run('pactl', ['info'], options).then(() => true, () => ended !== null);
  const say = () => {
    if (isOver || ended !== null) return;
    player = spawn('paplay', ['--device=mouth', file], { ...options, stdio: 'ignore' });
    adopt(player);
    player.once('exit', say);
  };
  const close = async () => {
    isOver = true;
    player?.kill();
    server.kill();
    await until(() => ended !== null && (!player || isGone(player)), { what: 'the end of PulseAudio' });
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  await until(isThere, { what: 'PulseAudio' });
  if (ended !== null) throw new Error(`pulseaudio: ${ended}`);
  say();
  return { env, close };
}

const isGone = (child) => child.exitCode !== null || child.signalCode !== null;
