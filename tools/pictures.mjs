/* README's pictures anew: a service of its own with a month of a hair salon's calls, written straight into its SQLite file, and headless Chromium
 * whose microphone asks two questions, for the pictures of a test call and of a caller's page, with the embedded engines.
 *
 *     node tools/pictures.mjs [directory, docs]      needs tests/node_modules, flite and sox (make test installs them) */
import { join, resolve } from 'node:path';
import { makeWorkspace, root, startService } from '../tests/harness/service.mjs';
import { openBrowser, speechFile } from '../tests/harness/browser.mjs';
import { sql } from '../tests/harness/sql.mjs';
import { signIn } from '../tests/harness/studio.mjs';

const DIRECTORY = resolve(process.argv[2] ?? join(root, 'docs'));
const DAYS = 30, DAY_MS = 86400000, HOUR_MS = 3600000;
const AGENTS = ['Front desk', 'Bookings', 'Reminders', 'After hours'];
const PAGE = `## Opening hours
We are open Tuesday to Friday from nine in the morning to six in the evening. On Saturday we are open from nine to four.

## Parking
Parking behind the house is free.`;
const FRONT_DESK = { systemInstruction: 'You answer the phone of Willow Lane Hair Studio. Answer in one or two short sentences, from the documents only. When they do not say, tell the caller so kindly and offer that somebody calls back.',
  greetingMode: 'static', greetingText: 'Hello, this is Willow Lane Hair Studio. How can I help you?', systemTools: { endCall: true }, embed: { enabled: true } };
const QUESTIONS = ['What are your opening hours?', 'Where can I park?'], ANSWERS = [/nine to four/, /is free/];
const REASONS = [['user-left', 0.84], ['no-user', 0.93], ['api', 0.97], ['max-duration', 0.99], ['agent-shutdown', 1]];

/* The same draws each time. */
let seed = 7;
const draw = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
const pick = (list) => list[Math.floor(draw() * list.length)];

