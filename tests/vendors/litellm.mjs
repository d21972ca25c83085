/* A chat server that is not ours: LiteLLM's proxy (PyPI) with mock answers, asked on both wires as `earshot doctor`
 * asks. By hand: `node --test tests/vendors/litellm.mjs`; what it installs takes 740 MB under build/litellm. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { binary, until } from '../harness/service.mjs';

const run = promisify(execFile);
const folder = new URL('../../build/litellm/', import.meta.url).pathname, bin = `${folder}venv/bin`;
const KEY = 'sk-litellm-0123456789', ANSWER = 'We are open from nine to five every day.';
const model = (name, of) => ({ model_name: name, litellm_params: { model: of, api_key: 'x', mock_response: ANSWER } });

async function install() {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(`${bin}/python`)) await run('python3', ['-m', 'venv', `${folder}venv`]);
  if (!existsSync(`${bin}/litellm`))
    await run(`${bin}/pip`, ['install', '--quiet', 'litellm[proxy]==1.106.2'], { timeout: 900000 });
  writeFileSync(`${folder}config.json`, JSON.stringify({ // JSON is YAML
    model_list: [model('gpt', 'openai/mock'), model('claude', 'anthropic/mock')],
    litellm_settings: { telemetry: false },
    general_settings: { master_key: KEY },
  }));
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let proxy, url;
before(async () => {
  await install();
  const port = await freePort();
  const options = ['--config', `${folder}config.json`, '--host', '127.0.0.1', '--port', String(port)];
  proxy = spawn(`${bin}/litellm`, options, { stdio: 'ignore' });
  url = `http://127.0.0.1:${port}`;
  await until(() => fetch(`${url}/health/liveliness`).then((answer) => answer.ok, () => false),
    { what: 'the proxy', timeoutMs: 120000 });
});
after(() => proxy?.kill());

async function examine(engine, name, key) {
  const sets = Object.entries({ url: `${url}/v1`, key, model: name })
    .flatMap(([setting, value]) => ['--set', `engine.${engine}.${setting}=${value}`]);
  const env = { PATH: process.env.PATH, EARSHOT_DATA: folder };
  const { stdout } = await run(binary, ['doctor', ...sets, '--set', 'engine.pocketsphinx.enabled=false'], { env })
    .catch((error) => error);
  return stdout.split('\n').find((line) => line.includes(` ${engine}: `));
}

for (const [engine, name] of [['openai', 'gpt'], ['anthropic', 'claude']]) {
  test(`LiteLLM answers ${engine}`, async () => {
    assert.match(await examine(engine, name, KEY), /^good.*answered "We are open from nine to five every day\."/);
  });
  test(`LiteLLM refuses ${engine} a wrong key, and a model that it has not`, async () => {
    assert.match(await examine(engine, name, 'sk-wrong-0123456789'), /^fault.*refused/);
    assert.match(await examine(engine, 'none', KEY), /^fault/);
  });
}
