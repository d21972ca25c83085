/* A name server for tests that can change its answers: A questions are answered with answers[name] (a list of
 * addresses), AAAA and unknown names with none, 'fail' with SERVFAIL, 'silent' never. `asked` counts the questions
 * of each name. */
import { createSocket } from 'node:dgram';

export async function startNames() {
  const answers = {}, asked = {};
  const socket = createSocket('udp4');
  socket.on('message', (question, peer) => {
    const labels = [];
    let at = 12;
    for (; question[at]; at += question[at] + 1)
      labels.push(question.toString('latin1', at + 1, at + 1 + question[at]));
    const end = at + 5;
    const name = labels.join('.').toLowerCase();
    const wanted = answers[name];
    asked[name] = (asked[name] ?? 0) + 1;
    if (wanted === 'silent') return;
    const list = question.readUInt16BE(at + 1) === 1 && Array.isArray(wanted) ? wanted : [];
    const head = Buffer.from(question.subarray(0, end));
    head.writeUInt16BE(wanted === 'fail' ? 0x8182 : wanted ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(list.length, 6);
    head.fill(0, 8, 12);
    const records = list.map((ip) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...ip.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([head, ...records]), peer.port, peer.address);
  });
  await new Promise((done) => socket.bind(0, '127.0.0.1', done));
  return { answers, asked, address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}
