/* The first page: what runs now, what came of late, and for a new workspace the next steps. */
import { html, useEffect } from '../lib.js';
import { get, may, session } from '../api.js';
import { count, duration, money, ms, t, time } from '../text.js';
import { Card, Head, Loaded, useLoad } from '../ui.js';
import { CallRows } from './calls.js';

const EVERY_MS = 10000;

async function load() {
  const [me, agents, documents, active, recent] = await Promise.all([get('/v1/me'), get('/v1/agents'), get('/v1/knowledge/documents'), get('/v1/calls?status=active&limit=1'), get('/v1/calls?limit=100')]);
  return { workspace: me.workspaces[0], agents: agents.agents, documents: documents.documents, running: active.total, calls: recent.calls, total: recent.total };
}

const median = (list) => { const sorted = list.toSorted((a, b) => a - b); return sorted.length ? sorted[Math.floor(sorted.length / 2)] : null; };

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

/* Shares of the end reasons among the calls shown. */
function Reasons({ calls }) {
  const tally = new Map();
  for (const { endReason } of calls) if (endReason) tally.set(endReason, (tally.get(endReason) ?? 0) + 1);
  const rows = [...tally].sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...rows.map(([, n]) => n));
  if (!rows.length) return html`<p class="soft">${t('overview.noCalls')}</p>`;
  return html`<ul class="bars">${rows.map(([reason, n]) => html`<li key=${reason}><span>${t(`reason.${reason}`)}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width=${(100 * n) / most} height="8" /></svg><span class="number right">${count(n)}</span></li>`)}</ul>`;
}

export function Overview() {
  const loaded = useLoad(load);
  useEffect(() => { const timer = setInterval(() => { if (!document.hidden) loaded.reload(); }, EVERY_MS); return () => clearInterval(timer); }, []);
  return html`<${Head} title=${t('nav.overview')} lead=${session.value.workspace.name} />
    <${Loaded} load=${loaded}>${(data) => {
      const ended = data.calls.filter((call) => call.status === 'ended');
      const replies = ended.map((call) => call.quality?.voiceToVoiceMs?.p50).filter((n) => n !== null && n !== undefined);
      const late = ended.map((call) => call.quality?.voiceToVoiceMs?.p95).filter((n) => n !== null && n !== undefined);
      const totals = data.agents.reduce((sum, { stats }) => ({ calls: sum.calls + stats.totalCalls, seconds: sum.seconds + stats.totalSeconds, cost: sum.cost + stats.totalCost }), { calls: 0, seconds: 0, cost: 0 });
      return html`<div class="stack"><${Steps} data=${data} />
        <div class="grid"><${Figure} name=${t('overview.running')} value=${count(data.running)} note=${t('overview.atMost', data.workspace.maxConcurrentCalls)} />
          <${Figure} name=${t('overview.balance')} value=${money(data.workspace.balance)} note=${t('overview.spent', money(totals.cost))} />
          <${Figure} name=${t('overview.talked')} value=${duration(totals.seconds)} note=${t('overview.answered', count(totals.calls))} />
          <${Figure} name=${t('overview.reply')} value=${ms(median(replies))} note=${t('overview.p95', ms(median(late)))} /></div>
        <div class="two"><${Card} title=${t('overview.reasons')} aside=${html`<p>${t('overview.ofLast', ended.length)}</p>`}><${Reasons} calls=${ended} /><//>
          <${Card} title=${t('nav.agents')} aside=${html`<a href="/studio/agents">${t('all')}</a>`}>${data.agents.length === 0 ? html`<p class="soft">${t('agents.empty')}</p>`
            : html`<ul class="list">${data.agents.slice(0, 6).map((agent) => html`<li key=${agent.id}><span><a href="/studio/agents/${agent.id}">${agent.name}</a></span><span class="soft small number">${t('agents.calls', count(agent.stats.totalCalls))}</span></li>`)}</ul>`}<//></div>
        ${data.calls.length > 0 && html`<div><header class="head"><div><h2>${t('overview.recent')}</h2></div><a href="/studio/calls">${t('all')}</a></header><${CallRows} calls=${data.calls.slice(0, 8)} label=${t('overview.recent')} /></div>`}
        <p class="soft small">${t('overview.asOf', time(new Date().toISOString(), { timeStyle: 'medium' }))}</p></div>`;
    }}<//>`;
}
