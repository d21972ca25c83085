/* The vendors' own client libraries (PyPI) against the stand-ins; clients.py says what each does. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { startVendors } from '../fake/vendors/server.mjs';

const here = new URL('.', import.meta.url).pathname, venv = new URL('../../build/vendor-clients/', import.meta.url).pathname;
const run = promisify(execFile);
const listed = readFileSync(`${here}requirements.txt`, 'utf8'), mark = `${venv}installed`;

/* Once for each list of versions. */
async function install() {
  if (existsSync(mark) && readFileSync(mark, 'utf8') === listed) return;
  await run('python3', ['-m', 'venv', venv]);
  await run(`${venv}bin/pip`, ['install', '--quiet', '--disable-pip-version-check', '-r', `${here}requirements.txt`], { timeout: 600000 });
  writeFileSync(mark, listed);
}

let vendors;
before(async () => { await install(); vendors = await startVendors(); });
after(() => vendors?.close());

const exchanges = readFileSync(`${here}clients.py`, 'utf8').match(/^EXCHANGES = \[([^\]]*)\]/m)[1].split(/[\s,]+/).filter(Boolean);
for (const exchange of exchanges) {
  test(`${exchange} as its vendor's library expects`, async () => {
    const { stdout } = await run(`${venv}bin/python`, [`${here}clients.py`, exchange, `127.0.0.1:${vendors.port}/ok`], { timeout: 60000 });
    assert.match(stdout, /as its library expects/);
  });
}
