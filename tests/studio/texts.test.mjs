/* The studio's texts: every language has every text with the same places to fill, every text that a page asks for is
 * there. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/service.mjs';

const app = join(root, 'studio/app');
const load = async (id) =>
  (await import(`data:text/javascript,${encodeURIComponent(readFileSync(join(app, `texts/${id}.js`), 'utf8'))}`))
    .default;
const places = (text) => [...new Set(text.match(/\{\d\}/g) ?? [])].sort().join();

test('every language has every text, with the same places to fill', async () => {
  const en = await load('en');
  for (const file of readdirSync(join(app, 'texts'))) {
    const texts = await load(file.replace('.js', ''));
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort(), file);
    for (const [name, text] of Object.entries(texts)) assert.equal(places(text), places(en[name]), `${file} ${name}`);
  }
});

test('every text that a page asks for is there', async () => {
  const en = await load('en');
  for (const file of readdirSync(app, { recursive: true }).filter(
    (name) => name.endsWith('.js') && !name.startsWith('texts'),
  )) {
    const source = readFileSync(join(app, file), 'utf8').replace(/\/\*.*?\*\//gs, '');
    for (const [, name] of source.matchAll(/\bt\('([A-Za-z.]+)'/g)) assert.ok(name in en, `${file} asks for ${name}`);
  }
});

/* Whatever the API may say of a field of a body: the sentences in its sources, with something in their places. */
function sentencesOfTheApi() {
  const found = new Set();
  for (const folder of ['model', 'api']) {
    for (const file of readdirSync(join(root, 'src', folder)).filter((name) => name.endsWith('.c'))) {
      const source = readFileSync(join(root, 'src', folder, file), 'utf8').replace(/"\s*\n\s*"/g, '');
      for (const [call] of source.matchAll(/\b(?:faults_add|request_fault|reading_fault|reading_fault_at)\([^;]*;/g))
        for (const [, text] of call.matchAll(/"((?:is|must|may|cannot|does|would|or|the) [^"]*)"/g)) found.add(text);
    }
  }
  for (const ours of ['is no nextCursor of this list', 'is no nextPage of this list', 'must be %s']) found.delete(ours);
  return [...found].map((text) => text.replace(/%(lld|zu|d)/g, '7').replace(/%g/g, '0.5').replace(/%s/g, 'anthropic'));
}

test('what the API says of a field is said in every language', async () => {
  const en = await load('en'), hi = await load('hi');
  const source = readFileSync(join(app, 'text.js'), 'utf8')
    .replace(/^import .*$/gm, '')
    .replace(/^/, `const en = ${JSON.stringify(en)}, hi = ${JSON.stringify(hi)}; const signal = (value) => ({ value });
      const localStorage = { getItem: () => 'hi' }, navigator = { language: 'hi' };\n`);
  const { faultText } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const sentences = sentencesOfTheApi();
  assert.ok(sentences.length > 40, String(sentences.length));
  for (const sentence of sentences) assert.match(faultText(sentence), /[\u0900-\u097f]/, sentence);
  assert.equal(faultText('must have at most 100 characters'), hi['fault.tooLong'].replace('{0}', '100'));
  assert.equal(faultText('must be 0.2 to 2'), hi['fault.range'].replace('{0}', '0.2').replace('{1}', '2'));
  assert.match(faultText('must be generate, static or none'), /: generate, static or none$/);
  assert.equal(faultText('something of a later version'), null);
});

/* What the studio never meets: requests that it does not make, and codes of other people's pages. */
const NOT_OF_THE_STUDIO = ['BAD_REQUEST', 'INVALID_JSON', 'NAME_REQUIRED', 'METHOD_NOT_ALLOWED',
  'UNSUPPORTED_MEDIA_TYPE', 'IDEMPOTENCY_KEY_REUSED', 'CONFIG_FIELD_NOT_ALLOWED', 'DAILY_LIMIT_REACHED',
  'EMBED_DISABLED', 'ORIGIN_NOT_ALLOWED'];

test('every refusal that the studio can meet is said in every language', async () => {
  const table = readFileSync(join(root, 'src/api/answer.c'), 'utf8');
  const codes = [...table.matchAll(/\[API_[A-Z_]+\] = \{\d+, "([A-Z_]+)"/g)].map(([, code]) => code);
  assert.ok(codes.length > 30, String(codes.length));
  for (const code of NOT_OF_THE_STUDIO) assert.ok(codes.includes(code), `${code} is none of the service`);
  for (const file of readdirSync(join(app, 'texts'))) {
    const texts = await load(file.replace('.js', ''));
    for (const code of codes.filter((one) => !NOT_OF_THE_STUDIO.includes(one)))
      assert.ok(texts[`error.${code}`], `${file} lacks error.${code}`);
  }
});

test('a watched call is what its events say, told again or not', async () => {
  const source = readFileSync(join(app, 'watch.js'), 'utf8').replace(/^import .*$/gm, '');
  const { UNSEEN, follow } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const events = [
    { event: 'call', data: { status: 'active' } },
    { event: 'turn', id: '1', data: { text: 'a' } },
    { event: 'tool', data: { number: 2, status: 'running' } },
    { event: 'tool', data: { number: 1, status: 'failed' } },
    { event: 'turn', id: '2', data: { text: 'b' } },
    { event: 'turn', id: '2', data: { text: 'b' } },
    { event: 'tool', data: { number: 2, status: 'succeeded' } },
    { event: 'state', data: { state: 'speaking' } },
    { event: 'passages', data: { query: 'q' } },
    { event: 'of a later version', data: {} },
    { event: 'end', data: {} },
  ];
  assert.deepEqual(events.reduce(follow, UNSEEN), {
    call: { status: 'active' },
    turns: [{ text: 'a' }, { text: 'b' }],
    runs: [{ number: 1, status: 'failed' }, { number: 2, status: 'succeeded' }],
    passages: [{ query: 'q' }],
    state: 'speaking',
    isOver: true,
  });
});
