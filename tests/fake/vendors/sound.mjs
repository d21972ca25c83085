/* What the stand-ins say and hear. */
export const HEARD = 'What are your opening hours?';
export const ANSWER = 'We are open from nine to five every day.';

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/* A hum of 16 characters a second, as 16-bit samples. */
export function hum(text, rate) {
  const samples = Buffer.alloc(2 * Math.max(1, Math.round((text.trim().length / 16) * rate)));
  for (let i = 0; i < samples.length / 2; i++)
    samples.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 220 * i) / rate)), 2 * i);
  return samples;
}

/* The head of a WAV file whose size is not known yet, as servers that stream send it. */
export function wavHead(rate) {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0); head.writeUInt32LE(0xffffffff, 4); head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24); head.writeUInt32LE(2 * rate, 28); head.writeUInt16LE(2, 32); head.writeUInt16LE(16, 34);
  head.write('data', 36); head.writeUInt32LE(0xffffffff, 40);
  return head;
}

export function pieces(bytes, size) {
  const list = [];
  for (let at = 0; at < bytes.length; at += size) list.push(bytes.subarray(at, at + size));
  return list;
}

/* Is there any voice in these 16-bit samples? */
export function isLoud(samples) {
  for (let at = 0; at + 1 < samples.length; at += 2) if (Math.abs(samples.readInt16LE(at)) > 300) return true;
  return false;
}
