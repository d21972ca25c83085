/* One agent: everything of it to edit, and a test call beside. What is typed survives a reload; a fault of the API stands at its
 * field; who saves after somebody else is told and chooses. */
import { html, useEffect, useLayoutEffect, useMemo, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { draftName, dropDraft, keepDraft, readDraft } from '../draft.js';
import { count, duration, money, t } from '../text.js';
import { go, guardLeaving } from '../router.js';
import { Badge, Button, Head, Loaded, Problem, faultIn, sure, toast, useLoad, useWork } from '../ui.js';
import { Conflict } from '../conflict.js';
import { SECTIONS } from './agent-sections.js';
import { Talk } from './talk.js';

const EDITED = ['name', 'systemInstruction', 'greetingMode', 'greetingText', 'greetingInstruction', 'voice', 'llm', 'stt', 'variables', 'toolIds', 'documentIds', 'systemTools', 'embed', 'webhookUrl'];

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const changes = (agent, draft) => Object.fromEntries(EDITED.filter((name) => !same(agent[name], draft[name])).map((name) => [name, draft[name]]));

/* set(['voice', 'speed'], 1.2): a copy with that one changed. */
function changed(object, [name, ...rest], value) {
  return { ...object, [name]: rest.length ? changed(object[name] ?? {}, rest, value) : value };
}

async function load(id) {
  const [{ agent }, { catalog }, { tools, nextCursor }] = await Promise.all([
    get(`/v1/agents/${id}`), get('/v1/catalog'), get(`/v1/tools?${new URLSearchParams({ usableBy: id, limit: 100 })}`)]);
  return { agent, catalog, tools, hasMoreTools: nextCursor !== null };
}

const hasFault = (faults, fields) => fields.some((field) => faultIn(faults, field) !== undefined);

function Editor({ data, reload }) {
  const { id } = data.agent;
  const [agent, setAgent] = useState(data.agent);
  const place = useMemo(() => draftName(id), []);
  const kept = useMemo(() => readDraft(place, data.agent, EDITED), []);
  const [draft, setDraft] = useState(() => ({ ...data.agent, ...kept?.changes }));
  const [wasKept, setWasKept] = useState(kept !== null && !same({ ...data.agent, ...kept.changes }, data.agent));
  const [tab, setTab] = useState('behaviour');
  const [turn, setTurn] = useState(0); // what was typed is thrown away: the section begins anew
  const [theirs, setTheirs] = useState(null);
  const mine = changes(agent, draft);
  const isDirty = Object.keys(mine).length > 0;
  const mayEdit = may('editor');

  useLayoutEffect(() => { // at once: the page may be left in the same moment
    if (isDirty) keepDraft(place, { changes: mine, updatedAt: wasKept && kept ? kept.updatedAt : agent.updatedAt });
    else dropDraft(place);
    guardLeaving(isDirty ? () => confirm(t('agent.leave')) : null);
  }, [draft, agent, wasKept]);
  useEffect(() => () => guardLeaving(null), []);

  const [save, saving, error] = useWork(async (over = null) => { // over: theirs, that the person has been told of; no later one
    const seen = over ?? (wasKept && kept ? kept : agent);
    let saved;
    try {
      ({ agent: saved } = await api('PATCH', `/v1/agents/${id}`, mine, { 'If-Match': `"${Date.parse(seen.updatedAt)}"` }));
    } catch (fault) {
      if (fault.code !== 'PRECONDITION_FAILED') throw fault;
      const { agent: now } = await get(`/v1/agents/${id}`);
      if (Object.keys(changes(now, draft)).some((name) => name in mine)) return setTheirs({ agent: now, isAgain: over !== null });
      saved = now; // it was this page's own save, whose answer was lost
    }
    setAgent(saved);
    setDraft((now) => ({ ...saved, ...changes(draft, now) })); // what was typed meanwhile stays
    setWasKept(false);
    setTheirs(null);
    toast(t('saved'));
    return saved;
  });
  const [remove, removing, removeError] = useWork(async () => {
    if (!await sure(t('agent.remove'), t('agent.removeText', agent.name), t('remove'))) return;
    await api('DELETE', `/v1/agents/${id}`);
    dropDraft(place);
    guardLeaving(null);
    go('/studio/agents');
  });
  const faults = error?.faults ?? {};
  const set = (path, value) => setDraft((old) => changed(old, path, value));
  const shown = SECTIONS.find((one) => one.name === tab) ?? SECTIONS[0];
  const restart = (from) => { setDraft(from); setWasKept(false); setTurn(turn + 1); };
  const discard = () => restart(agent);
  const takeTheirs = () => { setAgent(theirs.agent); restart(theirs.agent); setTheirs(null); };
  const rekey = ({ publicKey, apiKey }) => { // what others have saved meanwhile is not known yet: saving tells of it
    for (const change of [setAgent, setDraft]) change((old) => ({ ...old, publicKey, apiKey }));
  };
  return html`<${Head} title=${agent.name} lead=${t('agent.lead', money(agent.costPerMinute), count(agent.stats.totalCalls), duration(agent.stats.totalSeconds))}>
      ${isDirty && html`<${Badge} kind="warn">${t('agent.unsaved')}<//>`}${mayEdit && html`<${Button} kind="danger" busy=${removing} onClick=${remove}>${t('remove')}<//>`}<//>
    ${wasKept && html`<div class="notice" role="status"><p>${t('agent.kept')}</p><${Button} kind="slim" onClick=${discard}>${t('agent.discard')}<//></div>`}
    ${(removeError || (error && !Object.keys(faults).length)) && html`<${Problem} error=${removeError ?? error} />`}
    <nav class="tabs" aria-label=${t('agent.sections')}>${SECTIONS.map(({ name, fields }) => html`<a key=${name} href="#${name}" aria-current=${tab === name ? 'true' : undefined} class=${hasFault(faults, fields) ? 'has-fault' : ''}
      onClick=${(event) => { event.preventDefault(); setTab(name); }}>${t(`agent.tab.${name}`)}${hasFault(faults, fields) && html`<span class="visually-hidden"> ${t('agent.hasFault')}</span>`}</a>`)}</nav>
    <div class="editor"><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!saving) save(); }}>
      <section class="card" aria-label=${t(`agent.tab.${shown.name}`)}><fieldset disabled=${!mayEdit}><legend class="visually-hidden">${t(`agent.tab.${shown.name}`)}</legend>
        <${shown.page} key=${`${shown.name} ${turn}`} agent=${draft} saved=${agent} set=${set} faults=${faults} data=${data} reload=${reload} isDirty=${isDirty} rekey=${rekey} /></fieldset></section>
      ${mayEdit ? html`<div class="saver"><p role="status">${Object.keys(faults).length ? t('agent.faults', Object.keys(faults).length) : isDirty ? t('agent.unsavedText') : t('agent.allSaved')}</p>
        <${Button} onClick=${discard} busy=${!isDirty}>${t('agent.discard')}<//><${Button} kind="primary" type="submit" busy=${saving || !isDirty}>${saving ? t('working') : t('save')}<//></div>` : html`<p class="soft">${t('agent.viewOnly')}</p>`}
    </form><aside>${mayEdit && html`<${Talk} agent=${agent} isDirty=${isDirty} save=${save} />`}</aside></div>
    ${theirs && html`<${Conflict} mine=${Object.keys(mine).map((name) => t(`agent.${name}`))} onTheirs=${takeTheirs} isAgain=${theirs.isAgain} onMine=${() => save(theirs.agent)} onClose=${() => setTheirs(null)} />`}`;
}

export function Agent({ id }) {
  const loaded = useLoad(() => load(id), id);
  return html`<${Loaded} load=${loaded} title=${t('nav.agents')}>${(data) => html`<${Editor} key=${id} data=${data} reload=${loaded.reload} />`}<//>`;
}
