/* Documents searched by meaning over the wire of an embeddings server of ours, which knows that a moggy is a cat; and
 * which is away, slow, refuses or says nonsense. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { makeWorkspace, startService, until } from '../harness/service.mjs';

const SIZE = 64;
const text = 'Visitors\n\nVisitors ring the bell twice.\n\nCats\n\nCats are no more than cats.\n\n'
  + 'Bicycles\n\nBicycles stand in the cellar.\n';

function vector(input) {
  const numbers = new Array(SIZE).fill(0);
  numbers[0] = 0.01; // no text has none at all
  for (const word of input.toLowerCase().match(/[a-z]{4,}/g) ?? []) {
    const meant = word === 'moggy' ? 'cats' : word;
    numbers[[...meant].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % SIZE, 7)] += 1;
  }
  return numbers;
}

/* Its first three answers are wrong; silent, it has none. */
const mind = { requests: 0, isSilent: false };
const answer = (response, status, body, headers = {}) => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(body);
};
const server = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  const inputs = [JSON.parse(body).input].flat();
  mind.requests += 1;
  if (mind.isSilent) return;
  if (mind.requests === 1) return answer(response, 429, '{"error":{"message":"slow down"}}', { 'Retry-After': '1' });
  if (mind.requests === 2) return answer(response, 200, 'nonsense');
  if (mind.requests === 3) return answer(response, 200, '{"data":[]}');
  answer(response, 200, JSON.stringify({
    data: inputs.map((input, index) => ({ index, embedding: vector(input) })) }));
});

let service, api;
before(async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  service = await startService({
    env: {
      EARSHOT_RATE_LIMIT: '0', // it is asked until the vectors are there
      EARSHOT_ENGINE_OPENAI_EMBEDDINGS_URL: `http://127.0.0.1:${server.address().port}/v1`,
      EARSHOT_ENGINE_OPENAI_EMBEDDINGS_KEY: 'stand-in-key',
    },
  });
  ({ api } = await makeWorkspace(service));
});
after(async () => {
  await service?.close();
  server.closeAllConnections();
  server.close();
});

test('a document is found by what it means, whatever the engine did first, and by words when it hangs', async () => {
  const made = await api('POST', '/v1/knowledge/documents', { name: 'House rules', text });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id } = made.body.document;
  const search = async (query) => {
    const found = await api('POST', '/v1/knowledge/search', { query, documentIds: [id] });
    assert.equal(found.status, 200, JSON.stringify(found.body));
    return found.body.hits;
  };
  const best = async (query) => (await search(query))[0]?.text ?? '';
  await until(async () => (await api('GET', `/v1/knowledge/documents/${id}`)).body.document.status === 'ready');
  await until(async () => (await best('moggy')).includes('Cats'), { what: 'what only its meaning finds' });
  assert.ok(mind.requests > 3);
  assert.deepEqual(await search('helicopter'), []);
  mind.isSilent = true;
  assert.match(await best('where do bicycles stand'), /cellar/);
});
