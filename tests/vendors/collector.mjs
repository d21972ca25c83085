/* Two collectors of traces: one that reads them by opentelemetry-proto, strictly (otlp_collector.py), and the
   OpenTelemetry Collector, made of its own Go modules (otelcol/). And what a call's trace must be. */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from '../harness/port.mjs';
import { until } from '../harness/service.mjs';
import { installClients, python } from './install.mjs';

const run = promisify(execFile);
const source = new URL('otelcol/', import.meta.url).pathname;
const otelcol = new URL('../../build/otelcol/collector', import.meta.url).pathname;

/* A program that prints a line for each span. */
function startPrinter(program, args) {
  const lines = [], child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { lines, close: () => child.kill() };
}

export async function startCollector() {
  await installClients();
  const { lines, close } = startPrinter(python, [new URL('otlp_collector.py', import.meta.url).pathname]);
  const port = await until(() => lines[0], { what: 'the collector' });
  return { url: `http://127.0.0.1:${port}`, spans: () => lines.slice(1).map((line) => JSON.parse(line)), close };
}

/* Why the OpenTelemetry Collector cannot be had here; nothing when it can: it is built then, half a minute at first. */
export async function buildOtelcol() {
  if (spawnSync('go', ['version']).status !== 0) return 'go is not installed';
  const options = { cwd: source, env: { ...process.env, GOTOOLCHAIN: 'local' }, timeout: 600000 };
  try {
    await run('go', ['mod', 'download'], options);
  } catch (error) {
    return `its modules cannot be fetched: ${error.stderr.split('\n')[0]}`;
  }
  await run('nice', ['go', 'build', '-o', otelcol, '.'], options);
}

const isOpen = (port) => new Promise((answer) => {
  const socket = connect(port, '127.0.0.1', () => answer(socket.end() && true));
  socket.on('error', () => answer(false));
});

export async function startOtelcol() {
  const port = await freePort(), { lines, close } = startPrinter(otelcol, [`127.0.0.1:${port}`]);
  await until(() => isOpen(port), { what: 'the OpenTelemetry Collector' });
  return { url: `http://127.0.0.1:${port}`, spans: () => lines.map((line) => JSON.parse(line)), close };
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
