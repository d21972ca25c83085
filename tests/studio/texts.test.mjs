/* The texts of the studio, of the pages for everybody and of the call button: every language has every text with
 * the same places to fill, every text that a page asks for is there, none is asked for by nobody, and none stands
 * outside of its table (languages.test.mjs looks at the pages themselves). */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/service.mjs';

const studio = join(root, 'studio'), app = join(studio, 'app');
const read = (...path) => readFileSync(join(studio, ...path), 'utf8');
const TABLES = ['app/texts', 'texts', 'embed/texts'];
const load = async (id, table = 'app/texts') => {
  const file = readdirSync(join(studio, table)).find((name) => name.startsWith(`${id}.`));
  if (file.endsWith('.json')) return JSON.parse(read(table, file));
  return (await import(`data:text/javascript,${encodeURIComponent(read(table, file))}`)).default;
};
const places = (text) => [...new Set(text.match(/\{\d\}/g) ?? [])].sort().join();
const code = (file) => read(file).replace(/\/\*.*?\*\//gs, '').replace(/^import .*$/gm, '');

/* A name of which a part is only known when the page runs: problem.${kind}.help. */
const open = (name) => new RegExp(`^${name.replaceAll('.', '\\.').replace(/\$\{.*\}/g, '.+')}$`);
const ASKED = /['`](language|(?:try|docs|button|problem|state)\.(?:[\w.]|\$\{(?:[^`{}]|`[^`]*`)*\})+)['`]/g;

test('every language has every text, with the same places to fill', async () => {
  const { LANGUAGES } = await import(`data:text/javascript,${encodeURIComponent(read('language.js'))}`);
  const languages = Object.keys(LANGUAGES).sort();
  for (const table of TABLES) {
    const en = await load('en', table);
    const files = readdirSync(join(studio, table)).map((file) => file.replace(/\.\w+$/, ''));
    assert.deepEqual(files.sort(), languages, table);
    for (const language of languages) {
      const texts = await load(language, table);
      assert.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort(), `${table} ${language}`);
      for (const [name, text] of Object.entries(texts)) {
        assert.equal(places(text), places(en[name]), `${table} ${language} ${name}`);
        assert.ok(text.trim() === text && text, `${table} ${language} ${name}`);
        if (language === 'hi' && /[A-Za-z]{4,}/.test(en[name].replace(/\{.*?\}+/g, '')) && !SAME.includes(en[name]))
          assert.match(text, /[\u0900-\u097f]/, `${table} ${name} is not translated`);
      }
    }
  }
});

/* What is called so in every language. */
const SAME = ['Earshot', 'Earshot API'];

test('every text that the studio asks for is there', async () => {
  const en = await load('en');
  for (const file of readdirSync(app, { recursive: true }).filter(
    (name) => name.endsWith('.js') && !name.startsWith('texts'),
  )) {
    for (const [, name] of code(`app/${file}`).matchAll(/\bt\('([A-Za-z.]+)'/g))
      assert.ok(name in en, `${file} asks for ${name}`);
  }
});

const PUBLIC = ['index.html', 'try.html', 'try.js', 'docs.html', 'docs.js', 'button.html', 'button.js', 'words.js'];

test('the pages for everybody ask for every text of their table, and for no other', async () => {
  const en = await load('en', 'texts');
  const asked = new Set();
  for (const file of PUBLIC) {
    const source = file.endsWith('.js') ? code(file) : read(file);
    const names = [...source.matchAll(/data-(?:text|label|none)="([\w.]+)"/g), ...source.matchAll(ASKED)];
    for (const [, name] of names) {
      const found = Object.keys(en).filter((one) => open(name).test(one));
      assert.ok(found.length, `${file} asks for ${name}`);
      for (const one of found) asked.add(one);
    }
  }
  assert.deepEqual(Object.keys(en).filter((name) => !asked.has(name)), []);
});

test('the button and its panel ask for every text of their table, and for no other', async () => {
  const en = await load('en', 'embed/texts');
  const source = code('embed/earshot.js') + code('embed/call.js');
  const named = new Set([...source.matchAll(/'([A-Za-z_]+)'|\ben\.(\w+)/g)].map(([, name, first]) => name ?? first));
  const codes = /^[A-Z]/; // of the API and of DOMException: asked for by what happens
  assert.deepEqual(Object.keys(en).filter((name) => !named.has(name) && !codes.test(name)), []);
  const asked = [...source.matchAll(/(?:\btext|#status|problemOf)\('(\w+)'/g)].map(([, name]) => name);
  assert.ok(asked.length > 10);
  assert.deepEqual(asked.filter((name) => !(name in en) && name !== 'gone'), []);
});

test('no page holds a text of its own', () => {
  for (const file of readdirSync(studio).filter((name) => name.endsWith('.html'))) {
    const left = read(file).replace(/<(code|dt|script|style|b)\b[^>]*>.*?<\/\1>/gs, '')
      .replace(/<a href="[^"]*">\/\S*<\/a>|<option [^>]*lang="[^<]*<\/option>/g, '')
      .replace(/<span class="brand">Earshot<\/span>|Earshot<\/a>|<title>Earshot<\/title>/g, '');
    assert.doesNotMatch(left, / (?:aria-label|title|placeholder|alt)="(?!"|pk_)/, file);
    assert.deepEqual(left.replace(/<[^>]*>/g, ' ').match(/\p{L}+/gu) ?? [], [], file);
  }
});

test('the places of an English text stand in their order, as the elements of the pages do', async () => {
  for (const [name, text] of Object.entries(await load('en', 'texts'))) {
    const order = [...text.matchAll(/\{(\d)\}/g)].map(([, place]) => Number(place));
    assert.deepEqual(order, order.map((_, i) => i), name);
    const element = new RegExp(`<(\\w+)[^>]* data-text="${name.replaceAll('.', '\\.')}"[^>]*>(.*?)</\\1>`, 'g');
    for (const file of PUBLIC.filter((one) => one.endsWith('.html')))
      for (const [, , content] of read(file).matchAll(element))
        assert.equal((content.match(/<\//g) ?? []).length, order.length, `${file} ${name}`);
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
  const source = (read('language.js').replaceAll('export ', '') + read('app/text.js'))
    .replace('export { LANGUAGES, keep };', '')
    .replace(/^import .*$/gm, '')
    .replace(/^/, `const en = ${JSON.stringify(en)}, hi = ${JSON.stringify(hi)}; const signal = (value) => ({ value });
      const localStorage = { getItem: () => 'hi' }, navigator = {}, addEventListener = () => {}, effect = () => {};\n`);
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

test('a value that turns the direction of writing turns nothing of its sentence', async () => {
  const { filled } = await import(`data:text/javascript,${encodeURIComponent(read('language.js'))}`);
  const said = (...values) => filled('Remove {0} of {1}?', values);
  assert.equal(said('Ann', 3), 'Remove Ann of 3?');
  assert.equal(said('Ann\u202E', 'x'), 'Remove \u2068Ann\u202E\u2069 of x?');
  assert.equal(said('x', 'דנה'), 'Remove x of \u2068דנה\u2069?');
  assert.equal(said('A\u2069\u202E', 'x'), 'Remove \u2068A\u202E\u2069 of x?', 'it does not end the isolation');
  assert.equal(said('A\u2066\u2067B\u2069', 'x'), 'Remove \u2068A\u2066\u2067B\u2069\u2069\u2069 of x?');
});
