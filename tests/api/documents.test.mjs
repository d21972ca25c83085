/* /v1/knowledge: documents as text, their life, the search. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { until } from '../harness/service.mjs';
import { sql } from '../harness/sql.mjs';
import { apiForFile, iso, refused } from './contract.mjs';

const { t, api } = apiForFile({ env: { EARSHOT_DOCUMENTS_PER_HOUR: '6' } });

const text = 'Our opening hours are nine to five from Monday to Friday. On Saturday the shop is closed. '
  + 'Parking is free behind the house.';
const add = async (by = api, fields = {}) => {
  const answer = await by('POST', '/v1/knowledge/documents', { name: 'Hours', text, ...fields });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.document;
};
const ready = (document, by = api) => until(async () => {
  const { body } = await by('GET', `/v1/knowledge/documents/${document.id}`);
  return body.document.status !== 'processing' && body.document;
}, { what: 'the document to be read' });

test('a text is accepted at once and read in the background', async () => {
  const document = await add();
  assert.match(document.id, /^kd_/);
  assert.deepEqual([document.kind, document.status, document.stored, document.bytes, document.chars],
    ['text', 'processing', false, Buffer.byteLength(text), 0]);
  assert.match(document.createdAt, iso);
  const read = await ready(document);
  assert.deepEqual([read.status, read.error, read.chars], ['ready', null, [...text].length]);
  assert.ok(read.sectionCount >= 1);
  refused(await api('GET', `/v1/knowledge/documents/${document.id}/file`), 404, 'NOT_FOUND');
});

test('bounds in code points', async () => {
  refused(await api('POST', '/v1/knowledge/documents', { name: '', text: 'x'.repeat(19) }), 400, 'VALIDATION_FAILED',
    'name', 'text');
  refused(await api('POST', '/v1/knowledge/documents', { name: 'x'.repeat(256), text: 'x'.repeat(200001) }), 400,
    'VALIDATION_FAILED', 'name', 'text');
});

test('a body of up to 4 MiB is read, more is refused', async () => {
  const own = await t.newWorkspace();
  assert.equal((await add(own.api, { text: '😀'.repeat(200000) })).bytes, 800000);
  refused(await own.api('POST', '/v1/knowledge/documents', { name: 'n', text: 'x'.repeat(5 << 20) }), 413,
    'BODY_TOO_LARGE');
});

test('search finds what is ready, and only that', async () => {
  const own = await t.newWorkspace();
  const document = await ready(await add(own.api), own.api);
  const search = async (query, documentIds = [document.id, 'kd_none']) =>
    (await own.api('POST', '/v1/knowledge/search', { query, documentIds })).body;
  const { hits } = await search('When are you open on Monday?');
  assert.ok(hits.length >= 1, 'a hit');
  assert.equal(hits[0].documentId, document.id);
  assert.equal(hits[0].document, 'Hours');
  assert.ok(hits[0].similarity > 0 && hits[0].similarity <= 1);
  assert.deepEqual((await search('quantum chromodynamics lattice')).hits, []);
  assert.deepEqual((await search('Monday', [])).hits, []);
  assert.deepEqual((await api('POST', '/v1/knowledge/search', { query: 'Monday', documentIds: [document.id] }))
    .body.hits, []);
  refused(await own.api('POST', '/v1/knowledge/search', { query: 'x'.repeat(301) }), 400, 'VALIDATION_FAILED', 'query',
    'documentIds');
  await own.api('DELETE', `/v1/knowledge/documents/${document.id}`);
  assert.deepEqual((await search('When are you open on Monday?')).hits, []);
});

test('retry reads it again', async () => {
  const own = await t.newWorkspace();
  const document = await ready(await add(own.api), own.api);
  const again = await own.api('POST', `/v1/knowledge/documents/${document.id}/retry`);
  assert.equal(again.body.document.status, 'processing');
  assert.equal((await ready(document, own.api)).status, 'ready');
});

test('removal takes it out of every agent', async () => {
  const own = await t.newWorkspace();
  const document = await ready(await add(own.api), own.api);
  const { body: { agent } } = await own.api('POST', '/v1/agents', { name: 'a', documentIds: [document.id] });
  assert.deepEqual((await own.api('DELETE', `/v1/knowledge/documents/${document.id}`)).body,
    { ok: true, id: document.id });
  assert.deepEqual((await own.api('GET', `/v1/agents/${agent.id}`)).body.agent.documentIds, []);
  refused(await own.api('GET', `/v1/knowledge/documents/${document.id}`), 404, 'NOT_FOUND');
  refused(await own.api('POST', `/v1/knowledge/documents/${document.id}/retry`), 404, 'NOT_FOUND');
  assert.deepEqual((await own.api('GET', '/v1/knowledge/documents')).body.documents, []);
});

test('an hourly allowance, to which a retry does not count', async () => {
  const own = await t.newWorkspace();
  for (let i = 0; i < 6; i++) await add(own.api);
  const answer = await own.api('POST', '/v1/knowledge/documents', { name: 'n', text });
  refused(answer, 429, 'RATE_LIMITED');
  assert.ok(Number(answer.headers.get('retry-after')) >= 1);
  const [first] = (await own.api('GET', '/v1/knowledge/documents')).body.documents;
  await ready(first, own.api);
  assert.equal((await own.api('POST', `/v1/knowledge/documents/${first.id}/retry`)).status, 200);
});

test('on an empty balance no document is added', async () => {
  const poor = await t.newWorkspace({ balance: 0 });
  refused(await poor.api('POST', '/v1/knowledge/documents', { name: 'n', text }), 402, 'INSUFFICIENT_BALANCE');
});

test("an added document is nobody's yet", async () => {
  const own = await t.newWorkspace();
  const { body: { agent } } = await own.api('POST', '/v1/agents', { name: 'a' });
  await ready(await add(own.api), own.api);
  assert.deepEqual((await own.api('GET', `/v1/agents/${agent.id}`)).body.agent.documentIds, []);
});

test('a search has bounds', async () => {
  const search = (query, count) => api('POST', '/v1/knowledge/search',
    { query, documentIds: Array(count).fill('kd_x') });
  assert.equal((await search('\u00e9'.repeat(300), 500)).status, 200);
  refused(await search('x'.repeat(301), 1), 400, 'VALIDATION_FAILED', 'query');
  refused(await search('', 1), 400, 'VALIDATION_FAILED', 'query');
  refused(await search('x', 501), 400, 'VALIDATION_FAILED', 'documentIds');
});

test('a hit is a card or a section, the best one first', async () => {
  const own = await t.newWorkspace();
  const document = await ready(await add(own.api, { name: 'Shop', text: 'Q: May I bring a dog into the shop?\n'
    + 'A: Yes, a small dog may come along.\n\n'
    + 'The garden behind the shop is open in summer. A dog must be on a lead there.\n' }), own.api);
  assert.ok(document.cardCount >= 1 && document.sectionCount >= 1);
  const { body: { hits, ms } } = await own.api('POST', '/v1/knowledge/search',
    { query: 'May I bring a dog?', documentIds: [document.id] });
  assert.ok(ms >= 0 && hits.length >= 2, JSON.stringify(hits));
  assert.deepEqual([hits[0].kind, hits[0].question, hits[0].text],
    ['card', 'May I bring a dog into the shop?', 'Yes, a small dog may come along.']);
  for (const hit of hits) assert.equal('question' in hit, hit.kind === 'card');
  assert.deepEqual(hits.map((hit) => hit.similarity), hits.map((hit) => hit.similarity).toSorted((a, b) => b - a));
});

test('a document that is being read is not read again', async () => {
  const own = await t.newWorkspace();
  const document = await ready(await add(own.api), own.api);
  sql(t.service, `UPDATE documents SET status = 'processing', leased_until_ms = 9000000000000
    WHERE id = '${document.id}'`);
  refused(await own.api('POST', `/v1/knowledge/documents/${document.id}/retry`), 409, 'CONFLICT');
});

/* A workspace with a document of seven passages and, among them, a card. */
const SAID = Array.from({ length: 7 }, (_, i) => `Passage ${i + 1} tells at some length what the house offers to its `
  + `guests in the season ${i + 1}, ${'among it a walk to the lake and back, '.repeat(6)}and dinner on the terrace.`);
