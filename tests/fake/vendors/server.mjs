/* All vendors' stand-ins behind one port, http and ws: `/<fault>/<vendor>/...` speaks that vendor's wire with that
 * fault, `ok` for none. startVendors() gives the base URLs; run as a program (`make stand-ins`) it prints settings
 * that switch every engine on. */
import { createServer } from 'node:http';
import { anthropic, openai } from './chat.mjs';
import { deepgram, openaiSockets, soniox } from './listen.mjs';
import { readForm, speechRoutes } from './speech.mjs';
import { cartesia, elevenlabs } from './utter.mjs';
import { refuse, WebSocketPeer } from './ws.mjs';
import { sleep } from './sound.mjs';
import { startWyoming } from './wyoming.mjs';

const vendors = {
  anthropic,
  cartesia,
  deepgram,
  elevenlabs,
  openai: { ...openai, routes: { ...openai.routes, ...speechRoutes }, sockets: openaiSockets },
  soniox,
};

/* What each fault does before the wire is spoken; those that are not here (cut, stall, twice, late) are the wire's
 * own. */
export const FAULTS = {
  ok: {}, cut: {}, stall: {}, twice: {}, late: {},
  nohead: {}, damaged: {}, truncated: {}, skips: {}, /* of Opus in Ogg */ raw: {}, /* Opus in none */
  slow: { delayMs: 1500 },
  silent: { isSilent: true },
  garbage: { garbage: '{"half": ' },
  refused: { status: 401 },
  rate: { status: 429, headers: { 'Retry-After': '1' } },
  ratedate: { status: 429, headers: () => ({ 'Retry-After': new Date(Date.now() + 1000).toUTCString() }) },
  down: { status: 503 },
};

function place(request) {
  const url = new URL(request.url, 'http://stand-in');
  const [, fault, vendor, ...rest] = url.pathname.split('/');
  url.pathname = `/${rest.join('/')}`;
  return { url, fault, rule: FAULTS[fault], vendor: vendors[vendor] };
}

/* A refusal quotes the key, as real servers have been seen to do. */
function refusalOf(here, request) {
  const key = here.vendor.key(request, here.url);
  if (!key) return [401, 'no key was given'];
  if (here.rule.status)
    return [here.rule.status, here.rule.status === 401 ? `Incorrect key provided: ${key}` : 'try again later'];
  return null;
}

const headersOf = (rule) => (typeof rule.headers === 'function' ? rule.headers() : rule.headers ?? {});

async function readBody(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

async function answer(request, response, seen) {
  const here = place(request);
  const route = here.rule && here.vendor?.routes?.[`${request.method} ${here.url.pathname}`];
  if (request.method === 'HEAD') { /* a client that opens its connection before it needs it */
    seen.push({ path: here.url.pathname, isAhead: true });
    return response.writeHead(404).end();
  }
  const bytes = await readBody(request);
  const turnDown = (status, message, headers = {}) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(here.vendor?.error(status, message) ?? { error: message }));
  };
  if (!route) return turnDown(404, `no ${request.method} ${request.url}`);
  const isForm = request.headers['content-type']?.startsWith('multipart/');
  const context = {
    request,
    response,
    url: here.url,
    fault: here.fault,
    refuse: turnDown,
    body: isForm ? null : JSON.parse(bytes.toString('utf8')),
    form: isForm ? readForm(bytes, request.headers['content-type']) : null,
  };
  seen.push({ path: here.url.pathname, headers: request.headers, body: context.body, form: context.form });
  const refusal = refusalOf(here, request);
  if (refusal) return turnDown(...refusal, headersOf(here.rule));
  if (here.rule.isSilent) return undefined;
  if (here.rule.garbage) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    return response.end(`data: ${here.rule.garbage}\n\n`);
  }
  await sleep(here.rule.delayMs ?? 0);
  return route(context);
}

async function upgrade(request, socket, seen) {
  const here = place(request);
  const open =
    here.vendor?.sockets?.[here.url.pathname] ??
    (here.vendor?.matches?.test(here.url.pathname) ? here.vendor.sockets.match : null);
  const turnDown = (status, message) =>
    refuse(socket, status, JSON.stringify(here.vendor?.error(status, message) ?? {}), headersOf(here.rule ?? {}));
  socket.on('error', () => {});
  if (!open || !here.rule) return turnDown(404, `no ${request.url}`);
  const refusal =
    refusalOf(here, request) ??
    (here.vendor.check?.(here.url, request) ? [400, here.vendor.check(here.url, request)] : null);
  if (refusal) return turnDown(...refusal);
  await sleep(here.rule.delayMs ?? 0);
  const peer = new WebSocketPeer(request, socket), messages = [];
  seen.push({ path: here.url.pathname, query: here.url.searchParams, headers: request.headers, messages });
  peer.on('message', (data, isText) => {
    if (isText && data.length) messages.push(JSON.parse(data.toString('utf8')));
  });
  if (here.rule.isSilent) { peer.isDeaf = true; return undefined; }
  if (here.rule.garbage) return peer.send(here.rule.garbage);
  return open(peer, { url: here.url, fault: here.fault, request });
}

/* seen: every request and connection, for tests. url(fault, vendor): a base URL. */
export async function startVendors(port = 0) {
  const seen = [], sockets = new Set();
  const server = createServer((request, response) => {
    answer(request, response, seen).catch((error) => response.destroy(error));
  });
  server.on('upgrade', (request, socket) => { upgrade(request, socket, seen).catch(() => socket.destroy()); });
  server.on('connection', (socket) => { sockets.add(socket); socket.on('close', () => sockets.delete(socket)); });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const origin = `127.0.0.1:${server.address().port}`;
  return {
    seen,
    port: server.address().port,
    url: (fault, vendor) => `http://${origin}/${fault}/${vendor}`,
    socketUrl: (fault, vendor) => `ws://${origin}/${fault}/${vendor}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/* Which vendor's wire each engine speaks, and the path of its base URL. */
export const ENGINES = {
  soniox: ['soniox', ''],
  deepgram: ['deepgram', ''],
  'deepgram-flux': ['deepgram', ''],
  'openai-live': ['openai', '/v1'],
  'openai-stt': ['openai', '/v1'],
  cartesia: ['cartesia', ''],
  elevenlabs: ['elevenlabs', ''],
  'openai-tts': ['openai', '/v1'],
  openai: ['openai', '/v1'],
  'openai-embeddings': ['openai', '/v1'],
  anthropic: ['anthropic', '/v1'],
};

export const settingsOf = (standIns, engine, fault = 'ok', key = 'stand-in-key') => {
  const [vendor, path] = ENGINES[engine];
  return { url: standIns.url(fault, vendor) + path, key };
};

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const standIns = await startVendors(Number(process.argv[2] ?? 0));
  for (const engine of Object.keys(ENGINES)) {
    const { url, key } = settingsOf(standIns, engine);
    console.log(`[engine.${engine}]\nurl = ${url}\nkey = ${key}\n`);
  }
  const wyoming = await startWyoming();
  for (const kind of ['stt', 'tts']) console.log(`[engine.wyoming-${kind}]\nurl = tcp://127.0.0.1:${wyoming.port}\n`);
  console.log(`# Faults: another first part of the path, one of ${Object.keys(FAULTS).join(', ')}`);
}
