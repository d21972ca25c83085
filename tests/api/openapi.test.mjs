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

const operationsOf = () => Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })));

test('each path of the document begins with /v1', () => {
  for (const path of Object.keys(document.paths)) assert.match(path, /^\/v1\/[a-z]/);
});

test('every operation may answer 401, 429 and 500', () => {
  for (const { operationId, responses } of operationsOf())
    for (const status of [401, 429, 500]) assert.ok(status in responses, `${operationId} ${status}`);
});

test('only what creates answers 201', () => {
  const creates = ['createAgent', 'createTool', 'addDocument', 'startCall', 'startEmbedCall', 'createWebhook',
    'createMember', 'createKey', 'signIn'];
  for (const { operationId, responses } of operationsOf()) {
    const good = Object.keys(responses).filter((status) => status < 300);
    assert.deepEqual(good, [creates.includes(operationId) ? '201' : '200'], operationId);
  }
});

/* The keys under which the contract's operations answer. */
const KEYS = {
  listAgents: 'agents total nextCursor',
  createAgent: 'agent',
  getAgent: 'agent',
  updateAgent: 'agent',
  deleteAgent: 'ok id',
  rotateAgentKey: 'apiKey agent',
  rotateAgentPublicKey: 'publicKey agent',
  listTools: 'tools total nextCursor',
  createTool: 'tool',
  getTool: 'tool',
  updateTool: 'tool',
  deleteTool: 'success deletedId',
  testTool: 'success status latencyMs data headers error',
  listDocuments: 'documents total nextCursor',
  addDocument: 'document',
  getDocument: 'document cards',
  retryDocument: 'document',
  deleteDocument: 'ok id',
  searchDocuments: 'hits ms',
  listWebhooks: 'webhooks',
  createWebhook: 'webhook',
  getWebhook: 'webhook',
  updateWebhook: 'webhook',
  deleteWebhook: 'ok id',
  testWebhook: 'ok status error',
  listEventTypes: 'events',
  startCall: 'callId livekitUrl token language call',
  startEmbedCall: 'callId livekitUrl token language',
  listCalls: 'calls total nextCursor',
  getCall: 'call',
  endCall: 'call',
  deleteCall: 'call',
  sayInCall: 'ok',
  getMe: 'account apiKey isAdmin workspaces',
  getCatalog: 'catalog defaults',
  listVoices: 'voices nextPage',
};

test('every operation answers under its key', () => {
  const lookUp = (ref) => ref.slice(2).split('/').reduce((at, key) => at[key], document);
  const schemaOf = ({ $ref, ...schema }) => ($ref ? schemaOf(lookUp($ref)) : schema);
  const operations = Object.fromEntries(operationsOf().map((operation) => [operation.operationId, operation]));
  for (const [name, keys] of Object.entries(KEYS)) {
    assert.ok(operations[name], `${name} is not in the document`);
    const { responses } = operations[name];
    const { schema } = (responses[200] ?? responses[201]).content['application/json'];
    assert.deepEqual(Object.keys(schemaOf(schema).properties), keys.split(' '), name);
  }
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
