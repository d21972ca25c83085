/* Debian's Firefox, headless, by WebDriver BiDi: enough to open a page, click, and ask it things. Its microphone is
 * a tone. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './service.mjs';

const PATH = '/usr/bin/firefox-esr';
export const hasFirefox = () => existsSync(PATH);

const PREFERENCES = {
  'media.navigator.streams.fake': true,
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

/* answers { goto(url), evaluate(expression), click(element), type(element, text), close() }; elements are
 * expressions. */
export async function openFirefox() {
  const profile = mkdtempSync(join(tmpdir(), 'earshot-firefox-'));
  writeFileSync(
    join(profile, 'user.js'),
    Object.entries(PREFERENCES)
      .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
      .join(''),
  );
  const child = spawn(
    PATH,
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
    { env: { ...process.env, HOME: profile }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => { output += part; });
  const [, address] = await until(() => output.match(/WebDriver BiDi listening on (ws:\S+)/), {
    what: 'Firefox to listen',
  });
  const socket = await connect(`${address}/session`);
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
  return {
    goto: (url) => ask('browsingContext.navigate', { context, url, wait: 'complete' }),
    async evaluate(expression) {
      const answer = await ask('script.evaluate', {
        expression: `(async () => JSON.stringify(await (${expression})))()`,
        target: { context },
        awaitPromise: true,
      });
      if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text);
      return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
    },
    /* A person's click in the middle of what the expression finds. */
    async click(element) {
      await this.evaluate(`${element}.scrollIntoView({ block: 'center', behavior: 'instant' })`);
      const { x, y } = await this.evaluate(
        `(() => { const box = ${element}.getBoundingClientRect(); ` +
          'return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) }; })()',
      );
      await ask('input.performActions', {
        context,
        actions: [
          {
            type: 'pointer',
            id: 'mouse',
            actions: [
              { type: 'pointerMove', x, y },
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
    async close() {
      await ask('browser.close').catch(() => {});
      await until(() => child.exitCode !== null || child.signalCode !== null, { what: 'the end of Firefox' });
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
