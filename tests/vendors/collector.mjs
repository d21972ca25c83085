/* A collector of traces that reads them by opentelemetry-proto, strictly (otlp_collector.py), and what a call's trace
   must be. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { until } from '../harness/service.mjs';
import { installClients, python } from './install.mjs';

export async function startCollector() {
  await installClients();
  const lines = [], script = new URL('otlp_collector.py', import.meta.url).pathname;
  const program = spawn(python, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: program.stdout }).on('line', (line) => lines.push(line));
  const port = await until(() => lines[0], { what: 'the collector' });
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => lines.slice(1).map((line) => JSON.parse(line)),
    close: () => program.kill(),
  };
}

const STEPS = ['endpoint', 'speech', 'first_packet'];

/* The call is the root, its answers are spans below it, their steps spans below those. They come one after another. */
export async function checkTrace(collector, call, model) {
  const found = () => collector.spans().find((span) => span.fault || !span.parent);
  const root = await until(found, { what: 'the trace' }), trace = call.id.replaceAll('-', '');
  assert.equal(root.fault, undefined);
  assert.deepEqual([root.name, root.trace, root.kind], ['invoke_agent', trace, 'SPAN_KIND_INTERNAL']);
  assert.equal(root.attributes['gen_ai.operation.name'], 'invoke_agent');
  assert.equal(root.attributes['gen_ai.agent.id'], call.agentId);
  assert.equal(root.attributes['gen_ai.conversation.id'], call.id);
  assert.equal(root.resource['service.name'], 'earshot');
  const has = (spans, wanted) => spans.some(({ name }) => name.split(' ')[0] === wanted);
  const spans = await until(() => {
    const come = collector.spans();
    return ['turn', 'chat', ...STEPS].every((name) => has(come, name)) && come;
  }, { what: 'its spans' });
  assert.ok(spans.every((span) => span.trace === trace));
  const { timing } = call.transcript.find((one) => one.timing);
  const turn = spans.find((span) => span.name === 'turn');
  assert.equal(turn.parent, root.span);
  assert.ok(Math.abs(turn.ms - timing.firstPacketMs) < 1, `${turn.ms} and ${timing.firstPacketMs}`);
  const steps = spans.filter((span) => span.parent === turn.span);
  const chat = steps.find((span) => span.attributes['gen_ai.operation.name'] === 'chat');
  assert.ok(chat.name.startsWith('chat') && chat.kind === 'SPAN_KIND_CLIENT', JSON.stringify(chat));
  assert.equal(chat.attributes['gen_ai.provider.name'], model, JSON.stringify(chat));
  assert.deepEqual(STEPS.filter((name) => !steps.some((span) => span.name === name)), []);
}
