/* One call: what was said and when, how quick the agent was, what it cost, who was told. A running one can be watched, spoken into
 * and ended. */
import { html, useEffect, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { count, duration, money, ms, t, time, word } from '../text.js';
import { Button, Card, Head, Loaded, Problem, Text, sure, toast, useLoad, useWork } from '../ui.js';
import { LookUps, Runs } from '../runs.js';
import { Told } from '../told.js';
import { Waterfall } from '../waterfall.js';
import { useWatch } from '../watch.js';
import { CallState } from './calls.js';

const COUNTED_EVERY_MS = 5000; // time, cost and deliveries of a running call, which no event tells

function Pairs({ rows }) {
  return html`<dl class="pairs">${rows.filter(([, value]) => value !== undefined).map(([name, value]) => html`<dt key=${name}>${name}</dt><dd class="number">${value}</dd>`)}</dl>`;
}

const beginOf = (call) => new Date(call.userJoinedAt ?? call.createdAt);

function Transcript({ call }) {
  const begin = beginOf(call);
  if (!call.transcript.length) return html`<p class="soft">${t(call.status === 'ended' ? 'call.silent' : 'call.nothingYet')}</p>`;
  return html`<div role="log" aria-label=${t('call.transcript')}><ol class="bubbles">${call.transcript.map((turn, i) => html`<li key=${i} class=${turn.role}><time datetime=${turn.at}>${t(`who.${turn.role}`)} · ${duration(Math.max(0, (new Date(turn.at) - begin) / 1000))}</time>${turn.text}</li>`)}</ol></div>`;
}

function Running({ call, reload }) {
  const [text, setText] = useState('');
  const [say, saying, sayError] = useWork(async () => { await api('POST', `/v1/calls/${call.id}/say`, { text }); setText(''); toast(t('call.said')); });
  const [end, ending, endError] = useWork(async () => {
    if (!await sure(t('call.end'), t('call.endText'), t('call.end'))) return;
    await api('POST', `/v1/calls/${call.id}/end`);
    reload();
  });
  return html`<${Card} title=${t('call.now')}>${(sayError || endError) && html`<${Problem} error=${sayError ?? endError} />`}
    <form noValidate onSubmit=${(event) => { event.preventDefault(); if (!saying) say(); }}><${Text} label=${t('call.say')} hint=${t('call.sayHint')} value=${text} onInput=${setText} maxlength="2000" required />
    <div class="actions"><${Button} kind="primary" type="submit" busy=${saying || call.status !== 'active'}>${t('call.speak')}<//><${Button} kind="danger" busy=${ending} onClick=${end}>${t('call.end')}<//></div></form><//>`;
}

/* The means of what passes between the caller's last word and the first of the reply, one below the other. */
function Quality({ quality }) {
  if (!quality) return html`<p class="soft">${t('quality.none')}</p>`;
  const parts = [['quality.endpointing', quality.endpointingMs], ['quality.llm', quality.llmFirstTokenMs], ['quality.tts', quality.ttsFirstByteMs]];
  const total = Math.max(1, parts.reduce((sum, [, n]) => sum + (n ?? 0), 0));
  let from = 0;
  const bars = parts.map(([name, n]) => { const bar = { name, n, x: from }; from += ((n ?? 0) * 100) / total; return bar; });
  return html`<ul class="bars">${bars.map(({ name, n, x }) => html`<li key=${name}><span>${t(name)}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect x=${x} width=${((n ?? 0) * 100) / total} height="8" /></svg><span class="number right">${ms(n)}</span></li>`)}</ul><br />
    <${Pairs} rows=${[[t('quality.reply'), `${ms(quality.voiceToVoiceMs.p50)} · p95 ${ms(quality.voiceToVoiceMs.p95)}`], [t('quality.turns'), count(quality.turns)], [t('quality.interruptions'), `${count(quality.interruptions)} (${t('quality.false', count(quality.falseInterruptions))})`],
      [t('quality.lost'), quality.packetsLost === null ? '–' : count(quality.packetsLost)], [t('quality.jitter'), ms(quality.jitterMs)], [t('quality.mos'), quality.mos === null ? '–' : quality.mos.toFixed(2)]]} />
    ${quality.slowestTurns.length > 0 && html`<br /><h3>${t('quality.slowest')}</h3><ul class="list">${quality.slowestTurns.map((turn) => html`<li key=${turn.at}><span>${time(turn.at, { timeStyle: 'medium' })}</span><span class="number">${ms(turn.voiceToVoiceMs)}</span></li>`)}</ul>`}`;
}

/* The agent's part, as far as there is something to tell. */
function Doing({ call, runs, lookUps }) {
  const isTimed = call.transcript.some((turn) => turn.timing);
  return html`${isTimed && html`<${Card} title=${t('call.waterfall')}><${Waterfall} turns=${call.transcript} begin=${beginOf(call)} /><//>`}
    ${lookUps.length > 0 && html`<${Card} title=${t('call.lookUps')}><${LookUps} lookUps=${lookUps} /><//>`}${runs.length > 0 && html`<${Card} title=${t('call.runs')}><${Runs} runs=${runs} /><//>`}`;
}

function Detail({ call, runs, lookUps, state, reload }) {
  const isRunning = call.status !== 'ended';
  const { variables = {}, ...metadata } = call.metadata;
  return html`<${Head} title=${t('call.title', time(call.createdAt))} lead=${call.metadata.agentName}><${CallState} call=${call} /><//>
    <div class="editor"><div class="stack"><${Card} title=${t('call.transcript')} aside=${isRunning && state && html`<p class="soft" role="status">${t(`state.${state}`)}</p>`}><${Transcript} call=${call} /><//><${Doing} call=${call} runs=${runs} lookUps=${lookUps} />${isRunning && may('editor') && html`<${Running} call=${call} reload=${reload} />`}
      <${Told} callId=${call.id} freshness=${`${call.status} ${call.transcript.length}`} /></div>
    <aside><${Card} title=${t('call.facts')}><${Pairs} rows=${[[t('calls.agent'), html`<a href="/studio/agents/${call.metadata.agentId}">${call.metadata.agentName}</a>`], [t('calls.caller'), call.participantIdentity], [t('call.source'), word('source', call.source)], [t('call.language'), call.metadata.language],
        [t('call.joined'), time(call.userJoinedAt, { timeStyle: 'medium' })], [t('call.ended'), time(call.endedAt, { timeStyle: 'medium' })], [t('calls.duration'), duration(call.durationSeconds)], [t('calls.cost'), `${money(call.callCost, 4)} (${t('perMinute', money(call.costPerMinute))})`], ['ID', html`<code>${call.id}</code>`]]} /><//>
      <${Card} title=${t('quality.title')}><${Quality} quality=${call.quality} /><//>
      ${Object.keys(variables).length > 0 && html`<${Card} title=${t('agent.variables')}><${Pairs} rows=${Object.entries(variables)} /><//>`}
      <${Card} title=${t('call.metadata')}><pre tabindex="0">${JSON.stringify(metadata, null, 2)}</pre><//></aside></div>`;
}

async function load(id) {
  const path = `/v1/calls/${encodeURIComponent(id)}`;
  const [{ call }, { tools }] = await Promise.all([get(path), get(`${path}/tools`)]);
  return { call, runs: tools };
}

export function Call({ id }) {
  const loaded = useLoad(() => load(id), id);
  const isRunning = loaded.data !== undefined && loaded.data.call.status !== 'ended';
  const seen = useWatch(id, isRunning);
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(loaded.reload, COUNTED_EVERY_MS);
    return () => clearInterval(timer);
  }, [isRunning, loaded.reload]);
  useEffect(() => { if (seen.isOver || seen.call) loaded.reload(); }, [seen.isOver, seen.call]);
  return html`<${Loaded} load=${loaded} title=${t('nav.calls')}>${({ call, runs }) => {
    const transcript = seen.turns.length > call.transcript.length ? seen.turns : call.transcript;
    return html`<${Detail} call=${{ ...call, transcript }} runs=${isRunning && seen.runs.length ? seen.runs : runs} lookUps=${seen.passages} state=${seen.state} reload=${loaded.reload} />`;
  }}<//>`;
}
