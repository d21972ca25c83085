/* The document itself: whole, consistent, and what the parser does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiForFile } from './contract.mjs';

let document;
const { t } = apiForFile({}, () => { ({ document } = t.contract); });

function* walk(value, path = '#') {
  if (value === null || typeof value !== 'object') return;
  yield [path, value];
  for (const [key, child] of Object.entries(value)) yield* walk(child, `${path}/${key}`);
}

test('every reference leads somewhere, every operation has a name of its own', () => {
  for (const [path, node] of walk(document)) {
    if (typeof node.$ref !== 'string') continue;
    const target = node.$ref.slice(2).split('/').reduce((at, key) => at?.[key], document);
    assert.ok(target, `${path}: ${node.$ref}`);
  }
  const names = Object.values(document.paths).flatMap((operations) => Object.values(operations)
    .map((operation) => operation.operationId));
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length >= 35);
});

test('every schema compiles, every example fits its schema', () => {
  for (const name of Object.keys(document.components.schemas)) t.contract.ajv.compile(
    { $ref: `openapi#/components/schemas/${name}` });
  for (const operations of Object.values(document.paths)) {
    for (const { operationId, requestBody } of Object.values(operations)) {
      const media = requestBody?.content['application/json'];
      if (media?.example) assert.deepEqual(t.contract.validate(media.schema, media.example), [], operationId);
    }
  }
});

test('every event type is a webhook of the document', async () => {
  const { body: { events } } = await t.api('GET', '/v1/webhooks/events');
  assert.deepEqual(Object.keys(document.webhooks), events.map((event) => event.type));
});

test('the page is whole in itself', async () => {
  const page = await (await fetch(`${t.service.url}/docs`)).text();
  assert.match(page, /^<!doctype html>/);
  assert.equal(/(src|href)=.?https?:/.test(page), false);
});
