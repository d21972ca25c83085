/* The chaos test: the real service, in a sanitizer's build, with well-behaved tenants whose callers talk in real
 * rooms, beside hostile ones, and under faults. What the well-behaved ones see is compared with a quiet time
 * before, in the same run.
 *
 *     SECONDS=60 SEED=7 SIDES=asan:sqlite,tsan:postgresql ONLY='huge tools,names that hang' \
 *         FAULTS='SIGKILL and restart' node tests/chaos/run.mjs
 *
 *     quiet ........ hostile, in waves ........ hostile and faults ........ settled, and looked at
 *
 * One side is one service: a build and a database. HOURS=8: sides follow each other for so long, each with another
 * seed. A run is repeated by its seed (the random choices are; the machine's timing is not). Everything that may
 * not be is said with what was active then; the last line is `N passed, N failed`, an invariant being one test. */
import { setTimeout as sleep } from 'node:timers/promises';
import { behaviours } from './hostile.mjs';
import { possible } from './faults.mjs';
import { everyCall, invariants, strangers } from './invariants.mjs';
import { compare, HELD_MS, Measure, slowest, watchMachine } from './measure.mjs';
import { memoryMb, othersDuring } from './proc.mjs';
import { randomFrom } from './random.mjs';
import { openStage } from './stage.mjs';

process.env.ASAN_OPTIONS ??= 'detect_leaks=1:exitcode=99:detect_stack_use_after_return=0';
process.env.UBSAN_OPTIONS ??= 'print_stacktrace=1:halt_on_error=1:exitcode=99';
process.env.TSAN_OPTIONS ??= 'halt_on_error=1:second_deadlock_stack=1:exitcode=99';

/* What each build carries beside the tests' own work on two cores. pace: the tenants' pauses, and the times that are
 * too short to be told from the machine's, are so much longer: one piece of work takes longer as well. */
const builds = {
  plain: { build: 'build', tenants: 35, hostile: 5, callers: 16, pace: 1 },
  asan: { build: 'build-asan', tenants: 35, hostile: 5, callers: 8, pace: 1.5 },
  tsan: { build: 'build-tsan', tenants: 35, hostile: 5, callers: 4, pace: 4 },
};
const WARM_UP_MS = 4000,
  WAVE_MS = 6000,
  IN_A_WAVE = 4,
  AFTER_FAULT_MS = 4000,
  AFTER_HELD_MS = 1000,
  RECOVERY_MS = 180000, // this and the next are for what never happens, on whatever machine
  SETTLE_MS = 180000,
  STOP_MS = 25000;
const OTHERS_MOST = 0.25; // of the cores: with more of them gone, times tell of the machine and not of the service
const MEMORY_ROOM_MB = 900; // a sanitizer's quarantine fills up meanwhile

const seconds = Number(process.env.SECONDS ?? 60);
const hours = Number(process.env.HOURS ?? 0);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
const only = process.env.ONLY?.split(',').map((name) => name.trim());
const onlyFaults = process.env.FAULTS?.split(',')
  .map((name) => name.trim())
  .filter(Boolean);
const sides = (process.env.SIDES ?? 'asan:sqlite').split(',').map((side) => {
  const [build, database] = side.split(':');
  return { name: side, ...builds[build], database };
});

/* One side: what is active, what was wrong. */
class Run {
  constructor(side, seed) {
    Object.assign(this, {
      side,
      seed,
      random: randomFrom(seed),
      measure: new Measure(),
      began: Date.now(),
      active: new Set(),
      broken: new Map(),
      excuses: [],
    });
    this.report = this.report.bind(this);
    this.isExcused = this.isExcused.bind(this);
  }

  say(text) {
    console.log(`[${((Date.now() - this.began) / 1000).toFixed(1)} s] ${text}`);
  }

  report(invariant, text) {
    const list = this.broken.get(invariant) ?? this.broken.set(invariant, []).get(invariant);
    list.push(text);
    if (list.length <= 5) this.say(`BROKEN ${invariant}: ${text}; active: ${[...this.active].join(', ') || 'nothing'}`);
  }

  /* Was the service at fault, by us, at any time since (performance.now())? */
  isExcused(since = performance.now()) {
    return this.excuses.some(({ from, to }) => to >= since && from <= performance.now());
  }

  async excused(name, act) {
    const excuse = { from: performance.now(), to: Infinity };
    this.excuses.push(excuse);
    this.active.add(name);
    try {
      await act();
    } finally {
      excuse.to = performance.now() + AFTER_FAULT_MS;
      this.active.delete(name);
    }
  }

