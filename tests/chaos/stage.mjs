/* The service under test with everything around it: far ends, tenants, callers in rooms, the hostile process. */
import { fork, spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { speechFile } from '../harness/browser.mjs';
import { adopt } from '../harness/faults.mjs';
import { freePort } from '../harness/port.mjs';
import { makeWorkspace, root, startService } from '../harness/service.mjs';
import { HELD_MS } from './measure.mjs';
import { modelNames, startModel, startNames, startReceiver, startTools } from './far.mjs';
import { randomFrom } from './random.mjs';
import { Tenant } from './tenant.mjs';
import { udpPorts } from './proc.mjs';
import { smallDisk } from './disk.mjs';

const LINE = 'Hello there, could you please tell me when you are open?';
const HOSTILE_NICE = 15;
const MANNERS = ['polite', 'restless', 'lively', 'polite'];
const CALLERS = join(root, 'build/tests/chaos/chaos_callers');

/* The wall clock of a sanitizer's build steps by what stands in this file (src/base/clock.c). */
function stepClock() {
  const dir = mkdtempSync(join(tmpdir(), 'earshot-clock-'));
  const path = join(dir, 'step');
  const file = openSync(path, 'w+');
  let ms = 0;
  const set = (value) => {
    ms = value;
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(file, bytes, 0, 8, 0);
  };
  set(0);
  return { path, set, get: () => ms, close: () => rmSync(dir, { recursive: true, force: true }) };
}

function settings(stage, port) {
  const standins = Object.fromEntries(
    ['STT', 'TTS', 'LLM'].flatMap((kind) => [
      [`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true'],
      [`EARSHOT_ENGINE_STANDIN_${kind}_DELAY_MS`, '50'],
    ]),
  );
  return {
    ...standins,
    EARSHOT_LISTEN: `127.0.0.1:${port}`,
    EARSHOT_RTC_BIND: '127.0.0.1',
    EARSHOT_RATE_LIMIT: '100000',
    EARSHOT_RATE_BURST: '10000',
    EARSHOT_SERVICE_DRAIN_GRACE: '2',
    EARSHOT_EGRESS_NAMESERVER: stage.names.address,
    EARSHOT_LOG_LEVEL: 'warn',
    EARSHOT_DOCUMENTS_PER_HOUR: '0',
    EARSHOT_ENGINE_OPENAI_URL: stage.model.url,
    EARSHOT_ENGINE_OPENAI_KEY: 'sk-engine-secret',
    EARSHOT_ENGINE_OPENAI_MODELS: modelNames.join(','),
    EARSHOT_ENGINE_OPENAI_MODEL: 'good',
    EARSHOT_TEST_CLOCK: stage.clock.path,
    ...stage.side.env,
  };
}

/* options: side ({ build, database, tenants, hostile, callers, pace }), seed, measure, report, isExcused. */
export async function openStage(options) {
  const { side } = options;
  const stage = { side, pace: side.pace, tenants: [], hostile: [], stills: [], held: new Set(), clock: stepClock() };
  stage.clockStepMs = stage.clock.get;
  stage.names = await startNames();
  stage.model = await startModel();
  stage.tools = await startTools();
  stage.receiver = await startReceiver((number, delivery) => stage.tenants[Number(number)]?.take(delivery));
  const port = await freePort();
  stage.disk = smallDisk('data');
  stage.postgresDisk = options.side.database === 'postgresql' ? smallDisk('postgres', 'postgres') : null;
  stage.service = await startService({
    binary: join(root, options.side.build, 'earshot'),
    data: stage.disk.path,
    database: options.side.database,
    postgresDir: stage.postgresDisk?.path,
    env: settings(stage, port),
  });
  for (let n = 0; n < options.side.tenants; n++)
    stage.tenants.push(
      new Tenant(n, await makeWorkspace(stage.service, { balance: 1000, calls: 20, name: `Good ${n}` }), {
        ...options,
        stage,
        random: randomFrom(options.seed + 1000 + n),
      }),
    );
  for (let n = 0; n < options.side.hostile; n++)
    stage.hostile.push(await makeWorkspace(stage.service, { balance: 1000, calls: 40, name: `Hostile ${n}` }));
  for (const tenant of stage.tenants) await tenant.settle();
  stage.wav = speechFile(LINE, { before: 0, after: 0.2 });
  stage.callers = startCallers(stage, options);
  stage.enemies = await startEnemies(stage, options);
  stage.close = () => close(stage);
  return stage;
}

async function close(stage) {
  stage.callers.child.kill('SIGKILL');
  stage.enemies.child.kill('SIGKILL');
  await stage.service.close();
  for (const part of [
    stage.names,
    stage.model,
    stage.tools,
    stage.receiver,
    stage.clock,
    stage.disk,
    stage.postgresDisk,
  ])
    part?.close();
}

/* Callers of the well-behaved tenants; what they write is kept with the tenant's calls and measured. */
function startCallers(stage, { side, seed, measure, isExcused, report }) {
  const child = spawn(CALLERS, ['--url', stage.service.url, '--wav', stage.wav, '--seed', String(seed)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  adopt(child);
  const owners = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const told = JSON.parse(line);
    take(stage.tenants[owners[told.caller]], told, { measure, isExcused, report });
  });
  for (let n = 0; n < side.callers; n++) {
    const tenant = stage.tenants[n % stage.tenants.length];
    owners.push(tenant.number);
    child.stdin.write(`call ${tenant.workspace.key} ${tenant.agent.id} ${MANNERS[n % MANNERS.length]}\n`);
  }
  let isHushed = false;
  const ended = new Promise((over) => child.once('exit', (code, signal) => over({ code, signal })));
  ended.then(({ code, signal }) => {
    if (!isHushed || code !== 0) report('the test itself goes through', `the callers ended: ${code ?? signal}`);
  });
  const hush = () => {
    isHushed = true;
    child.stdin.on('error', () => {}); // it has ended already, and that was told
    child.stdin.end('hush\n');
    return ended;
  };
  return { child, hush };
}

function take(tenant, told, { measure, isExcused, report }) {
  const call =
    told.call &&
    (tenant.calls.get(told.call) ?? tenant.calls.set(told.call, { since: performance.now() - told.ms }).get(told.call));
  const isHeld = told.heldMs > HELD_MS; // the callers had no core, and could not say or hear what they should
  const isFault = isHeld || isExcused(performance.now() - (told.ms ?? 0));
  if (isHeld) tenant.stage.held.add(told.call);
  if (call) call.isExcused = isHeld || isExcused(call.since);
  if (told.what === 'started' && !isFault) measure.add('start ms', told.ms);
  if (told.what === 'reply' && !isFault) measure.add('reply ms', told.ms);
  if (told.what === 'rejoined') tenant.rejoins = (tenant.rejoins ?? 0) + 1;
  if (told.what === 'rejoined' && !isFault) measure.add('rejoin ms', told.ms);
  if (told.what === 'unanswered' && !call.isExcused)
    report('questions are answered', `tenant ${tenant.number}: no reply within ${told.ms} ms in call ${told.call}`);
  if (told.what === 'refused' && !isFault && told.code === 'DISPATCH_FAILED')
    measure.add('full', told.ms); // a busy machine: counted, not judged
  else if (told.what === 'refused' && !isFault) {
    report(
      'requests succeed',
      `tenant ${tenant.number}: a call was refused: ${told.status} ${told.code} after ${told.ms} ms`,
    );
  }
  if (told.what !== 'over') return;
  /* Who leaves while the service stands still is heard when it goes on. */
  const stills = tenant.stage.stills.filter(({ from }) => from >= call.since);
  Object.assign(call, told, { isOver: true, stills });
  call.isExcused ||= told.isCut; // nobody says goodbye for a session that was not up: the call waits for its return
  if (call.isExcused || !told.isJoined) return;
  measure.add('audio worst ms', told.worstMs);
  if (told.isEnded)
    report('calls are not cut', `tenant ${tenant.number}: call ${told.call} ended by itself after ${told.seconds} s`);
}

/* The hostile process. */
async function startEnemies(stage, { seed, report }) {
  const child = fork(fileURLToPath(new URL('hostile.mjs', import.meta.url)), [], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  adopt(child);
  setPriority(child.pid, HOSTILE_NICE);
  const waiting = new Map();
  child.on('message', (message) => {
    if (message.report) report(message.report.invariant, message.report.text);
    for (const [word, done] of waiting)
      if (message[word]) {
        waiting.delete(word);
        done();
      }
  });
  const wait = (word) => new Promise((done) => waiting.set(word, done));
  const ready = wait('ready');
  child.send({
    setup: {
      url: stage.service.url,
      tool: stage.tools.url('nobody', 'tools.good.test'),
      callers: CALLERS,
      wav: stage.wav,
      rtcPorts: rtcPorts(stage.service),
      tenants: stage.hostile.map(({ key, workspaceId }) => ({ key, workspaceId })),
    },
  });
  await ready;
  let waves = 0;
  return {
    child,
    attack: (names) => child.send({ wave: names, seed: seed + waves++ }),
    calm: async () => {
      const calmed = wait('calmed');
      child.send({ calm: true });
      await calmed;
    },
  };
}

/* UDP ports that the service has open on loopback. */
function rtcPorts(service) {
  return udpPorts(service.child.pid);
}
