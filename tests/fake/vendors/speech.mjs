/* Stand-ins of the speech wires over HTTP, OpenAI's /audio/speech and /audio/transcriptions. */
import { oggHum } from './ogg.mjs';
import { HEARD, hum, isLoud, pieces, sleep, wavHead } from './sound.mjs';

const FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];

async function speak({ body, response, fault, refuse }) {
  if (!body.model || !body.input || !body.voice) return refuse(400, "'model', 'input' and 'voice' are required");
  if (body.input.length > 4096) return refuse(400, 'input is longer than 4096 characters');
  if (body.speed !== undefined && !(body.speed >= 0.25 && body.speed <= 4))
    return refuse(400, "'speed' is out of range");
  const format = body.response_format ?? 'mp3';
  if (!FORMATS.includes(format)) return refuse(400, "'response_format' is invalid");
  response.writeHead(200, { 'Content-Type': format === 'pcm' ? 'audio/pcm' : `audio/${format}` });
  if (format === 'wav') response.write(wavHead(24000));
  const parts =
    format === 'opus' ? pieces(Buffer.concat(oggHum(body.input, fault)), 901) : pieces(hum(body.input, 24000), 4801);
  /* Pieces of an odd length: a sample or a page may be cut. */
  for (const [i, piece] of parts.entries()) {
    if (fault === 'cut' && i === 2) { response.destroy(); return undefined; }
    if (fault === 'stall' && i === 2) return undefined;
    response.write(piece);
    await sleep(5);
  }
  return response.end();
}

function transcribe({ form, response, refuse }) {
  const file = form.get('file');
  if (!file?.filename || !form.get('model')) return refuse(400, "'file' and 'model' are required");
  if (file.data.subarray(0, 4).toString('latin1') !== 'RIFF') return refuse(400, 'Invalid file format.');
  const text = isLoud(file.data.subarray(44)) ? HEARD : '';
  response.writeHead(200, { 'Content-Type': 'application/json' });
  return response.end(JSON.stringify({ text, usage: { type: 'duration', seconds: 2 } }));
}

export const speechRoutes = { 'POST /v1/audio/speech': speak, 'POST /v1/audio/transcriptions': transcribe };

/* multipart/form-data: text fields as text, files as {filename, data}. */
export function readForm(bytes, contentType) {
  const boundary = contentType.match(/boundary="?([^";]+)/)?.[1];
  const form = new Map();
  for (let at = bytes.indexOf(`--${boundary}`); at >= 0;) {
    const next = bytes.indexOf(`--${boundary}`, at + 2);
    if (next < 0) break;
    const part = bytes.subarray(at + boundary.length + 4, next - 2), gap = part.indexOf('\r\n\r\n');
    const head = part.subarray(0, gap).toString('utf8'), data = part.subarray(gap + 4);
    const name = head.match(/name="([^"]*)"/)?.[1], filename = head.match(/filename="([^"]*)"/)?.[1];
    form.set(name, filename === undefined ? data.toString('utf8') : { filename, data });
    at = next;
  }
  return form;
}
