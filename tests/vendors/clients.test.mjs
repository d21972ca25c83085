/* The vendors' own client libraries (PyPI) against the stand-ins; clients.py says what each does. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { startVendors } from '../fake/vendors/server.mjs';
import { startWyoming } from '../fake/vendors/wyoming.mjs';
import { installClients, python } from './install.mjs';

const run = promisify(execFile), program = new URL('clients.py', import.meta.url).pathname;

let vendors, wyoming;
before(async () => {
  await installClients();
  [vendors, wyoming] = [await startVendors(), await startWyoming()];
});
after(async () => { await vendors?.close(); await wyoming?.close(); });

const exchanges = readFileSync(program, 'utf8').match(/^EXCHANGES = \[([^\]]*)\]/m)[1].split(/[\s,]+/).filter(Boolean);
for (const exchange of exchanges) {
  test(`${exchange} as its vendor's library expects`, async () => {
    const base = `127.0.0.1:${vendors.port}/ok`;
    const { stdout } = await run(python, [program, exchange, base, String(wyoming.port)], { timeout: 240000 });
    assert.match(stdout, /as its library expects/);
  });
}
