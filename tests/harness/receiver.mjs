/* A webhook receiver for tests: keeps every delivery it gets and answers as the path says.
 * /ok 204, /fail 500, /flaky 500 to the first two of each event and then 200, /slow never. */
import { createServer } from 'node:http';
import { createHmac } from 'node:crypto';

export function sign(secret, timestamp, body) {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

export async function startReceiver() {
  const deliveries = []; // { path, id, type, timestamp, signature, body (text), at }
  const tries = new Map();
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const id = request.headers['x-service-delivery'];
      deliveries.push({
        path: request.url,
        id,
        type: request.headers['x-service-event'],
        at: Date.now(),
        body,
        timestamp: request.headers['x-service-timestamp'],
        signature: request.headers['x-service-signature'],
        headers: request.headers,
      });
      const key = `${request.url} ${id}`;
      tries.set(key, (tries.get(key) ?? 0) + 1);
      if (request.url.startsWith('/slow')) return;
      const fails = request.url.startsWith('/fail') || (request.url.startsWith('/flaky') && tries.get(key) <= 2);
      response.writeHead(fails ? 500 : 204).end();
    });
    request.on('error', () => {});
  });
  server.keepAliveTimeout = 60000;
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    deliveries,
    url: (path) => `http://127.0.0.1:${server.address().port}${path}`,
    of: (path) => deliveries.filter((delivery) => delivery.path === path),
    close: () => { server.closeAllConnections(); server.close(); },
  };
}
