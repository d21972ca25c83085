/* The first page: what runs now, what came of late, and for a new workspace the next steps. */
import { html, useEffect } from '../lib.js';
import { get, may, session } from '../api.js';
import { count, duration, money, ms, t, time } from '../text.js';
import { Card, Head, Loaded, useLoad } from '../ui.js';
import { Bars, Lines, Parts } from '../chart.js';
import { CallRows } from './calls.js';

const EVERY_MS = 10000;
const DAYS = 30;

async function load() {
  const [me, agents, documents, active, recent, { usage }] = await Promise.all([get('/v1/me'), get('/v1/agents?limit=6'), get('/v1/knowledge/documents?limit=1'), get('/v1/calls?status=active&limit=1'), get('/v1/calls?limit=8'), get(`/v1/usage?days=${DAYS}`)]);
  return { workspace: me.workspaces[0], agents: agents.agents, documents: documents.documents, running: active.total, calls: recent.calls, total: recent.total, usage };
}

function Figure({ name, value, note }) {
  return html`<div class="card figure"><dl><dt>${name}</dt><dd>${value}</dd></dl>${note && html`<p>${note}</p>`}</div>`;
}

/* What a new workspace lacks, in order. */
function Steps({ data }) {
  const steps = [['agents', data.agents.length > 0, '/studio/agents'], ['documents', data.documents.length > 0, '/studio/knowledge'], ['call', data.total > 0, data.agents[0] ? `/studio/agents/${data.agents[0].id}` : '/studio/agents'],
    ['key', data.calls.some((call) => call.source !== 'studio'), may('owner') ? '/studio/keys' : '/docs']];
  if (steps.every(([, isDone]) => isDone)) return null;
  return html`<${Card} title=${t('steps.title')}><ol class="steps">${steps.map(([name, isDone, href]) => html`<li key=${name} class=${isDone ? 'is-done' : ''}><span class="tick" aria-hidden="true">${isDone ? '✓' : ''}</span>
    <a href=${href}>${t(`steps.${name}`)}</a>${isDone && html`<span class="visually-hidden">${t('steps.done')}</span>`}</li>`)}</ol><//>`;
}

/* How calls ended: day by day, the most frequent reasons as parts of a bar and all others as its last, and in sum, in the same colours. */
const PARTS = 5;
const partOf = (n, count) => (count > PARTS && n >= PARTS - 1 ? PARTS : n + 1);

function Reasons({ usage: { days, reasons } }) {
  const most = Math.max(1, ...reasons.map(({ calls }) => calls));
  const of = (names) => (one) => one.reasons.reduce((sum, { reason, calls }) => sum + (names.includes(reason) ? calls : 0), 0);
  const column = (names) => ({ name: t(`reason.${names[0]}`), of: of(names), show: count });
  const all = reasons.map(({ reason }) => reason);
  const drawn = [...new Set(all.map((_, n) => partOf(n, all.length)))].map((part) => column(all.filter((_, n) => partOf(n, all.length) === part)));
  if (!all.length) return html`<p class="soft">${t('overview.noCalls')}</p>`;
  return html`<${Parts} label=${t('overview.reasonsPerDay')} days=${days} columns=${all.map((reason) => column([reason]))} drawn=${drawn} />
    <ul class="bars">${reasons.map(({ reason, calls }, n) => html`<li key=${reason}><span>${t(`reason.${reason}`)}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="part-${partOf(n, all.length)}" width=${(100 * calls) / most} height="8" /></svg><span class="number right">${count(calls)}</span></li>`)}</ul>`;
}

/* What a day is told by; each has a chart of its own, which tells that one. */
const FIGURES = [['overview.perDay', 'nav.calls', (one) => one.calls, count, 1], ['overview.minutesPerDay', 'overview.minutes', (one) => Math.round(one.seconds / 6) / 10, count, 1], ['overview.spendPerDay', 'calls.cost', (one) => one.cost, money, 0.01]];

function Charts({ usage }) {
  return html`<div class="two">${FIGURES.map(([title, name, of, show, least]) => html`<${Card} key=${title} title=${t(title)}><${Bars} label=${t(title)} days=${usage.days} columns=${[{ name: t(name), of, show, least }]} /><//>`)}
    <${Card} title=${t('overview.replies')} aside=${html`<p class="legend"><span><i class="b"></i>p50</span><span><i class="a"></i>p95</span></p>`}><${Lines} label=${t('overview.replies')} days=${usage.days} columns=${[{ name: 'p50', of: (one) => one.replyMs, show: ms }, { name: 'p95', of: (one) => one.replyP95Ms, show: ms }]} /><//></div>`;
}

export function Overview() {
  const loaded = useLoad(load);
  useEffect(() => { const timer = setInterval(() => { if (!document.hidden) loaded.reload(); }, EVERY_MS); return () => clearInterval(timer); }, []);
  return html`<${Head} title=${t('nav.overview')} lead=${session.value.workspace.name} />
    <${Loaded} load=${loaded}>${(data) => {
      const { usage } = data;
      return html`<div class="stack"><${Steps} data=${data} />
        <div class="grid"><${Figure} name=${t('overview.running')} value=${count(data.running)} note=${t('overview.atMost', data.workspace.maxConcurrentCalls)} />
          <${Figure} name=${t('overview.balance')} value=${money(data.workspace.balance)} note=${t('overview.spent', money(usage.total.cost))} />
          <${Figure} name=${t('overview.talked')} value=${duration(usage.total.seconds)} note=${t('overview.answered', count(usage.total.calls))} />
          <${Figure} name=${t('overview.reply')} value=${ms(usage.total.replyMs)} note=${t('overview.p95', ms(usage.total.replyP95Ms))} /></div>
        <${Charts} usage=${usage} />
        <div class="two"><${Card} title=${t('overview.reasons')} aside=${html`<p>${t('overview.ofLast', DAYS)}</p>`}><${Reasons} usage=${usage} /><//>
          <${Card} title=${t('nav.agents')} aside=${html`<a href="/studio/agents">${t('all')}</a>`}>${data.agents.length === 0 ? html`<p class="soft">${t('agents.empty')}</p>`
            : html`<ul class="list">${data.agents.map((agent) => html`<li key=${agent.id}><span><a href="/studio/agents/${agent.id}">${agent.name}</a></span><span class="soft small number">${t('agents.calls', count(agent.stats.totalCalls))}</span></li>`)}</ul>`}<//></div>
        ${data.calls.length > 0 && html`<div><header class="head"><div><h2>${t('overview.recent')}</h2></div><a href="/studio/calls">${t('all')}</a></header><${CallRows} calls=${data.calls} label=${t('overview.recent')} /></div>`}
        <p class="soft small">${t('overview.asOf', time(new Date().toISOString(), { timeStyle: 'medium' }))}</p></div>`;
    }}<//>`;
}
