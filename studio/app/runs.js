/* What the agent did in a call beside talking: the runs of its tools, and what it looked up in its documents. */
import { html } from './lib.js';
import { count, ms, t, theirs, time } from './text.js';
import { Badge } from './ui.js';

const KINDS = { succeeded: 'good', failed: 'bad', running: 'info', cancelled: 'warn' };

export function Runs({ runs }) {
  return html`<ul class="list runs">${runs.map((run) => html`<li key=${run.number}><details><summary><code>${run.name}</code> <${Badge} kind=${KINDS[run.status]} live=${run.status === 'running'}>${t(`run.${run.status}`)}<//> <span class="soft small number">${time(run.at, { timeStyle: 'medium' })} · ${ms(run.ms)}${run.httpStatus ? ` · ${run.httpStatus}` : ''}</span></summary>
    <p class="soft small">${t('run.sent')}</p><pre tabindex="0">${JSON.stringify(run.arguments, null, 2)}</pre>${(run.result ?? run.error) && html`<p class="soft small">${t(run.error ? 'run.error' : 'run.answer')}</p><pre tabindex="0">${run.error ? theirs(run.error) : run.result}</pre>`}</details></li>`)}</ul>`;
}

/* lookUps: [{ at, query, passages }] */
export function LookUps({ lookUps }) {
  return html`<ul class="list runs">${lookUps.map((one, i) => html`<li key=${`${one.at} ${i}`}><details><summary>${one.query} <span class="soft small number">${t('lookUp.found', count(one.passages.length))}</span></summary>
    ${one.passages.map((passage, n) => html`<blockquote key=${n}><p class="soft small"><bdi>${passage.document}</bdi> · ${Math.round(passage.similarity * 100)} %</p>${passage.question && html`<strong>${passage.question}</strong> `}${passage.text}</blockquote>`)}</details></li>`)}</ul>`;
}
