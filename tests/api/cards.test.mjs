/* Question-and-answer cards that a language model writes of a document: told to the user, but only those that are
 * true. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { until } from '../harness/service.mjs';
import { startApi } from './contract.mjs';

let t, model;
const asked = [];
before(async () => {
  model = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => { body += data; });
    request.on('end', () => {
      asked.push(body);
      const lines = ['{"s":1,"q":"What does the garage cost?","a":"The garage costs twelve dollars a night."}',
        '{"s":1,"q":"Is there a zoo?","a":"Yes, a zoo with forty elephants."}'].join('\n');
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (const content of [lines.slice(0, 30), lines.slice(30)])
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
      );
    });
  });
  await new Promise((resolve) => model.listen(0, '127.0.0.1', resolve));
  t = await startApi({
    env: { EARSHOT_ENGINE_OPENAI_URL: `http://127.0.0.1:${model.address().port}/v1`, EARSHOT_ENGINE_OPENAI_KEY: 'k' },
  });
});
after(async () => { await t.close(); model.closeAllConnections(); model.close(); });

test('cards of the model stand beside the text, if the text holds them', async () => {
  const text = 'There is a garage under the hotel. The garage costs twelve dollars a night and closes at ten.';
  const { body: { document } } = await t.api('POST', '/v1/knowledge/documents', { name: 'Parking', text });
  const read = await until(async () => {
    const { body } = await t.api('GET', `/v1/knowledge/documents/${document.id}`);
    return body.document.status !== 'processing' && body;
  }, { what: 'the document to be read' });
  assert.equal(read.document.status, 'ready');
  assert.equal(asked.length, 1);
  assert.match(asked[0], /closes at ten/);
  assert.deepEqual(read.cards, [
    { question: 'What does the garage cost?', answer: 'The garage costs twelve dollars a night.' },
  ]);
  assert.deepEqual([read.document.cardCount, read.document.sectionCount], [1, 1]);
});
