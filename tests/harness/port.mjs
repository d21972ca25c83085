/* A port for a server that a test stops and starts again: no other socket may get it meanwhile. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/* Below the ports that the system gives to sockets that ask for any: none of those takes it by chance. */
const FIRST = 10000, END = 32768;

function isFree(port) {
  return new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(false));
    server.listen(port, '127.0.0.1', () => server.close(() => answer(true)));
  });
}

export async function freePort() {
  for (;;) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
}
