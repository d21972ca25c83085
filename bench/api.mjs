#!/usr/bin/env node
/* What requests cost: wrk with 64 connections against the real service, on SQLite and PostgreSQL, beside a bare /healthz in the same
 * run. Prints a table: requests a second, p50 and p99, CPU microseconds of the service a request, memory after it.
 *   bench/api [--seconds 10] [--runs 5] [--database sqlite|postgresql] */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { makeWorkspace, startService } from '../tests/harness/service.mjs';

const run = promisify(execFile);
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' }, runs: { type: 'string', default: '5' }, database: { type: 'string' } } });
const TICKS = 100; /* of a second, as /proc counts CPU time */
const standins = Object.fromEntries(['STT', 'TTS', 'LLM'].map((kind) => [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true']));

const cpuSeconds = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
};
const memoryMb = (pid) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) / 1024;
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const spread = (list) => `${Math.min(...list).toFixed(0)}-${Math.max(...list).toFixed(0)}`;

/* wrk's own script: what is asked for, and a last line for us. */
function script(dir, name, lua) {
  const path = join(dir, `${name}.lua`);
  writeFileSync(path, `${lua}
done = function(summary, latency)
  print(string.format("RESULT %d %d %.1f %.1f %d", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), summary.errors.status))
end\n`);
  return path;
}

const get = (key) => `wrk.headers["Authorization"] = "Bearer ${key}"`;
/* Each connection's thread starts a call, then ends it. */
const startAndEnd = (key, agent) => `
local id = nil
wrk.headers["Authorization"] = "Bearer ${key}"
wrk.headers["Content-Type"] = "application/json"
request = function()
  if id then local path = "/v1/calls/" .. id .. "/end"; id = nil; return wrk.format("POST", path) end
  return wrk.format("POST", "/v1/calls", nil, '{"agentId":"${agent}"}')
end
response = function(status, headers, body) if status == 201 then id = string.match(body, '"callId":"([^"]+)"') end end`;

async function measure(service, path, lua, connections) {
  const pid = service.child.pid;
  const cpu = cpuSeconds(pid);
  const threads = connections === 64 ? 1 : connections; /* a script's state is its thread's */
  const { stdout } = await run('wrk', ['-t', String(threads), '-c', String(connections), '-d', `${values.seconds}s`, '-s', lua, `${service.url}${path}`]);
  const [, requests, durationUs, p50, p99, errors] = stdout.match(/RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/).map(Number);
  return { perSecond: requests / (durationUs / 1e6), p50: p50 / 1000, p99: p99 / 1000, cpu: ((cpuSeconds(pid) - cpu) / requests) * 1e6, errors };
}

async function bench(database) {
  const service = await startService({ database, env: { EARSHOT_RATE_LIMIT: '0', EARSHOT_LOG_LEVEL: 'error', ...standins } });
  const dir = mkdtempSync(join(tmpdir(), 'earshot-bench-'));
  const { api, key } = await makeWorkspace(service, { balance: 100000, calls: 1000 });
  const voice = { provider: 'standin-tts' }, stt = { provider: 'standin-stt' }, llm = { provider: 'standin-llm' };
  const agents = [];
  for (let i = 0; i < 100; i++) agents.push((await api('POST', '/v1/agents', { name: `Agent ${i}`, greetingMode: 'none', voice, stt, llm })).body.agent.id);
  const rows = [
    ['/healthz', '/healthz', script(dir, 'health', ''), 64],
    ['get agent', `/v1/agents/${agents[0]}`, script(dir, 'get', get(key)), 64],
    ['list agents (100)', '/v1/agents', script(dir, 'list', get(key)), 64],
    ['start call, end call', '/v1/calls', script(dir, 'calls', startAndEnd(key, agents[0])), 16],
  ];
  for (const [name, path, lua, connections] of rows) {
    const results = [];
    for (let i = 0; i < Number(values.runs); i++) results.push(await measure(service, path, lua, connections));
    const of = (field) => results.map((result) => result[field]);
    console.log(`| ${database} | ${name} | ${median(of('perSecond')).toFixed(0)} (${spread(of('perSecond'))}) | ${median(of('p50')).toFixed(2)} | `
      + `${median(of('p99')).toFixed(2)} | ${median(of('cpu')).toFixed(0)} | ${memoryMb(service.child.pid).toFixed(0)} | ${of('errors').reduce((a, b) => a + b)} |`);
  }
  await service.close();
}

console.log('| Database | Request | a second (spread) | p50 ms | p99 ms | CPU us a request | RSS MB after | errors |\n|---|---|---|---|---|---|---|---|');
for (const database of values.database ? [values.database] : ['sqlite', 'postgresql']) await bench(database);
