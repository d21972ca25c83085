/* Debian's Firefox, headless, by WebDriver BiDi: enough to open a page, click, type, choose a file, and ask it things.
 * Its microphone is a tone, or says what is in a WAV file (harness/microphone.mjs). */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adopt } from './faults.mjs';
import { openMicrophone } from './microphone.mjs';
import { until } from './service.mjs';

const PATH = '/usr/bin/firefox-esr';
export const hasFirefox = () => existsSync(PATH);
const isGone = (child) => child.exitCode !== null || child.signalCode !== null;

const PREFERENCES = {
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'media.peerconnection.ice.obfuscate_host_addresses': false,
  'media.peerconnection.ice.loopback': true,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'app.update.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'extensions.update.enabled': false,
  'services.settings.server': 'http://127.0.0.1:9/',
  'remote.active-protocols': 1,
};

/* A WebSocket's frames: text out (masked, as a client must), whole texts in. */
function frameOf(text) {
  const data = Buffer.from(text), mask = randomBytes(4);
  const head =
    data.length < 126
      ? Buffer.from([0x81, 0x80 | data.length])
      : Buffer.from([0x81, 0xfe, data.length >> 8, data.length & 255]);
  if (data.length > 65535) throw new Error('too long');
  return Buffer.concat([head, mask, data.map((byte, i) => byte ^ mask[i & 3])]);
}

function readFrames(socket, onText) {
  let rest = Buffer.alloc(0), text = '';
  socket.on('data', (part) => {
    rest = Buffer.concat([rest, part]);
    while (rest.length >= 2) {
      const short = rest[1] & 127, from = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (rest.length < from) return;
      const length = short < 126 ? short : short === 126 ? rest.readUInt16BE(2) : Number(rest.readBigUInt64BE(2));
      if (rest.length < from + length) return;
      if ((rest[0] & 15) <= 1) text += rest.subarray(from, from + length);
      if (rest[0] & 0x80 && (rest[0] & 15) <= 1) { onText(text); text = ''; }
      rest = rest.subarray(from + length);
    }
  });
}

const connect = (url) => new Promise((done, failed) => {
  request(url.replace('ws:', 'http:'), {
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    },
  })
    .on('upgrade', (response, socket) => done(socket))
    .on('response', (response) => failed(new Error(`no upgrade: ${response.statusCode}`)))
    .on('error', failed)
    .end();
});

/* voice: the WAV file that its microphone says again and again. Answers { goto(url), evaluate(expression),
 * click(element), type(element, text), choose(element, path), close() }; elements are expressions. */
export async function openFirefox({ voice } = {}) {
  const microphone = voice ? await openMicrophone(voice) : null;
  const profile = mkdtempSync(join(tmpdir(), 'earshot-firefox-'));
  writeFileSync(
    join(profile, 'user.js'),
    Object.entries({ ...PREFERENCES, 'media.navigator.streams.fake': !voice })
      .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
      .join(''),
  );
  const child = spawn(
    PATH,
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
    { env: { ...process.env, HOME: profile, ...microphone?.env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  adopt(child);
  const end = async () => {
    await until(() => isGone(child), { what: 'the end of Firefox' });
    await microphone?.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => { output += part; });
  const listening = () => output.match(/WebDriver BiDi listening on (ws:\S+)/)?.[1];
  await until(() => listening() || isGone(child), { what: 'Firefox to listen' });
  if (!listening()) {
    await end();
    throw new Error(`Firefox ended: ${output}`);
  }
  const socket = await connect(`${listening()}/session`);
  const waiting = new Map();
  readFrames(socket, (text) => {
    const { id, type, result, message } = JSON.parse(text);
    const one = waiting.get(id);
    waiting.delete(id);
    if (type === 'error') one?.failed(new Error(message));
    else one?.done(result);
  });
  let last = 0;
  const ask = (method, params = {}) =>
    new Promise((done, failed) => {
      waiting.set(++last, { done, failed });
      socket.write(frameOf(JSON.stringify({ id: last, method, params })));
    });
  await ask('session.new', { capabilities: {} });
  const { contexts: [{ context }] } = await ask('browsingContext.getTree');
  /* What an expression is, as the browser tells of it. */
  const resultOf = async (expression) => {
    const answer = await ask('script.evaluate', { expression, target: { context }, awaitPromise: true });
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
    return answer.result;
  };
  const nodeOf = async (element) => {
    const { sharedId } = await resultOf(element);
    if (!sharedId) throw new Error(`there is no ${element}`);
    return { sharedId };
  };
  return {
    goto: (url) => ask('browsingContext.navigate', { context, url, wait: 'complete' }),
    async evaluate(expression) {
      const { value } = await resultOf(`(async () => JSON.stringify(await (${expression})))()`);
      return value === undefined ? undefined : JSON.parse(value);
    },
    /* A person's click in the middle of what the expression finds, wherever it has moved to. */
    async click(element) {
      const origin = { type: 'element', element: await nodeOf(element) };
      await this.evaluate(`${element}.scrollIntoView({ block: 'center', behavior: 'instant' })`);
      await ask('input.performActions', {
        context,
        actions: [
          {
            type: 'pointer',
            id: 'mouse',
            actions: [
              { type: 'pointerMove', x: 0, y: 0, origin },
              { type: 'pointerDown', button: 0 },
              { type: 'pointerUp', button: 0 },
            ],
          },
        ],
      });
    },
    /* As a person does: clicks into it, marks what stands there, and types. */
    async type(element, text) {
      await this.click(element);
      await this.evaluate(`${element}.select()`);
      const actions = [...text].flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]);
      await ask('input.performActions', { context, actions: [{ type: 'key', id: 'keyboard', actions }] });
    },
    choose: async (element, path) => ask('input.setFiles', { context, element: await nodeOf(element), files: [path] }),
    async close() {
      await ask('browser.close').catch(() => {});
      await end();
    },
  };
}
