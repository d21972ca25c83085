/* Programs that we did not write read the OpenAPI document: Redocly's linter, and schemathesis, which sends what the
 * document allows and what it forbids to the live service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startApi } from '../api/contract.mjs';
import { root } from '../harness/service.mjs';

const run = promisify(execFile);
const here = join(root, 'tests/openapi');
const venv = join(root, '.venv/schemathesis');
const REDOCLY = '@redocly/cli@1.34.5';
const SCHEMATHESIS = 'schemathesis==4.32.5';

let t, dir;
before(async () => {
  t = await startApi({ env: { EARSHOT_DOCUMENTS_PER_HOUR: '0' } });
  dir = mkdtempSync(join(tmpdir(), 'earshot-openapi-'));
});
after(async () => { await t.close(); rmSync(dir, { recursive: true, force: true }); });

/* The program's own report is the message of a failure. */
async function passes(command, args, options = {}) {
  try {
    await run(command, args, { cwd: dir, maxBuffer: 1 << 26, ...options });
  } catch (error) {
    assert.fail(`${command} ${args[0]}: ${error.message}\n${error.stdout}\n${error.stderr}`.slice(-8000));
  }
}

test("Redocly's linter has nothing to say", async () => {
  writeFileSync(join(dir, 'openapi.json'), JSON.stringify(t.contract.document));
  await passes('npx', ['--yes', REDOCLY, 'lint', 'openapi.json']);
});

test('schemathesis finds no fault in the live service', { timeout: 900000 }, async () => {
  if (!existsSync(join(venv, 'bin/schemathesis'))) {
    await run('python3', ['-m', 'venv', venv]);
    await run(join(venv, 'bin/pip'), ['install', '--quiet', SCHEMATHESIS], { maxBuffer: 1 << 26 });
  }
  const workspace = await t.newWorkspace({ balance: 1000, calls: 1000 });
  await passes(
    join(venv, 'bin/schemathesis'),
    [
      '--config-file',
      join(here, 'schemathesis.toml'),
      'run',
      `${t.service.url}/v1/openapi.json`,
      '--header',
      `Authorization: Bearer ${workspace.key}`,
      '--exclude-path',
      '/v1/embed/calls',
      '--no-color',
    ],
    { env: { ...process.env, SCHEMATHESIS_HOOKS: 'hooks', PYTHONPATH: here } },
  );
});