  /* The machine gave us no core; as little is promised as under a fault. */
  held(from, to) {
    this.heldMs = (this.heldMs ?? 0) + to - from;
    this.excuses.push({ from, to: to + AFTER_HELD_MS });
    this.say(`this process had no core for ${(to - from).toFixed(0)} ms: what falls in that time is not judged`);
  }

  async wave(stage, ms, { withFault = false } = {}) {
    const wanted = behaviours.filter(({ name }) => !only || only.includes(name)).map(({ name }) => name);
    this.queue =
      this.queue?.length >= IN_A_WAVE ? this.queue : [...(this.queue ?? []), ...this.random.shuffled(wanted)];
    const names = [...new Set(this.queue.splice(0, IN_A_WAVE))];
    for (const name of names) this.active.add(name);
    this.say(`wave: ${names.join(', ') || 'none'}`);
    stage.enemies.attack(names);
    await sleep(ms / 2);
    if (withFault) await this.fault(stage);
    await sleep(ms / 2);
    await stage.enemies.calm();
    for (const name of names) this.active.delete(name);
    this.memoryMb = Math.max(this.memoryMb ?? 0, memoryMb(stage.service.child.pid));
  }

  async fault(stage) {
    const rows = possible(stage).filter(({ name }) => !onlyFaults || onlyFaults.includes(name));
    this.faults = this.faults?.length ? this.faults : this.random.shuffled(rows);
    const fault = this.faults.pop();
    if (!fault) return;
    this.say(`fault: ${fault.name}`);
    await this.excused(fault.name, async () => {
      await fault.inject(stage, this.random);
      await this.recovers(stage);
    });
  }

  /* A write succeeds again. */
  async recovers(stage) {
    const [tenant] = stage.tenants,
      from = Date.now();
    for (;;) {
      await stage.service.postgres?.revive(); // a server that cannot write its log ends itself, soon or later
      const { answer, error } = await tenant.ask('POST', '/v1/knowledge/search', {
        documentIds: [tenant.document.id],
        query: 'open',
      });
      const wrote =
        answer?.status === 200 &&
        (await tenant.ask('PATCH', `/v1/agents/${tenant.agent.id}`, { greetingInstruction: String(from) }));
      if (wrote?.answer?.status === 200) break;
      if (Date.now() - from > RECOVERY_MS) {
        this.report('it recovers', `not within ${RECOVERY_MS} ms: ${error ?? answer?.status}`);
        break;
      }
      await sleep(100);
    }
    this.say(`recovered after ${Date.now() - from} ms`);
  }
}

async function phases(run, stage) {
  const share = (part) => seconds * 1000 * part;
  for (const tenant of stage.tenants) tenant.working = tenant.work();
  await sleep(WARM_UP_MS);
  run.measure.phase = 'quiet';
  const others = [await othersDuring(() => sleep(share(0.25)))];
  const quietMb = memoryMb(stage.service.child.pid);
  run.measure.phase = 'hostile';
  others.push(await othersDuring(async () => {
    for (const end = Date.now() + share(0.4); Date.now() < end;) await run.wave(stage, WAVE_MS);
  }));
  run.measure.phase = null;
  const { lines, broken } = compare(run.measure, 'quiet', 'hostile', run.side.pace);
  for (const line of lines) run.say(line);
  run.say(`memory: quiet ${quietMb.toFixed(0)} MB, hostile ${run.memoryMb.toFixed(0)} MB`);
  run.say(`slowest: ${slowest(run.measure, 'hostile')}`);
  const percents = others.map((part) => `${(100 * part).toFixed(0)} %`).join(' and ');
  const isJudged = Math.max(...others) <= OTHERS_MOST;
  run.say(`other programs had ${percents} of the cores${isJudged ? '' : ': times are not judged'}`);
  for (const line of isJudged ? broken : []) run.report('others are not slowed', line);
  if (run.memoryMb > quietMb + MEMORY_ROOM_MB)
    run.report('memory has a ceiling', `${quietMb.toFixed(0)} MB became ${run.memoryMb.toFixed(0)} MB`);
  for (const end = Date.now() + share(0.35); Date.now() < end;) await run.wave(stage, WAVE_MS / 2, { withFault: true });
}

