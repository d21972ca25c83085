/* What stands outside the service and is well behaved as long as it is not told otherwise: a name server, a chat
 * server for the `openai` engine, an endpoint of tools, a receiver of events. All on loopback, ports of the
 * system's choice. */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';

function listen(server) {
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
}

const body = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
};

/* Answers every name with 127.0.0.1 (AAAA: none); names under hang.test never, under none.test NXDOMAIN. */
export async function startNames() {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end, type } = question(query);
    if (name.endsWith('hang.test')) return;
    const isNone = name.endsWith('none.test');
    const hasAddress = type === 1 && !isNone;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(isNone ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(hasAddress ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const answer = hasAddress ? [Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1])] : [];
    socket.send(Buffer.concat([head, query.subarray(12, end), ...answer]), from.port, from.address);
  });
  socket.on('error', () => {});
  await new Promise((bound) => socket.bind(0, '127.0.0.1', bound));
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

function question(query) {
  const labels = [];
  let at = 12;
  for (; query[at]; at += query[at] + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]));
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/* The words of a reply carry the mark of the instructions that asked for it, so that a reply that went to the wrong
 * call is seen. */
const MARK = /MARK-[a-z0-9]+/;
const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const toolCall = (name) =>
  chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{}' } }] });

/* What a model does, by its name. */
const models = {
  good(response, { mark }) {
    stream(
      response,
      [
        chunk({ content: `${mark} says: ` }),
        chunk({ content: 'we are open from nine to five every day.' }),
        chunk({}, 'stop'),
      ],
      5,
    );
  },
  looping(response, { tools }) {
    const name = tools[0]?.function?.name ?? 'none';
    stream(response, [toolCall(name), chunk({}, 'tool_calls')], 1);
  },
  refusing(response) {
    refuse(response, 400, {
      error: {
        message: "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64.",
        type: 'invalid_request_error',
        param: 'tools[0].function.name',
        code: 'string_above_max_length',
      },
    });
  },
  empty(response) {
    refuse(response, 400, { error: {} });
  },
  failing(response) {
    refuse(response, 500, { error: { message: 'overloaded' } });
  },
  limited(response) {
    refuse(response, 429, { error: { message: 'slow down' } });
  },
  mute() {},
  cut(response) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(chunk({ content: 'We are open from ' }));
    setTimeout(() => response.destroy(), 20);
  },
  slow(response, { mark }) {
    stream(
      response,
      [...`${mark} is slow to tell.`].map((letter) => chunk({ content: letter })).concat(chunk({}, 'stop')),
      150,
    );
  },
  late(response, { mark }) {
    // headers come when a caller has long begun to talk again
    setTimeout(
      () => stream(response, [chunk({ content: `${mark} is late.` }), chunk({}, 'stop')], 1),
      300 + 700 * Math.random(),
    );
  },
  garbage(response) {
    stream(
      response,
      [
        'data: {"choices":[{"delta":{"content":"',
        '\u0000\u0001',
        '"}}]}\n\ndata: nonsense\n\n',
        `data: ${'x'.repeat(200000)}\n\n`,
      ],
      5,
    );
  },
  flood(response) {
    stream(response, Array(300).fill(chunk({ content: 'word and word and word and word and word and word. ' })), 0);
  },
};
export const modelNames = Object.keys(models);

function stream(response, pieces, everyMs) {
  if (response.destroyed) return;
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const next = (at) => {
    if (response.destroyed) return;
    if (at === pieces.length) {
      response.end('data: [DONE]\n\n');
      return;
    }
    response.write(pieces[at]);
    setTimeout(next, everyMs, at + 1);
  };
  next(0);
}

function refuse(response, status, answer) {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
}

export async function startModel() {
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    try {
      const asked = JSON.parse(await body(request));
      const mark = JSON.stringify(asked.messages).match(MARK)?.[0] ?? 'nobody';
      (models[asked.model] ?? models.good)(response, { mark, tools: asked.tools ?? [] });
    } catch {
      response.destroy();
    }
  });
  server.keepAliveTimeout = 60000;
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/* GET /tool/<mark>: answers that mark and what it was asked with, after ?ms= milliseconds. */
export async function startTools() {
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const url = new URL(request.url, 'http://x');
    const sent = await body(request).catch(() => '');
    const answer = { mark: url.pathname.split('/').pop(), secret: request.headers.authorization ?? null, sent };
    setTimeout(
      () => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer)),
      Number(url.searchParams.get('ms') ?? 0),
    );
  });
  server.keepAliveTimeout = 60000;
  const port = await listen(server);
  return {
    port,
    url: (mark, host = '127.0.0.1') => `http://${host}:${port}/tool/${mark}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/* POST /<tenant>: on_event(tenant, delivery). */
export async function startReceiver(onEvent) {
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const text = await body(request).catch(() => null);
    if (text === null) return;
    onEvent(request.url.slice(1), {
      at: Date.now(),
      id: request.headers['x-service-delivery'],
      signature: request.headers['x-service-signature'],
      timestamp: request.headers['x-service-timestamp'],
      text,
    });
    response.writeHead(204).end();
  });
  server.keepAliveTimeout = 60000;
  const port = await listen(server);
  return {
    url: (tenant) => `http://127.0.0.1:${port}/${tenant}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
