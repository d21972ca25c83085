/* Hostile callers in rooms of their own (tests/chaos/caller.c), and agents whose model misbehaves. The rows are as
 * in api.mjs. */
const engines = { voice: { provider: 'standin-tts' }, stt: { provider: 'standin-stt' } };

async function agentOf(context, name, fields = {}) {
  context.state[name] ??= (
    await context.api('POST', '/v1/agents', {
      name,
      greetingMode: 'none',
      ...engines,
      llm: { provider: 'standin-llm' },
      ...fields,
    })
  ).body?.agent;
  return context.state[name];
}

/* Callers of that manner for the rest of the wave. */
const crowd = (name, aims, manner, count, fields) => ({
  name,
  aims,
  async round(context) {
    const agent = await agentOf(context, name, fields);
    if (agent) await context.callers(Array(count).fill([agent.id, manner]));
  },
});

const withModel = (model) => ({
  llm: { provider: 'openai', model },
  tools: [{ name: 'look', description: 'looks', url: 'http://127.0.0.1:9/' }],
});

export default [
  crowd('callers who barge in', 'fetches that are cancelled as their answer comes', 'barger', 2, withModel('late')),
  crowd('poisonous typed texts', 'records that cannot be written', 'poisoner', 1),
  crowd('typed floods', 'model requests', 'typist', 1, withModel('good')),
  crowd('joins and leaves', 'rooms that come and go', 'hasty', 3),
  crowd('a model that always calls tools', 'requests without end', 'polite', 1, withModel('looping')),
  crowd('a model that refuses names', 'what is learned for others', 'polite', 1, withModel('refusing')),
  crowd('a model that fails', 'the pauses before another attempt', 'polite', 1, withModel('failing')),
  crowd('a model that says too much', 'the memory of a reply', 'lively', 1, withModel('flood')),
  crowd('a model that breaks off', 'streams cut in a word', 'lively', 1, withModel('cut')),
  crowd('a model of garbage', 'the parser of streams', 'polite', 1, withModel('garbage')),
  crowd('a model that never answers', 'deadlines', 'polite', 1, withModel('mute')),
  crowd('a model without a reason', 'texts of errors', 'polite', 1, withModel('empty')),
  crowd('a model that limits', 'pauses asked for by others', 'polite', 1, withModel('limited')),
  crowd('a model that is slow', 'replies begun and never ended', 'barger', 1, withModel('slow')),
];
