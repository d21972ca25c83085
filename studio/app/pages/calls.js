/* The calls, newest first: filters, pages, live ones marked and kept fresh. */
import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib.js';
import { get } from '../api.js';
import { AgentSelect } from '../list.js';
import { count, duration, money, ms, t, time, word } from '../text.js';
import { Badge, Button, Empty, Head, Loaded, Problem, Select, Table, Text, useLoad } from '../ui.js';

const EVERY_MS = 5000;
const PAGE = 50;
const NONE_OLDER = { calls: [], next: undefined, busy: false, error: null };
const NO_FILTER = { agentId: '', status: '', endReason: '', source: '', day: '' };
const REASONS = ['user-left', 'api', 'max-duration', 'socket-lost', 'agent-shutdown', 'room-finished', 'no-user', 'dispatch-failed'];

export function CallState({ call }) {
  if (call.status === 'active') return html`<${Badge} kind="good" live>${t('callStatus.active')}<//>`;
  if (call.status === 'created') return html`<${Badge} kind="info" live>${t('callStatus.created')}<//>`;
  const isBad = ['socket-lost', 'agent-shutdown', 'dispatch-failed'].includes(call.endReason);
  return html`<${Badge} kind=${isBad ? 'bad' : call.endReason === 'no-user' ? 'warn' : ''}>${word('reason', call.endReason)}<//>`;
}

export function CallRows({ calls, label }) {
  return html`<${Table} label=${label} head=${[t('calls.when'), t('calls.agent'), t('calls.caller'), t('state'), { name: t('calls.duration'), kind: 'right' }, { name: t('calls.reply'), kind: 'right' }, { name: t('calls.cost'), kind: 'right' }]}>
    ${calls.map((call) => html`<tr key=${call.id}><td class="name"><a href="/studio/calls/${call.id}">${time(call.createdAt)}</a></td><td>${call.metadata.agentName ?? call.metadata.agentId}</td><td class="break">${call.participantIdentity} <span class="soft small">${word('source', call.source)}</span></td>
      <td><${CallState} call=${call} /></td><td class="right number">${duration(call.durationSeconds)}</td><td class="right number">${ms(call.quality?.voiceToVoiceMs?.p50)}</td><td class="right number">${money(call.callCost, 4)}</td></tr>`)}<//>`;
}

/* Of the first page as it was, what newer calls have pushed off it; null: nothing of it is left, so that what lies between is not known. */
function pushedOff(was, now) {
  const place = was.calls.findIndex((call) => call.id === now.calls.at(-1)?.id);
  if (place >= 0) return was.calls.slice(place + 1);
  return was.calls.some((call) => now.calls.some((one) => one.id === call.id)) ? [] : null;
}

const without = (calls, known) => calls.filter((call) => !known.some((one) => one.id === call.id));

/* The calls of the pages behind the first one, which is read again and again and moves on meanwhile. ask(cursor) answers a page. */
function useOlder(key, first, ask) {
  const [older, setOlder] = useState(NONE_OLDER);
  const was = useRef(null);
  useEffect(() => setOlder(NONE_OLDER), [key]);
  useLayoutEffect(() => {
    const gone = was.current && first && was.current.key === first.key ? pushedOff(was.current, first) : [];
    was.current = first;
    if (!gone) setOlder(NONE_OLDER);
    else if (gone.length) setOlder((old) => (old.next === undefined ? old : { ...old, calls: [...without(gone, old.calls), ...old.calls] }));
  }, [first]);
  const more = async (next) => {
    setOlder((old) => ({ ...old, next, busy: true, error: null }));
    const page = await ask(next).catch((error) => ({ calls: [], nextCursor: next, error }));
    setOlder((old) => (old.busy && old.next === next ? { calls: [...old.calls, ...without(page.calls, old.calls)], next: page.nextCursor, busy: false, error: page.error ?? null } : old));
  };
  return [older, more];
}

export function Calls() {
  const [filter, setFilter] = useState(NO_FILTER);
  const query = (before) => `/v1/calls?${new URLSearchParams({ limit: PAGE, ...Object.fromEntries(Object.entries({ ...filter, before }).filter(([, value]) => value)) })}`;
  const key = Object.values(filter).join(' ');
  const set = (name) => (value) => setFilter({ ...filter, [name]: value });
  const loaded = useLoad(async () => ({ key, ...await get(query()) }), key);
  const [older, more] = useOlder(key, loaded.data, (next) => get(query(next)));
  useEffect(() => { const timer = setInterval(() => { if (!document.hidden) loaded.reload(); }, EVERY_MS); return () => clearInterval(timer); }, [loaded.reload]);
  return html`<${Head} title=${t('nav.calls')} lead=${t('calls.lead')} />
    <div class="filters many"><${AgentSelect} label=${t('calls.agent')} any=${t('allAgents')} value=${filter.agentId} onInput=${set('agentId')} />
      <${Select} label=${t('state')} value=${filter.status} onInput=${set('status')} options=${[['', t('anyState')], ...['created', 'active', 'ended'].map((one) => [one, t(`callStatus.${one}`)])]} />
      <${Select} label=${t('calls.end')} value=${filter.endReason} onInput=${set('endReason')} options=${[['', t('calls.anyEnd')], ...REASONS.map((one) => [one, t(`reason.${one}`)])]} /><${Select} label=${t('call.source')} value=${filter.source} onInput=${set('source')} options=${[['', t('calls.anySource')], ...['api', 'embed', 'studio'].map((one) => [one, t(`source.${one}`)])]} />
      <${Text} label=${t('calls.day')} type="date" value=${filter.day} onInput=${set('day')} /></div>
    <${Loaded} load=${loaded}>${(page) => {
      const first = new Set(page.calls.map((call) => call.id));
      const calls = [...page.calls, ...older.calls.filter((call) => !first.has(call.id))];
      const next = older.next === undefined ? page.nextCursor : older.next;
      if (!calls.length) return key.trim() ? html`<${Empty} icon="calls" title=${t('calls.noneFit')} text=${t('calls.noneFitText')}><${Button} onClick=${() => setFilter(NO_FILTER)}>${t('calls.showAll')}<//><//>`
        : html`<${Empty} icon="calls" title=${t('calls.empty')} text=${t('calls.emptyText')}><a class="button primary" href="/studio/agents">${t('calls.toAgents')}</a><//>`;
      return html`<${CallRows} calls=${calls} label=${t('nav.calls')} />${older.error && html`<${Problem} error=${older.error} />`}<div class="more"><span class="soft" role="status">${t('shown', count(calls.length), count(page.total))}</span>${next && html`<${Button} busy=${older.busy} onClick=${() => more(next)}>${t('more')}<//>`}</div>`;
    }}<//>`;
}