async function withPassages() {
  const own = await t.newWorkspace();
  const asked = 'Q: May I bring a dog?\nA: Yes, a small dog may come along.';
  const text = [...SAID.slice(0, 4), asked, ...SAID.slice(4)].join('\n\n');
  const document = await ready(await add(own.api, { text }), own.api);
  assert.deepEqual([document.sectionCount, document.cardCount], [SAID.length, 1]);
  const path = `/v1/knowledge/documents/${document.id}/passages`;
  const page = async (query = {}) => {
    const answer = await own.api('GET', `${path}?${new URLSearchParams(query)}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  return { own, document, path, page };
}

test('passages come a page at a time, in the order of the document, without its cards', async () => {
  const { page } = await withPassages();
  const whole = await page();
  assert.deepEqual(whole.passages.map((one) => one.text), SAID);
  assert.deepEqual([whole.total, whole.nextCursor], [SAID.length, null]);
  const positions = whole.passages.map((one) => one.position);
  assert.deepEqual(positions, [...new Set(positions)].toSorted((a, b) => a - b));
  const pages = [];
  for (let before; before !== null;) {
    const { passages, total, nextCursor } = await page({ limit: 3, ...(before ? { before } : {}) });
    assert.equal(total, SAID.length);
    pages.push(passages);
    before = nextCursor;
  }
  assert.deepEqual(pages.map((one) => one.length), [3, 3, 1]);
  assert.deepEqual(pages.flat(), whole.passages);
  const { nextCursor } = await page({ limit: 3 });
  assert.deepEqual((await page({ before: nextCursor })).passages, whole.passages.slice(3));
  assert.deepEqual((await page({ limit: SAID.length })), whole);
  assert.deepEqual(await page({ before: '999999999999999' }), { passages: [], total: SAID.length, nextCursor: null });
});

test('a forged cursor of passages and a wrong limit are told by their names', async () => {
  const { own, path } = await withPassages();
  for (const before of ['', 'x', '-1', '1.5', '1.kd_1', '1 ', '9'.repeat(16)])
    refused(await own.api('GET', `${path}?${new URLSearchParams({ before })}`), 400, 'VALIDATION_FAILED', 'before');
  for (const limit of ['0', '101', '-1', 'ten', ''])
    refused(await own.api('GET', `${path}?limit=${limit}`), 400, 'VALIDATION_FAILED', 'limit');
});

test('passages are shown to their workspace alone, and to no key of an agent', async () => {
  const { own, path } = await withPassages();
  refused(await api('GET', path), 404, 'NOT_FOUND');
  refused(await own.api('GET', '/v1/knowledge/documents/kd_none/passages'), 404, 'NOT_FOUND');
  const { body: { agent } } = await own.api('POST', '/v1/agents', { name: 'a' });
  refused(await t.as(agent.apiKey)('GET', path), 403, 'FORBIDDEN');
  refused(await t.as('none')('GET', path), 401, 'UNAUTHORIZED');
});

test('a document that is not ready has no passages', async () => {
  const { own, document, path, page } = await withPassages();
  for (const status of ['processing', 'failed']) {
    sql(t.service, `UPDATE documents SET status = '${status}', leased_until_ms = 9000000000000
      WHERE id = '${document.id}'`);
    assert.deepEqual(await page(), { passages: [], total: 0, nextCursor: null }, status);
  }
  assert.equal((await own.api('DELETE', `/v1/knowledge/documents/${document.id}`)).status, 200);
  refused(await own.api('GET', path), 404, 'NOT_FOUND');
});

test('a page of long passages has fewer, and the next goes on', async () => {
  const { document, page } = await withPassages();
  sql(t.service, `UPDATE passages SET text = '${'x'.repeat(100000)}' WHERE document_id = '${document.id}'
    AND question IS NULL`);
  const counts = [];
  for (let before; before !== null;) {
    const { passages, nextCursor } = await page(before ? { before } : {});
    counts.push(passages.length);
    before = nextCursor;
  }
  assert.deepEqual(counts, [3, 3, 1]);
});

const upload = (own, bytes, query = '?name=hours.txt', headers = {}) =>
  own.api('POST', `/v1/knowledge/documents${query}`, Buffer.from(bytes),
    { 'Content-Type': 'application/octet-stream', ...headers });

test('an uploaded file is told by what is in it and kept', async () => {
  const own = await t.newWorkspace();
  const { body: { document } } = await upload(own, text);
  assert.deepEqual([document.kind, document.name, document.stored, document.bytes],
    ['txt', 'hours.txt', true, Buffer.byteLength(text)]);
  assert.equal((await ready(document, own.api)).status, 'ready');
  const file = await own.api('GET', `/v1/knowledge/documents/${document.id}/file`);
  assert.deepEqual([file.text, file.headers.get('content-disposition')], [text, 'attachment']);
  assert.equal((await upload(own, '%PDF-1.7 ...', '?name=a.txt')).body.document.kind, 'pdf');
});

test('an upload that is refused leaves no document', async () => {
  const own = await t.newWorkspace();
  refused(await upload(own, text, ''), 400, 'NAME_REQUIRED');
  refused(await upload(own, text, `?name=${'x'.repeat(256)}`), 400, 'VALIDATION_FAILED', 'name');
  refused(await upload(own, [0, 1, 2]), 415, 'UNSUPPORTED_FILE_TYPE');
  refused(await upload(own, []), 415, 'UNSUPPORTED_FILE_TYPE');
  refused(await upload(own, Buffer.alloc(26214401, 'x')), 413, 'FILE_TOO_LARGE');
  assert.deepEqual((await own.api('GET', '/v1/knowledge/documents')).body.documents, []);
});

test('a file that is sent twice under one Idempotency-Key is one document', async () => {
  const own = await t.newWorkspace();
  const send = (bytes) => upload(own, bytes, '?name=b', { 'Idempotency-Key': 'a-file' });
  assert.equal((await send('One file, sent twice.')).status, 201);
  assert.equal((await send('One file, sent twice.')).headers.get('idempotent-replayed'), 'true');
  refused(await send('Another file under it.'), 409, 'IDEMPOTENCY_KEY_REUSED');
  assert.equal((await own.api('GET', '/v1/knowledge/documents')).body.documents.length, 1);
});

test('an Idempotency-Key counts for the query, too: under another name the file is another document', async () => {
  const own = await t.newWorkspace();
  const send = (name) => upload(own, 'One file, sent twice.', `?name=${name}`, { 'Idempotency-Key': 'a-file' });
  for (const name of ['b', 'c']) assert.equal((await send(name)).status, 201);
  assert.equal((await send('b')).headers.get('idempotent-replayed'), 'true');
  assert.equal((await own.api('GET', '/v1/knowledge/documents')).body.documents.length, 2);
});

test('a file in an older encoding', async () => {
  const own = await t.newWorkspace();
  const french = 'Le petit d\u00e9jeuner est servi d\u00e8s sept heures, \u00e0 la terrasse.';
  for (const encoding of ['latin1', 'utf16le', 'utf8']) {
    const { body: { document } } = await upload(own, Buffer.from(french, encoding), '?name=menu.txt');
    const read = await ready(document, own.api);
    assert.deepEqual([read.status, read.kind, read.chars], ['ready', 'txt', french.length], encoding);
    const found = await own.api('POST', '/v1/knowledge/search',
      { query: 'petit d\u00e9jeuner', documentIds: [read.id] });
    assert.equal(found.body.hits[0]?.text, french, encoding);
  }
});

test('a file whose name says what it is not', async () => {
  refused(await upload({ api }, text, '?name=paper.pdf'), 415, 'UNSUPPORTED_FILE_TYPE');
  refused(await upload({ api }, text, '?name=paper.DOCX'), 415, 'UNSUPPORTED_FILE_TYPE');
  refused(await upload({ api }, 'PK\x03\x04 but no Word document', '?name=paper.zip'), 415, 'UNSUPPORTED_FILE_TYPE');
});

test('a file of many pieces is kept and given back whole', async () => {
  const own = await t.newWorkspace();
  const line = 'The warehouse is open from nine to five on every weekday of the year.\n\n';
  const bytes = Buffer.from(line.repeat(20000));
  const { body: { document } } = await own.api('POST', '/v1/knowledge/documents?name=long.txt', bytes,
    { 'Content-Type': 'application/octet-stream' });
  const read = await ready(document, own.api);
  assert.deepEqual([read.status, read.bytes, read.progress], ['ready', bytes.length, null]);
  const file = await own.api('GET', `/v1/knowledge/documents/${document.id}/file`);
  assert.equal(file.text.length, bytes.length);
  assert.ok(file.text === bytes.toString());
});

const readFrom = async (own, name) => {
  const bytes = await readFile(new URL(`../unit/extract/files/${name}`, import.meta.url));
  return ready((await upload(own, bytes, `?name=${name}`)).body.document, own.api);
};
const bestHit = async (own, document, query) =>
  (await own.api('POST', '/v1/knowledge/search', { query, documentIds: [document.id] })).body.hits[0];

test('a Word document is read: its topics, its cards and its tables', async () => {
  const own = await t.newWorkspace();
  const read = await readFrom(own, 'libreoffice.docx');
  assert.deepEqual([read.status, read.kind, read.topics], ['ready', 'docx',
    ['Hotel Miramar', 'Rooms', 'Services', 'नाश्ता']]);
  const { body: { cards } } = await own.api('GET', `/v1/knowledge/documents/${read.id}`);
  assert.deepEqual(cards, [{ question: 'May I bring a dog?',
    answer: 'Yes, on the ground floor, for fifteen dollars a stay.' }]);
  assert.match((await bestHit(own, read, 'price of the deluxe room')).text, /Room: Deluxe; Price: 4,500; Beds: 2/);
});

test('a PDF is read: its topics and its tables', async () => {
  const own = await t.newWorkspace();
  const read = await readFrom(own, 'latex.pdf');
  assert.deepEqual([read.status, read.kind, read.error], ['ready', 'pdf', null]);
  assert.ok(read.topics.includes('Rooms and prices'), read.topics);
  assert.match((await bestHit(own, read, 'how much is the family suite')).text,
    /Room: Family suite; Price: 7,200; Beds: 4/);
});

test('a PDF of pictures alone says so', async () => {
  const read = await readFrom(await t.newWorkspace(), 'scan.pdf');
  assert.equal(read.status, 'failed');
  assert.match(read.error, /only pictures of pages/);
});

test('a file that is far larger unpacked fails with the reason', async () => {
  const failed = await readFrom(await t.newWorkspace(), 'bomb.docx');
  assert.deepEqual([failed.status, failed.error, failed.chars],
    ['failed', 'It is larger unpacked than a document may be.', 0]);
});

/* So many pages that reading them takes seconds: what has been read is looked at once a second. */
function bookOf(pages) {
  const objects = ['<< /Type /Catalog /Pages 2 0 R >>', '', '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'];
  const kids = [];
  for (let page = 1; page <= pages; page++) {
    const lines = Array.from({ length: 40 }, (_, line) => `(Item ${page} ${line} waits) Tj T*`).join('\n');
    const drawn = `BT /F1 11 Tf 14 TL 60 780 Td\n${lines}\nET`;
    objects.push(`<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`);
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${objects.length} 0 R `
      + '/Resources << /Font << /F1 3 0 R >> >> >>');
    kids.push(`${objects.length} 0 R`);
  }
  objects[1] = `<< /Type /Pages /Count ${pages} /Kids [${kids.join(' ')}] >>`;
  let file = '%PDF-1.4\n';
  const places = objects.map((object, i) => {
    const place = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const head = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  const tail = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + head + tail);
}

test('while a long PDF is read, the pages done of all are told', async () => {
  const own = await t.newWorkspace();
  const { body: { document } } = await upload(own, bookOf(2600), '?name=book.pdf');
  const told = [];
  const read = await until(async () => {
    const { body } = await own.api('GET', `/v1/knowledge/documents/${document.id}`);
    if (body.document.progress)
      told.push(body.document.progress);
    return body.document.status !== 'processing' && body.document;
  }, { what: 'the book to be read' });
  assert.deepEqual([read.status, read.error, read.progress], ['ready', null, null]);
  const done = told.map((one) => one.pagesDone);
  assert.ok(done.some((pages) => pages > 0 && pages < 2600), done);
  assert.deepEqual(done, done.toSorted((a, b) => a - b));
  assert.deepEqual([...new Set(told.map((one) => one.pages))], [2600]);
});