/* Everybody leaves, and what is under way comes to its end. */
async function settle(run, stage) {
  const isHushed = await Promise.race([stage.callers.hush().then(() => true), sleep(SETTLE_MS)]);
  if (!isHushed) run.report('every caller can hang up', `not within ${SETTLE_MS} ms`);
  for (const tenant of stage.tenants) tenant.isOver = true;
  await Promise.all(stage.tenants.map((tenant) => tenant.working));
  const subjects = [
    ...stage.tenants.map((tenant) => ({ who: `tenant ${tenant.number}`, api: tenant.workspace.api, tenant })),
    ...stage.hostile.map((workspace, n) => ({ who: `hostile ${n}`, api: workspace.api })),
  ];
  const deadline = Date.now() + SETTLE_MS;
  for (const subject of subjects) {
    await endAll(subject);
    while ((await faultsOf(subject)).length && Date.now() < deadline) {
      await sleep(500);
      await endAll(subject);
    }
  }
  return subjects;
}

/* Asks for the end of what nobody has joined; again when it was asked too early. */
async function endAll(subject) {
  for (const call of await everyCall(subject.api))
    if (call.status !== 'ended' && !subject.tenant?.calls.get(call.id)?.isJoined)
      await subject.api('POST', `/v1/calls/${call.id}/end`);
}

/* What does not hold yet: a call may be about to end, an event to be told for the second time. */
async function faultsOf(subject) {
  subject.calls = await everyCall(subject.api);
  const found = [];
  for (const { name, check } of [...invariants, ...(subject.tenant ? [strangers] : [])])
    for (const text of await check(subject)) found.push([name, `${subject.who}: ${text}`]);
  return found;
}

async function look(run, subjects) {
  for (const subject of subjects) for (const [name, text] of await faultsOf(subject)) run.report(name, text);
  const calls = subjects.flatMap((subject) => subject.calls);
  const events = subjects.reduce((sum, { tenant }) => sum + (tenant?.events.size ?? 0), 0);
  const rejoins = subjects.reduce((sum, { tenant }) => sum + (tenant?.rejoins ?? 0), 0);
  run.say(
    `${calls.length} calls, ${calls.filter((call) => call.userJoinedAt).length} joined, ${rejoins} sessions ` +
    `taken over, ${events} events of well-behaved tenants`,
  );
}

/* It ends when it is asked to, and starts again. */
async function stopAndStart(run, stage) {
  const from = Date.now();
  const exit = await stage.service.stop('SIGTERM');
  run.say(`ended after ${Date.now() - from} ms`);
  if (Date.now() - from > STOP_MS) run.report('it ends when it is asked to', `after ${Date.now() - from} ms`);
  if (exit.code !== 0) run.report('it ends well', JSON.stringify(exit));
  await stage.service.restart();
}

async function runSide(side, sideSeed) {
  const run = new Run(side, sideSeed);
  console.log(`side ${side.name}, SEED=${sideSeed}, ${seconds} s`);
  let stage = null;
  const unwatch = watchMachine(run.measure, (from, to) => {
    run.held(from, to);
    stage?.stills.push({ from, seconds: (to - from) / 1000 });
  });
  try {
    stage = await openStage({
      side,
      seed: sideSeed,
      measure: run.measure,
      report: run.report,
      isExcused: run.isExcused,
    });
    run.say(`${side.tenants} tenants, ${side.hostile} hostile, ${side.callers} callers`);
    await phases(run, stage);
    const subjects = await settle(run, stage);
    await look(run, subjects);
    if (stage.held.size)
      run.say(`callers of ${stage.held.size} calls had no core for ${HELD_MS} ms: these calls are not judged`);
    await stopAndStart(run, stage);
  } catch (error) {
    run.report('the test itself goes through', `${error.stack}\ncause: ${error.cause?.stack ?? 'none'}`);
  }
  unwatch();
  await stage?.close().catch((error) => run.report('it ends well', error.stack));
  for (const [invariant, list] of run.broken)
    console.log(`FAIL ${side.name} SEED=${sideSeed} ${invariant}: ${list.length} times, first: ${list[0]}`);
  return run.broken.size;
}

// and those that are looked at on the way
const inAll = new Set([...invariants, strangers].map(({ name }) => name)).size + 12;
let passed = 0,
  failed = 0;
const end = Date.now() + hours * 3600000;
for (let n = 0; n < sides.length || Date.now() < end; n++) {
  const broken = await runSide(sides[n % sides.length], seed + Math.floor(n / sides.length));
  failed += broken;
  passed += inAll - broken;
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
