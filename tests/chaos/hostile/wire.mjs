/* Hostile peers below the API: bytes on sockets. The rows are as in api.mjs. */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

const target = (context) => ({ host: context.url.hostname, port: Number(context.url.port) });

/* A connection from one of loopback's many addresses; errors are what was wanted. */
function open(context, localAddress) {
  const socket = connect({ ...target(context), localAddress });
  socket.on('error', () => {});
  context.sockets.add(socket);
  socket.on('close', () => context.sockets.delete(socket));
  return socket;
}

export default [
  {
    name: 'slow bodies',
    aims: 'memory and disk held for a body',
    async round(context) {
      for (let n = 0; n < 30; n++) {
        const socket = open(context);
        socket.write(
          `POST /v1/agents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${n % 2 ? context.key : 'nonsense'}\r\n` +
          `Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`,
        );
        const drip = setInterval(() => socket.write(' '), 1000);
        socket.on('close', () => clearInterval(drip));
      }
      await context.sleep(5000);
      for (const socket of context.sockets) socket.destroy();
    },
  },

  {
    name: 'idle connections',
    aims: 'the connections of one address',
    async round(context) {
      for (let n = 0; n < 300; n++) open(context, '127.0.0.66');
      await context.sleep(4000);
      for (const socket of context.sockets) socket.destroy();
    },
  },

  {
    name: 'large bodies without a key',
    aims: 'the disk',
    async round(context) {
      for (let n = 0; n < 4; n++) {
        const socket = open(context);
        socket.write(
          'POST /v1/knowledge/documents?name=a.txt HTTP/1.1\r\nHost: x\r\nAuthorization: nonsense\r\n' +
          'Content-Type: application/octet-stream\r\nContent-Length: 26000000\r\n\r\n',
        );
        const piece = Buffer.alloc(1 << 20, 0x20);
        const pour = () => {
          while (!socket.destroyed && socket.bytesWritten < 26e6 && socket.write(piece));
        };
        socket.on('drain', pour);
        pour();
      }
      await context.sleep(2000);
      for (const socket of context.sockets) socket.destroy();
    },
  },

  {
    name: 'malformed requests',
    aims: 'the HTTP parser',
    async round(context) {
      const lines = [
        'GET / HTTP/9.9\r\n\r\n',
        'POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        '\x16\x03\x01\x02\x00',
        `GET /${'a'.repeat(20000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(2000)}\r\n`,
        'GET /v1/me HTTP/1.1\r\nHost: x\r\n',
      ];
      for (let n = 0; n < 60; n++) open(context).write(context.random.pick(lines));
      await context.sleep(1000);
      for (const socket of context.sockets) socket.destroy();
    },
  },

  {
    name: 'pipelines',
    aims: 'answers that nobody reads',
    async round(context) {
      for (let n = 0; n < 10; n++) {
        const socket = open(context);
        socket.pause();
        socket.write(`GET /v1/catalog HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${context.key}\r\n\r\n`.repeat(200));
      }
      await context.sleep(3000);
      for (const socket of context.sockets) socket.destroy();
    },
  },

  {
    name: 'joins with wrong tokens',
    aims: 'admission to rooms',
    async round(context) {
      for (let n = 0; n < 100; n++)
        open(context).write(
          `GET /${n % 2 ? 'rtc' : 'rtc/v1'}?access_token=${'e'.repeat(context.random.under(3000))}.x.y` +
            `&join_request=${'A'.repeat(context.random.under(2000))} HTTP/1.1\r\n` +
            'Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
            'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
        );
      await context.sleep(1000);
      for (const socket of context.sockets) socket.destroy();
    },
  },

  {
    name: 'packets of strangers',
    aims: 'the media loops',
    async round(context) {
      const socket = createSocket('udp4');
      socket.on('error', () => {});
      for (let burst = 0; burst < 20 && !context.isOver(); burst++) {
        for (let n = 0; n < 100; n++) {
          const packet = Buffer.alloc(context.random.under(1200) + 20);
          for (let at = 0; at < 20; at++) packet[at] = context.random.under(256);
          if (n % 2) {
            packet.writeUInt16BE(1, 0);
            packet.writeUInt16BE(packet.length - 20, 2);
            packet.writeUInt32BE(0x2112a442, 4);
          } // a STUN request
          for (const port of context.rtcPorts) socket.send(packet, port, '127.0.0.1');
        }
        await context.sleep(100);
      }
      socket.close();
    },
  },
];
