/* Ogg files of Opus (RFC 3533, RFC 7845) as voices stream them. The packets are those of hum.opus, which
 * tests/fake/hum.c has written; no packet is like another. */
import { readFileSync } from 'node:fs';

const FIRST = 2, LAST = 4, A_PAGE = 10;

function readPackets(file) {
  const packets = [];
  for (let at = 0; at < file.length;) {
    const count = file[at + 26];
    let body = at + 27 + count;
    for (let i = 0; i < count; body += file[at + 27 + i++]) packets.push(file.subarray(body, body + file[at + 27 + i]));
    at = body;
  }
  return packets.slice(2);
}

const hums = readPackets(readFileSync(new URL('hum.opus', import.meta.url)));

const table = Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let i = 0; i < 8; i++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  return sum;
});

/* Packets of less than 255 bytes. */
function page(flags, number, granule, packets) {
  const head = Buffer.alloc(27);
  head.write('OggS\0');
  head[5] = flags;
  head.writeBigUInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(77, 14);
  head.writeUInt32LE(number, 18);
  head[26] = packets.length;
  const bytes = Buffer.concat([head, Buffer.from(packets.map((packet) => packet.length)), ...packets]);
  let sum = 0;
  for (const byte of bytes) sum = (sum << 8) ^ table[(sum >>> 24) ^ byte];
  bytes.writeUInt32LE(sum >>> 0, 22);
  return bytes;
}

function opening(skip) {
  const head = Buffer.alloc(19), tags = Buffer.alloc(16);
  head.write('OpusHead\x01\x01');
  head.writeUInt16LE(skip, 10);
  head.writeUInt32LE(24000, 12);
  tags.write('OpusTags');
  return [page(FIRST, 0, 0, [head]), page(0, 1, 0, [tags])];
}

/* A hum of 16 characters a second, packet by packet of 20 ms. */
export const opusHum = (text) =>
  Array.from({ length: Math.max(1, Math.ceil((text.trim().length / 16) * 50)) }, (_, i) => hums[i % hums.length]);

/* The same, as the pages of one file. Faults: nohead, damaged, truncated; and what cannot go to
 * a caller as it is: skips (80 ms at the beginning are not to be heard). */
export function oggHum(text, fault) {
  const packets = opusHum(text), count = packets.length, pages = opening(fault === 'skips' ? 3840 : 312);
  for (let at = 0; at < count; at += A_PAGE)
    pages.push(page(at + A_PAGE >= count ? LAST : 0, pages.length, Math.min(count, at + A_PAGE) * 960,
      packets.slice(at, at + A_PAGE)));
  if (fault === 'nohead') pages.splice(0, 2);
  if (fault === 'damaged') pages.at(-1)[40] ^= 1;
  if (fault === 'truncated') pages[pages.length - 1] = pages.at(-1).subarray(0, -5);
  return pages;
}
