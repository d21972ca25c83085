/* Headless Chromium with a microphone that plays a WAV file again and again, and files for it: whoever is not there yet
 * when a line is spoken hears it the next time. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const made = [];
process.on('exit', () => { for (const dir of made) rmSync(dir, { recursive: true, force: true }); });

/* A directory that is gone when the tests are. */
function directory(name) {
  const dir = mkdtempSync(join(tmpdir(), `earshot-${name}-`));
  made.push(dir);
  return dir;
}

/* Speaks a line, or several one after another, with flite's voice slt, at 48 kHz, with silence around each (seconds);
 * answers the WAV's path. */
export function speechFile(lines, { before = 4, after = 20 } = {}) {
  const dir = directory('speech');
  const files = [lines].flat().map((line, i) => {
    const [spoken, file] = [join(dir, `spoken${i}.wav`), join(dir, `caller${i}.wav`)];
    execFileSync('flite', ['-voice', 'slt', '-t', line, '-o', spoken]);
    execFileSync('sox', [spoken, '-r', '48000', '-c', '1', '-b', '16', file, 'pad', String(before), String(after)]);
    return file;
  });
  if (files.length === 1) return files[0];
  const all = join(dir, 'caller.wav');
  execFileSync('sox', [...files, all]);
  return all;
}

/* options: microphone (WAV path), mayUseMicrophone (default true), args. */
export async function openBrowser({ microphone, mayUseMicrophone = true, args = [] } = {}) {
  const path = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);
  if (!path) throw new Error('Chromium is not installed (package chromium)');
  const profile = directory('chromium');
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: path,
    headless: true,
    timeout: 180000,
    permissions: mayUseMicrophone ? ['microphone'] : [],
    viewport: { width: 760, height: 820 },
    ignoreHTTPSErrors: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--autoplay-policy=no-user-gesture-required',
      '--use-fake-device-for-media-stream',
      ...(mayUseMicrophone ? ['--use-fake-ui-for-media-stream'] : ['--deny-permission-prompts']),
      ...(microphone ? [`--use-file-for-fake-audio-capture=${microphone}`] : []),
      ...args,
    ],
  });
  context.setDefaultTimeout(90000); // for what never happens, on whatever machine
  return context;
}
