/* wyoming-stt and wyoming-tts against the `wyoming` package's own server classes, as `earshot doctor` tries them. */
import { test, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWyoming } from '../fake/vendors/wyoming.mjs';
import { binary } from '../harness/service.mjs';
import { installClients, python } from './install.mjs';

before(installClients);

async function withServer(fault, use) {
  const server = spawn(python, [new URL('wyoming_server.py', import.meta.url).pathname], {
    env: { ...process.env, FAULT: fault },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const port = await new Promise((resolve, reject) => {
      server.stdout.once('data', (data) => resolve(Number(data)));
      server.once('exit', () => reject(new Error('the server has ended')));
    });
    await use(port);
  } finally {
    server.kill();
  }
}

function examine(port, host = '127.0.0.1') {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-wyoming-'));
  const sets = ['stt', 'tts'].flatMap((kind) => ['--set', `engine.wyoming-${kind}.url=tcp://${host}:${port}`]);
  return new Promise((resolve) =>
    execFile(
      binary,
      ['doctor', ...sets],
      { env: { PATH: process.env.PATH, EARSHOT_DATA: folder } },
      (error, stdout) => {
        rmSync(folder, { recursive: true });
        resolve(
          ['stt', 'tts'].map(
            (kind) => stdout.split('\n').find((line) => line.includes(` wyoming-${kind}: `)) ?? stdout,
          ),
        );
      },
    ),
  );
}

test('an utterance is heard and a sentence spoken', () => withServer('', async (port) => {
  const [heard, spoken] = await examine(port);
  assert.match(heard, /^good.*heard "What are your opening hours\?"/);
  assert.match(spoken, /^good.*spoke 1\.[78] s of sound/);
}));

test('the stand-in of `make stand-ins` is heard and spoken by as well', async () => {
  const standIn = await startWyoming();
  try {
    const [heard, spoken] = await examine(standIn.port);
    assert.match(heard, /^good.*heard "What are your opening hours\?"/);
    assert.match(spoken, /^good.*spoke 1\.[78] s of sound/);
  } finally {
    await standIn.close();
  }
});

test('a slow answer is waited for', () => withServer('slow', async (port) => {
  for (const line of await examine(port))
    assert.ok(Number(/ after (\d+) ms| first after (\d+) ms/.exec(line)?.slice(1).find(Boolean)) >= 1500, line);
}));

test('a transcript that comes twice does no harm', () => withServer('twice', async (port) => {
  for (const line of await examine(port)) assert.match(line, /^good/);
}));

for (const [fault, sentence] of Object.entries({
  cut: /could not be reached/,
  garbage: /could not be understood/,
  silent: /did not answer in time/,
  stall: /did not answer in time/,
})) {
  test(`${fault} is told by its class`, () =>
    withServer(fault, async (port) => {
      for (const line of await examine(port)) {
        assert.match(line, /^fault/);
        assert.match(line, sentence);
      }
    }));
}

test('a port where nobody listens and a name that does not resolve are told', async () => {
  for (const line of [...await examine(9), ...await examine(9, 'no-such-server.invalid')])
    assert.match(line, /^fault.*could not be reached/);
});
