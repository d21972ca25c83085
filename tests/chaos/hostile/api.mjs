/* Hostile tenants at the API. A row: name, what of the service it means to spoil (`aims`), and what it does in one
 * round; rounds follow each other until the wave is over. The context is in hostile.mjs. */
import { randomUUID } from 'node:crypto';

const WIDE = '\u{1f600}'; // four bytes
const engines = {
  voice: { provider: 'standin-tts' },
  stt: { provider: 'standin-stt' },
  llm: { provider: 'standin-llm' },
};
const all = (count, act) => Promise.all(Array.from({ length: count }, async (_, n) => act(n)));

async function agentWith(context, fields) {
  const { body } = await context.api('POST', '/v1/agents', {
    name: 'Hostile',
    greetingMode: 'none',
    ...engines,
    ...fields,
  });
  return body?.agent ?? null;
}

async function forget(context, agent) {
  if (agent) await context.api('DELETE', `/v1/agents/${agent.id}`);
}

const hugeTool = (n, url) => ({
  name: `huge_${n}`,
  description: 'd'.repeat(5000),
  url,
  params: Array.from({ length: 50 }, (_, p) => ({ key: `k${p}`, value: WIDE.repeat(1000) })),
});

export default [
  {
    name: 'huge tools',
    aims: 'the arena of a call that starts',
    async round(context) {
      const agent = await agentWith(context, {});
      if (!agent) return;
      await all(20, (n) => context.api('PATCH', `/v1/agents/${agent.id}`, { tools: [hugeTool(n, context.far.tool)] }));
      await all(3, () => context.api('POST', '/v1/calls', { agentId: agent.id }));
      await forget(context, agent);
    },
  },

  {
    name: 'big lists',
    aims: 'the writer and the memory of answers',
    async round(context) {
      context.state.bigAgent ??= await agentWith(context, { systemInstruction: 'x'.repeat(25000) });
      if (!context.state.bigAgent) return;
      await all(3, () =>
        context.api('POST', '/v1/tools', {
          ...hugeTool(context.random.under(1e6), context.far.tool),
          agentId: context.state.bigAgent.id,
        }),
      );
      await all(8, (n) => context.api('GET', n % 2 ? '/v1/agents' : '/v1/tools'));
    },
  },

  {
    name: 'reserved headers',
    aims: 'the framing of requests on shared connections',
    async round(context) {
      for (const authKeyHeader of [
        'Content-Length',
        'Transfer-Encoding',
        'Host',
        'connection',
        'Expect',
        'Proxy-Authorization',
        'X-Service-Test-Call',
      ]) {
        const { status, body } = await context.api('POST', '/v1/tools', {
          name: 'smuggler',
          description: 'd',
          url: context.far.tool,
          auth: 'api_key',
          authToken: '5',
          authKeyHeader,
        });
        if (status === 201) {
          context.report('reserved header names are refused', `authKeyHeader ${authKeyHeader} was saved`);
          await context.api('POST', `/v1/tools/${body.tool.id}/test`, { params: {} });
        }
      }
    },
  },

  {
    name: 'names that hang',
    aims: 'the threads that resolve names',
    async round(context) {
      await all(24, async () => {
        const { body } = await context.api('POST', '/v1/tools', {
          name: `h${context.random.under(1e9)}`,
          description: 'd',
          url: `http://${randomUUID()}.hang.test/`,
          timeoutMs: 5000,
        });
        if (!body?.tool) return;
        await context.api('POST', `/v1/tools/${body.tool.id}/test`, {});
        await context.api('DELETE', `/v1/tools/${body.tool.id}`);
      });
    },
  },

  {
    name: 'https tools before calls',
    aims: 'the loop on which TLS connections are made',
    async round(context) {
      const agent = await agentWith(context, {
        tools: Array.from({ length: 50 }, (_, n) => ({
          name: `t${n}`,
          description: 'd',
          kind: 'before_call',
          timeoutMs: 500,
          url: `https://h${n}.good.test:${new URL(context.far.tool).port}/`,
        })),
      });
      if (agent) await all(2, () => context.api('POST', '/v1/calls', { agentId: agent.id }));
      await forget(context, agent);
    },
  },

  {
    name: 'slow tools',
    aims: 'the connections and threads of tool runs',
    async round(context) {
      context.state.slowTool ??= (
        await context.api('POST', '/v1/tools', { name: 'slow', description: 'd', url: `${context.far.tool}?ms=4000` })
      ).body?.tool;
      if (context.state.slowTool)
        await all(60, () => context.api('POST', `/v1/tools/${context.state.slowTool.id}/test`, {}));
    },
  },

  {
    name: 'mute receivers',
    aims: 'the delivery of others',
    async round(context) {
      const { mute } = context.far;
      context.state.hooks ??= await all(6, async (n) =>
        context.api('POST', '/v1/webhooks', { url: `${mute}/${n}`, events: ['*'] }),
      );
      const agent = (context.state.muteAgent ??= await agentWith(context, { webhookUrl: `${mute}/agent` }));
      if (!agent) return;
      await all(10, async () => {
        const { body } = await context.api('POST', '/v1/calls', {
          agentId: agent.id,
          webhooks: Array.from({ length: 10 }, (_, n) => ({ url: `${mute}/call${n}` })),
        });
        if (body?.callId) await context.api('POST', `/v1/calls/${body.callId}/end`);
      });
    },
  },

  {
    name: 'subscription churn',
    aims: 'the outbox and its receivers',
    async round(context) {
      const { body } = await context.api('POST', '/v1/webhooks', {
        url: `${context.far.mute}/churn`,
        events: ['call.ended'],
      });
      const id = body?.webhook?.id;
      if (!id) return;
      await all(8, (n) =>
        context.api('PATCH', `/v1/webhooks/${id}`, n % 2 ? { rotateSecret: true } : { enabled: n % 4 === 0 }),
      );
      await all(4, () => context.api('POST', `/v1/webhooks/${id}/test`));
      await context.api('DELETE', `/v1/webhooks/${id}`);
    },
  },

  {
    name: 'idempotency storm',
    aims: 'the answers kept for a key',
    async round(context) {
      const key = randomUUID();
      const answers = [];
      await all(40, async (n) =>
        answers.push(
          await context.api(
            'POST',
            '/v1/tools',
            { name: `i${n % 2}`, description: 'd'.repeat(5000), url: context.far.tool },
            { 'Idempotency-Key': n % 4 ? key : randomUUID() },
          ),
        ),
      );
      for (const { body } of answers)
        if (body?.tool) await context.api('DELETE', `/v1/tools/${body.tool.id}`).catch(() => {});
    },
  },

  {
    name: 'embed storm',
    aims: 'the calls and addresses of publishable keys',
    async round(context) {
      const agent = (context.state.embedAgent ??= await agentWith(context, { embed: { enabled: true } }));
      if (agent)
        await all(30, (n) =>
          context.as(agent.publicKey)(
            'POST',
            '/v1/embed/calls',
            { variables: { x: 'y'.repeat(5000) } },
            { Origin: 'http://page.test', 'Idempotency-Key': n % 3 ? `k${n % 5}` : randomUUID() },
          ),
        );
    },
  },

  {
    name: 'calls nobody joins',
    aims: 'rooms and loops',
    async round(context) {
      const agent = (context.state.plainAgent ??= await agentWith(context, {}));
      if (agent)
        await all(20, () => context.api('POST', '/v1/calls', { agentId: agent.id, participant: { ttlSeconds: 30 } }));
    },
  },

  {
    name: 'documents',
    aims: 'the threads that read and index',
    async round(context) {
      const ids = [];
      await all(6, async (n) => {
        const { body } = await context.api('POST', '/v1/knowledge/documents', {
          name: `d${n}`,
          text: `${randomUUID()} `.repeat(5000),
        });
        if (body?.document) ids.push(body.document.id);
      });
      if (!ids.length) return;
      await all(20, () =>
        context.api('POST', '/v1/knowledge/search', { documentIds: ids, query: 'a e i o u '.repeat(30).slice(0, 300) }),
      );
      await all(ids.length, (n) => context.api('DELETE', `/v1/knowledge/documents/${ids[n]}`));
    },
  },

  {
    name: 'lost updates',
    aims: 'rows that several write',
    async round(context) {
      const agent = await agentWith(context, {});
      if (!agent) return;
      const names = Array.from({ length: 12 }, (_, n) => `tool_${n}`);
      const made = await Promise.all(
        names.map((name) =>
          context
            .api('PATCH', `/v1/agents/${agent.id}`, { tools: [{ name, description: 'd', url: context.far.tool }] })
            .catch(() => ({})),
        ),
      );
      const saved = names.filter((_, n) => made[n].status === 200);
      const { status, body } = await context.api('GET', `/v1/agents/${agent.id}`);
      const lost = status === 200 ? saved.filter((name) => !body.agent.tools.some((tool) => tool.name === name)) : [];
      if (lost.length)
        context.report('writes are kept', `${lost.length} of ${saved.length} tools saved at once are lost`);
      await forget(context, agent);
    },
  },

  {
    name: 'paths and texts',
    aims: 'parsers',
    async round(context) {
      const { random } = context;
      const texts = [
        '\u0000',
        '\ud800',
        '\u202e',
        WIDE.repeat(5000),
        '../'.repeat(50),
        '{{'.repeat(3000),
        '%s%n',
        '"}],',
      ];
      await all(20, () =>
        context.api(
          random.pick(['POST', 'PATCH', 'GET', 'PUT', 'DELETE']),
          `/v1/${random.pick(['agents', 'tools', 'calls', 'webhooks', 'knowledge/documents'])}/` +
            encodeURIComponent(random.pick(texts).toWellFormed?.() ?? 'x').slice(0, 2000),
        ),
      );
      await all(20, () =>
        context.api('POST', '/v1/agents', {
          name: random.pick(texts).slice(0, 100),
          systemInstruction: random.pick(texts),
          greetingText: random.pick(texts),
          variables: { v: { defaultValue: random.pick(texts) } },
        }),
      );
    },
  },
];
