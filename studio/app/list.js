/* Lists that may be long: a page at a time, more by a button, and the search asks the service. */
import { html, useEffect, useMemo, useRef, useState } from './lib.js';
import { get } from './api.js';
import { count, t } from './text.js';
import { Button, Check, Loaded, Problem, Select, Text, useLoad } from './ui.js';

const PAGE = 50;
const REST_MS = 250;

/* What is typed, once the typing rests. */
function useRest(value) {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    if (value === rested) return undefined;
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/* { load, rows, total, q, next, more, again, busy, error } of a list of the API; error: why there are no more yet; total: undefined where it does not count itself. entries: their name
 * in the answer; wanted: part of a name; query: what else is asked for. */
export function useList(path, entries, wanted = '', query = {}) {
  const q = useRest(wanted.trim());
  const key = JSON.stringify([path, q, query]);
  const now = useRef(key);
  now.current = key;
  const none = { key, rows: [], next: null, busy: false, error: null };
  const [older, setOlder] = useState(none);
  useEffect(() => setOlder(none), [key]);
  const ask = async (before) => {
    const page = await get(`${path}?${new URLSearchParams(Object.entries({ limit: PAGE, before, q, ...query }).filter(([, value]) => value))}`);
    return { key, q, rows: page[entries], total: page.total, next: page.nextCursor };
  };
  const load = useLoad(() => ask(), key);
  const first = load.data;
  const rest = first && older.key === first.key && older.rows.length ? older : { ...none, next: first?.next, busy: older.busy, error: older.error };
  const more = async () => {
    if (first.key !== key) return; // another search is under way, and ends elsewhere
    setOlder({ ...rest, key, busy: true, error: null });
    const page = await ask(rest.next).catch((error) => ({ rows: [], next: rest.next, error }));
    if (now.current === key) setOlder({ key, rows: [...rest.rows, ...page.rows], next: page.next, busy: false, error: page.error ?? null });
  };
  const again = () => { setOlder(none); return load.reload(); };
  const shown = new Set(first?.rows.map((one) => one.id));
  return { load, rows: [...(first?.rows ?? []), ...rest.rows.filter((one) => !shown.has(one.id))], total: first?.total, q: first?.q ?? '', next: rest.next, more, again, busy: rest.busy, error: rest.error };
}

/* Within a form, too: Enter sends none. */
function Search({ label = t('search'), value, onInput }) {
  return html`<${Text} label=${label} type="search" value=${value} onInput=${onInput} onKeyDown=${(event) => { if (event.key === 'Enter') event.preventDefault(); }} />`;
}

export function More({ list }) {
  const shown = list.total === undefined ? '' : t('shown', count(list.rows.length), count(list.total));
  return html`${list.error && html`<${Problem} error=${list.error} />`}<div class="more"><span class="soft" role="status">${shown}</span>${list.next && html`<${Button} busy=${list.busy} onClick=${list.more}>${t('more')}<//>`}</div>`;
}

/* A list with its search; children(rows) shows them. empty: what stands there when there is nothing at all. */
export function Listing({ list, wanted, onWanted, empty, children }) {
  return html`<${Loaded} load=${list.load}>${() => (!list.rows.length && !list.q && !wanted ? empty
    : html`<div class="filters"><${Search} value=${wanted} onInput=${onWanted} /></div>${list.rows.length || !list.q ? children(list.rows) : html`<div class="card empty"><p>${t('list.none')}</p></div>`}<${More} list=${list} />`)}<//>`;
}

/* Names of agents by id: of those that are asked for, read once. */
const names = new Map();
export function useAgentNames(ids) {
  const [, setRead] = useState(0);
  const missing = [...new Set(ids)].filter((id) => id && !names.has(id)).slice(0, 100);
  const key = missing.join(',');
  useEffect(() => {
    if (!key) return;
    get(`/v1/agents?ids=${key}`).then(({ agents }) => {
      for (const id of key.split(',')) names.set(id, '');
      for (const agent of agents) names.set(agent.id, agent.name);
      setRead((n) => n + 1);
    }, () => {});
  }, [key]);
  return names;
}

/* One of the agents, or any; with a search beside it when they are more than a page. */
export function AgentSelect({ label, any, value, onInput }) {
  const [wanted, setWanted] = useState('');
  const list = useList('/v1/agents', 'agents', wanted);
  for (const agent of list.rows) names.set(agent.id, agent.name);
  const isOther = value && !list.rows.some((agent) => agent.id === value);
  const options = [['', any], ...(isOther ? [[value, names.get(value) || value]] : []), ...list.rows.map((agent) => [agent.id, agent.name])];
  return html`${(list.next || wanted || list.q) && html`<${Search} label=${t('agents.search')} value=${wanted} onInput=${setWanted} />`}<${Select} label=${label} value=${value} onInput=${onInput} options=${options} />`;
}

/* Entries by their ids: each is read once, some at a time. */
const BY_IDS = 100;
function useEntries(path, entries, ids) {
  const [found, setFound] = useState([]);
  const asked = useRef(new Set());
  useEffect(() => {
    const missing = ids.filter((id) => !asked.current.has(id));
    for (let i = 0; i < missing.length; i += BY_IDS) {
      const some = missing.slice(i, i + BY_IDS);
      some.forEach((id) => asked.current.add(id));
      get(`${path}?ids=${some.join()}`).then((answer) => setFound((old) => [...old, ...answer[entries]]), () => some.forEach((id) => asked.current.delete(id)));
    }
  }, [ids.join()]);
  return found;
}

/* Things that can be on or off by their id: those that are on first, then a page of all, or of those that are searched for. Names of those that
 * are on and that no page has shown are in `known`, or (isFoundById) asked for. */
export function Picker({ path, entries, query, ids, known = [], isFoundById = false, about, onInput, empty, href }) {
  const [wanted, setWanted] = useState('');
  const list = useList(path, entries, wanted, query);
  const seen = useRef(new Map());
  const found = useEntries(path, entries, isFoundById && list.load.data ? ids.filter((id) => !seen.current.has(id) && !list.rows.some((one) => one.id === id)) : []);
  for (const one of [...known, ...found, ...list.rows]) seen.current.set(one.id, one);
  const pinned = useMemo(() => ids, [list.q]); // those that are switched off stay where they are
  const listed = new Set(list.rows.map((one) => one.id));
  const rows = [...(list.q ? [] : pinned.filter((id) => !listed.has(id)).map((id) => seen.current.get(id) ?? { id, name: id })), ...list.rows];
  const turn = (id, isOn) => onInput(isOn ? [...ids, id] : ids.filter((one) => one !== id));
  return html`<${Loaded} load=${list.load}>${() => (!rows.length && !list.q && !wanted ? html`<p class="soft">${empty} <a href=${href}>${t('open')}</a></p>`
    : html`${(list.next || wanted || list.q) && html`<${Search} value=${wanted} onInput=${setWanted} />`}
      ${rows.map((one) => html`<${Check} key=${one.id} label=${one.name} hint=${about(one)} checked=${ids.includes(one.id)} onInput=${(isOn) => turn(one.id, isOn)} />`)}
      ${(list.next || list.q) && html`<${More} list=${list} />`}`)}<//>`;
}
