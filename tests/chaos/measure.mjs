/* Samples by phase and name, and what the phase with hostile tenants may be worse than the quiet one. */

export class Measure {
  constructor() {
    this.phase = null;
    this.samples = new Map(); // phase -> name -> numbers
  }

  add(name, value) {
    if (!this.phase) return;
    const names = this.samples.get(this.phase) ?? this.samples.set(this.phase, new Map()).get(this.phase);
    (names.get(name) ?? names.set(name, []).get(name)).push(value);
  }

  at(phase, name, quantile) {
    const values = [...(this.samples.get(phase)?.get(name) ?? [])].sort((a, b) => a - b);
    return values.length ? values[Math.min(values.length - 1, Math.floor(quantile * values.length))] : null;
  }

  count(phase, name) {
    return this.samples.get(phase)?.get(name)?.length ?? 0;
  }
}

/* Names with their quantiles: under hostile tenants each may be so many times what it was in the quiet part of the same
 * run. What shared fate costs is far more: a queue behind others' work is ten and a hundred times as long. */
export const limits = [
  { name: 'api ms', quantile: 0.5, ratio: 5 },
  { name: 'api ms', quantile: 0.95, ratio: 5 },
  { name: 'api ms', quantile: 0.99, ratio: 6 },
  { name: 'write ms', quantile: 0.95, ratio: 5 },
  { name: 'tool ms', quantile: 0.95, ratio: 5 },
  { name: 'start ms', quantile: 0.95, ratio: 5 },
  { name: 'rejoin ms', quantile: 0.95, ratio: 5 },
  { name: 'reply ms', quantile: 0.5, ratio: 3 },
  { name: 'reply ms', quantile: 0.95, ratio: 3 },
  { name: 'event late ms', quantile: 0.5, ratio: 5 },
  { name: 'event late ms', quantile: 0.95, ratio: 5 },
  { name: 'audio worst ms', quantile: 0.9, ratio: 5 },
];
const LEAST_MS = 50; // a shorter time, and the lateness of our own timers, is not told from the machine's
const LEAST_SAMPLES = 10;
const LEAST_BEYOND = 2; // samples of each phase at or above a quantile: of fewer it tells the luck of one answer
const FULL_MOST = 0.7; // of the calls that were asked for: a full node refuses, and a hostile tenant may not fill it

/* A process that was held up for longer had no core: what falls in that time says nothing of the service. */
export const HELD_MS = 1000;

/* How late this process's own timers come: what the machine adds to every sample. Each look that it missed counts as
 * well, as whatever else wanted a core then has waited too. onHeld(from, to): it got none for HELD_MS and longer. */
export function watchMachine(measure, onHeld) {
  const EVERY_MS = 50;
  let due = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    for (let late = Math.max(0, now - due); late >= 0; late -= EVERY_MS) measure.add('machine late ms', late);
    if (now - due > HELD_MS) onHeld(due - EVERY_MS, now);
    due = now + EVERY_MS;
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/* The operations that were slowest in a phase. */
export function slowest(measure, phase) {
  const names = [...(measure.samples.get(phase)?.keys() ?? [])].filter((name) => name.includes(' /'));
  const rows = names.map((name) => [name, measure.at(phase, name, 0.95), measure.count(phase, name)]);
  rows.sort((a, b) => b[1] - a[1]);
  return rows
    .slice(0, 4)
    .map(([name, ms, count]) => `${name} p95 ${ms.toFixed(0)} ms of ${count}`)
    .join('; ');
}

/* What counts as the quiet value: half of the worst ordinary one at least, as few samples scatter. */
const quietOf = (measure, phase, name, quantile, least) =>
  Math.max(measure.at(phase, name, quantile), measure.at(phase, name, 0.95) / 2, least);

/* The lines of the table, and the limits that were passed. pace: how much longer the build under test takes, for what
 * the hostile ones ask for as well: it has the cores that much longer, and the others wait for them. */
export function compare(measure, quiet, hostile, pace = 1) {
  const lines = [],
    broken = [];
  const noise = (phase, quantile) => measure.at(phase, 'machine late ms', quantile) ?? 0;
  const machine = (quantile) =>
    Math.max(1, Math.max(noise(hostile, quantile), LEAST_MS) / Math.max(noise(quiet, quantile), LEAST_MS));
  for (const { name, quantile, ratio } of limits) {
    const counts = [measure.count(quiet, name), measure.count(hostile, name)];
    if (Math.min(...counts) < Math.max(LEAST_SAMPLES, LEAST_BEYOND / (1 - quantile))) {
      lines.push(`${name} p${quantile * 100}: not told of so few (${counts.join(' and ')} samples)`);
      continue;
    }
    const [before, after] = [measure.at(quiet, name, quantile), measure.at(hostile, name, quantile)];
    const most =
      quietOf(measure, quiet, name, quantile, LEAST_MS * pace) * ratio * Math.sqrt(pace) * machine(quantile);
    const line = `${name} p${quantile * 100}: quiet ${before.toFixed(0)}, hostile ${after.toFixed(0)}, at most ` +
      `${most.toFixed(0)} (${counts.join(' and ')} samples)`;
    lines.push(line);
    if (after > most) broken.push(line);
  }
  for (const quantile of [0.5, 0.95])
    lines.push(
      `machine late ms p${quantile * 100}: quiet ${noise(quiet, quantile).toFixed(0)}, hostile ` +
      `${noise(hostile, quantile).toFixed(0)}`,
    );
  const [full, started] = [measure.count(hostile, 'full'), measure.count(hostile, 'start ms')];
  const line = `calls refused because the node was full: ${full}, started: ${started}`;
  lines.push(line);
  if (full + started > LEAST_SAMPLES && full > FULL_MOST * (full + started)) broken.push(line);
  return { lines, broken };
}
