/* The vendors' client libraries of requirements.txt, in a virtual environment of their own under build/. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

const venv = new URL('../../build/vendor-clients/', import.meta.url).pathname;
const list = new URL('requirements.txt', import.meta.url).pathname;
const run = promisify(execFile);

export const python = `${venv}bin/python`;

/* Once for each list of versions. */
export async function installClients() {
  const wanted = readFileSync(list, 'utf8'), mark = `${venv}installed`;
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return;
  await run('python3', ['-m', 'venv', venv]);
  await run(`${venv}bin/pip`, ['install', '--quiet', '--disable-pip-version-check', '-r', list], { timeout: 600000 });
  writeFileSync(mark, wanted);
}