const text = (value) => `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
const insert = (table, row) => `INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${Object.values(row).map((v) => (typeof v === 'number' ? v : text(v))).join(', ')});`;

const measured = (p50) => ({ turns: 6, interruptions: 1, falseInterruptions: 0, voiceToVoiceMs: { p50, p95: Math.round(p50 * 1.6) }, endpointingMs: Math.round(p50 * 0.45),
  llmFirstTokenMs: Math.round(p50 * 0.33), ttsFirstByteMs: Math.round(p50 * 0.22), packetsLost: 3, jitterMs: 6, mos: 4.36, slowestTurns: [] });

function makeCall(n, agent, workspaceId, at) {
  const dice = draw(), [reason] = REASONS.find(([, upto]) => dice < upto);
  const seconds = reason === 'no-user' ? 0 : Math.round(40 + 170 * draw() * draw() + 30 * draw());
  const p50 = Math.round(560 + 160 * draw() + 90 * draw());
  const source = draw() < 0.6 ? 'api' : 'embed';
  return { id: `01a2${n.toString(16).padStart(4, '0')}-3a19-740d-ba65-${Math.floor(draw() * 2 ** 44).toString(16).padStart(12, '0')}`, workspace_id: workspaceId, agent_id: agent.id, room_name: `call-${n}`, source, status: 'ended',
    created_ms: at, agent_joined_ms: at + 300, user_joined_ms: seconds ? at + 1200 : 0, ended_ms: at + 1200 + seconds * 1000, end_reason: reason, duration_s: seconds,
    rate_usd4: 400, cost_usd4: Math.round((400 * seconds) / 60), identity: source === 'embed' ? `visitor-${Math.floor(draw() * 9000 + 1000)}` : `+1 555 01${Math.floor(draw() * 90 + 10)}`,
    metadata: { agentName: agent.name, language: 'en' }, metadata_sent: {}, quality: seconds ? measured(p50) : '', webhook_url: '', join_until_ms: at + 60000, owner: '', owner_epoch: 0, durable_ms: at + 1200 + seconds * 1000,
    last_event_ms: at + 1200 + seconds * 1000, turns: 0 };
}

/* More on weekdays than at weekends, a little more each week; today's until `now`, at whatever hour the pictures are taken. */
function makeCalls(agents, workspaceId, now) {
  const calls = [];
  for (let back = DAYS - 1; back >= 0; back--) {
    const day = Math.floor(now / DAY_MS - back) * DAY_MS, isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    const count = Math.round((isWeekend ? 14 : 42) * (0.85 + 0.3 * draw()) + (DAYS - back) * 0.4);
    const [from, until] = back ? [day + 8 * HOUR_MS, day + 18 * HOUR_MS] : [Math.min(day + 8 * HOUR_MS, (day + now) / 2), now - 300000];
    for (let i = 0; i < (back ? count : count * 0.7); i++) calls.push(from + draw() * (until - from));
  }
  return calls.sort((a, b) => a - b).map((at, n) => makeCall(n, pick([agents[0], agents[0], agents[1], agents[2], agents[3]]), workspaceId, Math.floor(at)));
}

const TALK = [
  ['assistant', 'Hello, this is Willow Lane Hair Studio. How can I help you?', 900],
  ['user', 'Hi, do you have anything on Saturday for a cut and colour?', 6800],
  ['assistant', 'On Saturday we are open from nine to four. A cut with colour takes two hours; shall I look for a free time?', 9300, { lookUp: true }],
  ['user', 'Yes please, in the morning.', 17900],
  ['assistant', 'There is a place at half past nine with Maya. Shall I book it for you?', 20700, { slow: 420 }],
  ['user', 'Perfect, that works.', 27400],
  ['assistant', 'Done: Saturday at half past nine with Maya. You will get a message with the details.', 29500, {}],
];

/* The waterfall of a reply; ms after the caller's last sound. */
function timing(at, { lookUp = false, slow = 0 }) {
  const asked = lookUp ? 330 : 260;
  return { at: new Date(at).toISOString(), endpointMs: 290, lookUpMs: lookUp ? 250 : null, lookedUpMs: lookUp ? 325 : null, modelAskedMs: asked, firstTokenMs: asked + 210 + slow, holdMs: null,
    firstSentenceMs: asked + 265 + slow, firstByteMs: asked + 390 + slow, firstPacketMs: asked + 402 + slow };
}

/* One call of all has what was said in it. */
function told(call) {
  const at = call.user_joined_ms;
  const turns = TALK.map(([role, words, ms, how], position) => insert('call_turns', { call_id: call.id, position, role, text: words, at_ms: at + ms, timing: how ? timing(at + ms - 700 - (how.slow ?? 0), how) : '' }));
  const run = insert('call_runs', { call_id: call.id, number: 1, name: 'find_free_time', kind: 'during_call', status: 'succeeded', http_status: 200, at_ms: at + 19100, ms: 184, arguments: { day: 'Saturday', part: 'morning' },
    result: '{"time":"09:30","with":"Maya"}', error: '' });
  return [...turns, run, `UPDATE calls SET turns = ${TALK.length} WHERE id = '${call.id}';`];
}

const counted = (where, sizes) => [
  `INSERT INTO usage_days (workspace_id, day, agent_id, end_reason, calls, seconds, cost_usd4) SELECT workspace_id, ended_ms / ${DAY_MS}, agent_id, end_reason, COUNT(*), SUM(duration_s), SUM(cost_usd4) FROM calls WHERE ${where} GROUP BY 1, 2, 3, 4;`,
  // of six replies, five as the median and one as the p95
  `INSERT INTO usage_replies SELECT workspace_id, ended_ms / ${DAY_MS}, agent_id, ${sizes.map((from, n) => ['p50', 'p95'].map((ms) => `SUM(${ms} >= ${from} AND ${ms} < ${sizes[n + 1] ?? 1e9})`).join(' * 5 + '))}
     FROM (SELECT *, json_extract(quality, '$.voiceToVoiceMs.p50') AS p50, json_extract(quality, '$.voiceToVoiceMs.p95') AS p95 FROM calls WHERE ${where} AND quality <> '') GROUP BY 1, 2, 3;`,
  ...['end_reason', "''"].map((reason) => `INSERT INTO call_counts SELECT workspace_id, agent_id, source, ${reason}, COUNT(*) FROM calls WHERE ${where} GROUP BY 1, 2, 3, 4;`),
  `INSERT INTO agent_stats SELECT agent_id, COUNT(*), SUM(duration_s), SUM(cost_usd4) FROM calls WHERE ${where} GROUP BY 1;`,
];

const service = await startService({ database: 'sqlite' });
const workspace = await makeWorkspace(service);
const made = async (path, body) => Object.values((await workspace.api('POST', path, body)).body)[0];
const { id: documentId } = await made('/v1/knowledge/documents', { name: 'Opening hours and parking', text: PAGE });
const agents = [];
for (const name of AGENTS.toReversed()) agents.unshift(await made('/v1/agents', { name, documentIds: [documentId], ...FRONT_DESK }));
const calls = makeCalls(agents, workspace.workspaceId, Date.now());
const shown = calls.findLast((call) => call.agent_id === agents[0].id && call.duration_s > 30);
Object.assign(shown, { end_reason: 'user-left', duration_s: 37, ended_ms: shown.user_joined_ms + 37000, cost_usd4: 247, quality: { ...measured(704), turns: 3, interruptions: 0 } });
const sizes = sql(service, "SELECT substr(name, 4) FROM pragma_table_info('usage_replies') WHERE name LIKE 'ms~_%' ESCAPE '~'").split('\n').map(Number);
sql(service, ['BEGIN;', ...calls.map((call) => insert('calls', call)), ...told(shown), ...counted("status = 'ended'", sizes),
  `UPDATE workspaces SET name = 'Willow Lane Hair Studio', balance_usd4 = 3864100;`, 'COMMIT;'].join('\n'));
const { cookie } = await signIn(service, { workspaceId: workspace.workspaceId });
const browser = await openBrowser({ microphone: speechFile(QUESTIONS, { before: 5, after: 7 }) });
const [name, value] = cookie.split('=');
await browser.addCookies([{ name, value, url: service.url }]);
const page = await browser.newPage();
const show = async (path, theme, height = 1000, width = 1280) => {
  await page.setViewportSize({ width, height });
  await page.addInitScript((chosen) => localStorage.setItem('earshot.theme', chosen), theme);
  await page.goto(`${service.url}${path}`);
};
const take = (file) => page.screenshot({ path: join(DIRECTORY, file) });
const settled = async () => {
  await page.waitForFunction(() => document.querySelector('.head') !== null && document.querySelector('.loading') === null);
  await page.waitForLoadState('networkidle').catch(() => {});
};
const answered = (selector) => Promise.all(ANSWERS.map((words) => page.locator(selector, { hasText: words }).first().waitFor()));

await show('/studio', 'light');
await settled();
await take('studio-overview.png');
await show(`/studio/calls/${shown.id}`, 'dark');
await settled();
await take('studio-call.png');
await show(`/studio/agents/${agents[0].id}`, 'light');
await page.getByRole('button', { name: 'Start a test call' }).click();
await answered('.bubbles .assistant');
await page.locator('.fall li').nth(1).waitFor();
await take('studio-agent.png');
await page.getByRole('button', { name: 'Hang up' }).click();
await page.getByRole('link', { name: 'Details of the call' }).waitFor();
await show(`/try#key=${agents[0].publicKey}&name=${encodeURIComponent(agents[0].name)}`, 'light', 720, 760);
await page.click('#start');
await answered('.agent-said');
await take('try.png');
await page.click('#end');
await browser.close();
await service.close();
