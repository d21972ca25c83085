/* The hostile tenants, in a process of their own at low priority, so that what they burn here does not slow what
 * the test measures. tests/chaos/stage.mjs forks it. In: { setup }, { wave: [names], seed }, { calm }; out: { ready
 * }, { calmed }, { report: { invariant, text } }.
 *
 * The context of a behaviour: its tenant's key, api(method, path, body, headers) and as(key); url; random; far
 * (tool: a URL that answers, mute: one that never does); rtcPorts; sockets (destroyed when the wave ends); state
 * (kept between its rounds and waves); callers([[agent, manner] ...]); sleep(ms) and isOver() (both end with the
 * wave); report(invariant, text). */
import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { createServer } from 'node:net';
import api from './hostile/api.mjs';
import calls from './hostile/calls.mjs';
import wire from './hostile/wire.mjs';
import { randomFrom } from './random.mjs';
import { client } from '../harness/service.mjs';

export const behaviours = [...api, ...wire, ...calls];

let setup = null,
  wave = null;
const states = new Map();

/* Takes connections and requests and says nothing. */
async function startMute() {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
}

function contextOf(behaviour, at) {
  const tenant = setup.tenants[at % setup.tenants.length];
  const { name } = behaviour;
  const own = wave;
  const as =
    (key) =>
    async (...args) => {
      try {
        return await client({ url: setup.url }, key)(
          ...args.slice(0, 3),
          args[3] ?? {},
          AbortSignal.any([own.abort.signal, AbortSignal.timeout(30000)]),
        );
      } catch {
        return { status: 0, body: null, text: '' };
      }
    };
  return {
    key: tenant.key,
    as,
    api: as(tenant.key),
    url: new URL(setup.url),
    far: { tool: setup.tool, mute: setup.mute },
    rtcPorts: setup.rtcPorts,
    random: randomFrom(own.seed + at * 7919),
    sockets: new Set(),
    state: states.get(name) ?? states.set(name, {}).get(name),
    isOver: () => own.abort.signal.aborted,
    sleep: (ms) =>
      new Promise((next) => {
        const timer = setTimeout(next, ms);
        own.abort.signal.addEventListener('abort', () => {
          clearTimeout(timer);
          next();
        });
      }),
    callers: (list) => callers(own, tenant.key, list),
    report: (invariant, text) => process.send({ report: { invariant, text: `${name}: ${text}` } }),
  };
}

/* Resolves when the wave is over and they have hung up. */
async function callers(own, key, list) {
  const child = spawn(setup.callers, ['--url', setup.url, '--wav', setup.wav, '--seed', String(own.seed)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => {});
  for (const [agent, manner] of list) child.stdin.write(`call ${key} ${agent} ${manner}\n`);
  const ended = new Promise((done) => child.once('exit', done));
  await new Promise((over) => {
    if (own.abort.signal.aborted) over();
    own.abort.signal.addEventListener('abort', over);
    ended.then(over);
  });
  child.stdin.end();
  const kill = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(kill);
}

async function act(behaviour, at) {
  const context = contextOf(behaviour, at);
  while (!context.isOver()) {
    try {
      await behaviour.round(context);
    } catch (error) {
      console.error(`hostile: ${behaviour.name}: ${error.stack}`);
    }
    await context.sleep(50);
  }
  for (const socket of context.sockets) socket.destroy();
}

async function beginWave({ wave: names, seed }) {
  wave = { abort: new AbortController(), seed };
  setMaxListeners(0, wave.abort.signal);
  wave.done = Promise.all(
    behaviours.map((behaviour, at) => (names.includes(behaviour.name) ? act(behaviour, at) : null)),
  );
}

async function calm() {
  wave?.abort.abort();
  await wave?.done;
  wave = null;
  process.send({ calmed: true });
}

if (process.send) {
  process.on('unhandledRejection', (error) => console.error(`hostile: ${error?.stack}`));
  process.on('message', async (message) => {
    if (message.setup) {
      setup = { ...message.setup, mute: await startMute() };
      process.send({ ready: true });
    }
    if (message.url) setup.url = message.url;
    if (message.wave) beginWave(message);
    if (message.calm) calm();
  });
  process.on('disconnect', () => process.exit(0));
}
