/* Stand-ins of the two chat wires: OpenAI's chat completions and Anthropic's Messages. Strict about what their
 * documentation calls required; a request with a tool named `look_up` and no result yet calls it. */
import { ANSWER, sleep } from './sound.mjs';

const words = (text) => text.split(/(?<= )/);

async function stream(response, events, fault) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const [i, event] of events.entries()) {
    if (fault === 'cut' && i === 3) { response.destroy(); return; }
    if (fault === 'stall' && i === 3) return;
    response.write(event);
    await sleep(5);
  }
  response.end();
}

/* OpenAI. */

const chunk = (model, delta, finish = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1790000000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

function openaiRefusal(body) {
  if (!body.model) return 'you must provide a model parameter';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "'messages' is required";
  for (const message of body.messages) {
    if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(message.role))
      return `'${message.role}' is not a role`;
    if (message.role === 'tool' && !message.tool_call_id) return "'tool_call_id' is required";
  }
  return null;
}

function openaiEvents(body) {
  const isAnswered = body.messages.some((message) => message.role === 'tool');
  const calls = !isAnswered && body.tools?.some((tool) => tool.function?.name === 'look_up');
  const said = calls
    ? [
        chunk(body.model, {
          role: 'assistant',
          content: null,
          tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '' } }],
        }),
        chunk(body.model, { tool_calls: [{ index: 0, function: { arguments: '{"day":' } }] }),
        chunk(body.model, { tool_calls: [{ index: 0, function: { arguments: '"Monday"}' } }] }),
        chunk(body.model, {}, 'tool_calls'),
      ]
    : [
        chunk(body.model, { role: 'assistant', content: '' }),
        ...words(ANSWER).map((content) => chunk(body.model, { content })),
        chunk(body.model, {}, 'stop'),
      ];
  if (body.stream_options?.include_usage)
    said.push(
      `data: ${JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1790000000,
        model: body.model,
        choices: [],
        usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 },
      })}\n\n`,
    );
  return [...said, 'data: [DONE]\n\n'];
}

export const openai = {
  key: (request) => request.headers.authorization?.match(/^Bearer (.+)$/)?.[1],
  error: (status, message) => ({
    error: {
      message,
      type: status === 401 ? 'authentication_error' : 'invalid_request_error',
      param: null,
      code: null,
    },
  }),
  routes: {
    'POST /v1/chat/completions': async ({ body, response, fault, refuse }) => {
      const refusal = openaiRefusal(body);
      if (refusal) return refuse(400, refusal);
      if (body.stream) return stream(response, openaiEvents(body), fault);
      response.writeHead(200, { 'Content-Type': 'application/json' });
      return response.end(
        JSON.stringify({
          id: 'chatcmpl-1',
          object: 'chat.completion',
          created: 1790000000,
          model: body.model,
          choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: ANSWER } }],
        }),
      );
    },
    'POST /v1/embeddings': async ({ body, response, refuse }) => {
      const inputs = [body.input].flat();
      if (!body.model || inputs.length === 0 || inputs.some((input) => input === ''))
        return refuse(400, "'$.input' is invalid");
      const vectors = inputs.map((input) =>
        Array.from({ length: body.dimensions ?? 8 }, (_, i) => Math.sin(input.length + i)),
      );
      const encode = (vector) =>
        body.encoding_format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
      response.writeHead(200, { 'Content-Type': 'application/json' });
      return response.end(
        JSON.stringify({
          object: 'list',
          model: body.model,
          usage: { prompt_tokens: 3, total_tokens: 3 },
          data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) })).reverse(),
        }),
      );
    },
  },
};

/* Anthropic. */

const event = (type, rest) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

function anthropicRefusal(body, request) {
  if (!request.headers['anthropic-version']) return 'anthropic-version: header is required';
  if (!body.model) return 'model: Field required';
  if (!Number.isInteger(body.max_tokens)) return 'max_tokens: Field required';
  if (!Array.isArray(body.messages) || body.messages[0]?.role !== 'user')
    return 'messages: first message must use the "user" role';
  if (body.temperature > 1) return 'temperature: range: 0..1';
  const calls = new Set();
  for (const message of body.messages) {
    if (!['user', 'assistant'].includes(message.role)) return `messages: unexpected role "${message.role}"`;
    for (const block of Array.isArray(message.content) ? message.content : [{ type: 'text', text: message.content }]) {
      if (block.type === 'text' && !block.text) return 'messages: text content blocks must be non-empty';
      if (block.type === 'tool_use') calls.add(block.id);
      if (block.type === 'tool_result' && !calls.delete(block.tool_use_id))
        return `messages: unexpected tool_use_id ${block.tool_use_id}`;
    }
    if (message.role === 'user' && calls.size > 0)
      return 'messages: tool_use ids were found without tool_result blocks immediately after';
  }
  return null;
}

function anthropicEvents(body) {
  const isAnswered = JSON.stringify(body.messages).includes('"tool_result"');
  const calls = !isAnswered && body.tools?.some((tool) => tool.name === 'look_up');
  const start = event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 20, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    },
  });
  const block = (content) => event('content_block_start', { index: 0, content_block: content });
  const delta = (value) => event('content_block_delta', { index: 0, delta: value });
  const said = calls
    ? [
        block({ type: 'tool_use', id: 'toolu_1', name: 'look_up', input: {} }),
        delta({ type: 'input_json_delta', partial_json: '' }),
        delta({ type: 'input_json_delta', partial_json: '{"day": "Mon' }),
        delta({ type: 'input_json_delta', partial_json: 'day"}' }),
      ]
    : [
        block({ type: 'text', text: '' }),
        event('ping', {}),
        ...words(ANSWER).map((text) => delta({ type: 'text_delta', text })),
      ];
  return [
    start,
    ...said,
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 12 },
    }),
    event('message_stop', {}),
  ];
}

export const anthropic = {
  key: (request) => request.headers['x-api-key'] ?? request.headers.authorization?.match(/^Bearer (.+)$/)?.[1],
  error: (status, message) => ({
    type: 'error',
    error: {
      type:
        { 401: 'authentication_error', 429: 'rate_limit_error', 503: 'overloaded_error' }[status] ??
        'invalid_request_error',
      message,
    },
  }),
  routes: {
    'POST /v1/messages': async ({ request, body, response, fault, refuse }) => {
      const refusal = anthropicRefusal(body, request);
      if (refusal) return refuse(400, refusal);
      if (!body.stream) return refuse(400, 'this stand-in streams only');
      return stream(response, anthropicEvents(body), fault);
    },
  },
};
