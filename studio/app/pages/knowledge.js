/* What agents know: documents added by dropping files or typing text, and a search that shows what an agent would find. */
import { html, useEffect, useRef, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { count, size, t, theirs, time } from '../text.js';
import { useHold } from '../router.js';
import { Badge, Button, Card, Dialog, Empty, Head, Loaded, Problem, Table, Text, explain, sure, toast, useLoad, useWork } from '../ui.js';

const PROCESSING_MS = 1000;
const SHOWN_AT_ONCE = 100;
const KINDS = { ready: 'good', processing: 'info', failed: 'bad' };

export function DocumentState({ document }) {
  return html`<${Badge} kind=${KINDS[document.status]} live=${document.status === 'processing'}>${t(`status.${document.status}`)}<//>`;
}

function NewText({ onClose, onAdded }) {
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const [add, busy, error] = useWork(async () => { await api('POST', '/v1/knowledge/documents', { name, text }); onAdded(); });
  const faults = error?.faults ?? {};
  return html`<${Dialog} title=${t('knowledge.addText')} onClose=${onClose}><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) add(); }}>${error && !Object.keys(faults).length && html`<${Problem} error=${error} />`}
    <${Text} label=${t('name')} value=${name} onInput=${setName} fault=${faults.name} maxlength="255" required autofocus /><${Text} label=${t('knowledge.text')} hint=${t('knowledge.textHint')} lines="10" value=${text} onInput=${setText} fault=${faults.text} required />
    <div class="actions"><${Button} onClick=${onClose}>${t('cancel')}<//><${Button} kind="primary" type="submit" busy=${busy}>${t('add')}<//></div></form><//>`;
}

/* Files go one after another; each tells how it went. */
function Drop({ onAdded }) {
  const input = useRef();
  const [isOver, setOver] = useState(false);
  const [files, setFiles] = useState([]);
  const line = useRef({ count: 0, end: Promise.resolve() }); // of all drops together
  useHold(files.some(({ state }) => state === 'waiting' || state === 'sending'));
  const mark = (i, change) => setFiles((old) => old.map((file, n) => (n === i ? { ...file, ...change } : file)));
  const sendAll = async (list, from) => {
    for (const [i, file] of list.entries()) {
      mark(from + i, { state: 'sending' });
      try {
        await api('POST', `/v1/knowledge/documents?name=${encodeURIComponent(file.name)}`, file);
        mark(from + i, { state: 'done' });
        onAdded();
      } catch (error) {
        mark(from + i, { state: 'failed', why: explain(error) });
      }
    }
  };
  const take = (list) => {
    const from = line.current.count;
    line.current.count += list.length;
    setFiles((old) => [...old, ...list.map((file) => ({ name: file.name, state: 'waiting' }))]);
    line.current.end = line.current.end.then(() => sendAll(list, from));
  };
  return html`<div class="drop ${isOver ? 'is-over' : ''}" onDragOver=${(event) => { event.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${(event) => { event.preventDefault(); setOver(false); take([...event.dataTransfer.files]); }}>
    <p>${t('knowledge.drop')}</p><p class="soft small">${t('knowledge.kinds')}</p><br /><input ref=${input} type="file" multiple hidden accept=".pdf,.docx,.txt,.md,text/plain" aria-label=${t('knowledge.choose')} onChange=${(event) => { take([...event.target.files]); event.target.value = ''; }} />
    <${Button} onClick=${() => input.current.click()}>${t('knowledge.choose')}<//><ul aria-live="polite">${files.map((file, i) => html`<li key=${i} class="small ${file.state === 'failed' ? 'fault' : 'soft'}">${file.name} – ${file.why ?? t(`upload.${file.state}`)}</li>`)}</ul></div>`;
}

/* The words of the question in a text, marked; a longer one also where it begins a word (open: opening). */
function Marked({ text, query }) {
  const asked = query.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u).filter((one) => one.length > 2);
  const isAsked = (word) => asked.some((one) => one === word || (one.length > 3 && word.startsWith(one)));
  return text.split(/([\p{L}\p{M}\p{N}]+)/u).map((part, i) => (i % 2 && isAsked(part.toLowerCase()) ? html`<mark key=${i}>${part}</mark>` : part));
}

function Search({ documents }) {
  const [query, setQuery] = useState('');
  const ready = documents.filter((one) => one.status === 'ready').slice(0, 500).map((one) => one.id);
  const [search, busy, error] = useWork(async () => setFound({ query, ...await api('POST', '/v1/knowledge/search', { documentIds: ready, query }) }));
  const [found, setFound] = useState(null);
  if (!ready.length) return null;
  return html`<${Card} title=${t('knowledge.search')}><p class="soft small">${t('knowledge.searchHint')}</p><br /><form noValidate class="filters" onSubmit=${(event) => { event.preventDefault(); if (!busy) search(); }}><${Text} label=${t('knowledge.question')} value=${query} onInput=${setQuery} maxlength="300" required type="search" /><${Button} type="submit" busy=${busy}>${t('search')}<//></form>
    ${error && html`<${Problem} error=${error} />`}<div aria-live="polite">${found && html`<p class="soft small">${found.hits.length ? t('knowledge.hits', found.hits.length, found.ms) : t('knowledge.noHits')}</p><ul class="list">${found.hits.map((hit, i) => html`<li key=${i}><span>${hit.question && html`<strong><${Marked} text=${hit.question} query=${found.query} /></strong><br />`}<${Marked} text=${hit.text} query=${found.query} /><br /><span class="soft small"><bdi>${hit.document}</bdi> · ${t(`hit.${hit.kind}`)}</span></span>
      <${Badge} kind=${hit.similarity >= 0.6 ? 'good' : 'info'}>${t('knowledge.similar', Math.round(hit.similarity * 100))}<//></li>`)}</ul>`}</div><//>`;
}

function Rows({ documents, reload }) {
  const [wanted, setWanted] = useState('');
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const found = documents.filter((one) => one.name.toLowerCase().includes(wanted.toLowerCase()));
  const [remove, removing, error] = useWork(async (one) => {
    if (!await sure(t('knowledge.remove'), t('knowledge.removeText', one.name), t('remove'))) return;
    await api('DELETE', `/v1/knowledge/documents/${one.id}`);
    toast(t('removed'));
    reload();
  });
  const [retry, retrying, retryError] = useWork(async (one) => { await api('POST', `/v1/knowledge/documents/${one.id}/retry`); reload(); });
  return html`<div class="filters"><${Text} label=${t('search')} type="search" value=${wanted} onInput=${setWanted} /></div>${(error || retryError) && html`<${Problem} error=${error ?? retryError} />`}
    <${Table} label=${t('nav.knowledge')} head=${[t('name'), t('state'), { name: t('knowledge.size'), kind: 'right' }, { name: t('knowledge.passages'), kind: 'right' }, t('added'), { name: '', kind: 'right' }]}>${found.slice(0, shown).map((one) => html`<tr key=${one.id}><td class="name"><a href="/studio/knowledge/${one.id}">${one.name}</a></td>
      <td><${DocumentState} document=${one} />${one.error && html`<p class="small soft">${theirs(one.error)}</p>`}</td><td class="right number">${size(one.bytes)}</td><td class="right number">${count(one.sectionCount)} + ${count(one.cardCount)}</td><td class="soft">${time(one.createdAt)}</td>
      <td><div class="actions">${may('editor') && one.status === 'failed' && html`<${Button} kind="slim" busy=${retrying} onClick=${() => retry(one)}>${t('again')}<//>`}${may('editor') && html`<${Button} kind="slim quiet" busy=${removing} onClick=${() => remove(one)} aria-label=${t('removeThis', one.name)}>${t('remove')}<//>`}</div></td></tr>`)}<//>
    <div class="more"><span class="soft" role="status">${t('shown', Math.min(shown, found.length), found.length)}</span>${found.length > shown && html`<${Button} onClick=${() => setShown(shown + SHOWN_AT_ONCE)}>${t('more')}<//>`}</div>`;
}

export function Knowledge() {
  const loaded = useLoad(() => get('/v1/knowledge/documents'));
  const [isNew, setNew] = useState(false);
  const isProcessing = loaded.data?.documents.some((one) => one.status === 'processing');
  useEffect(() => {
    if (!isProcessing) return undefined;
    const timer = setInterval(loaded.reload, PROCESSING_MS);
    return () => clearInterval(timer);
  }, [isProcessing]);
  const button = may('editor') && html`<${Button} kind="primary" onClick=${() => setNew(true)}>${t('knowledge.addText')}<//>`;
  return html`<${Head} title=${t('nav.knowledge')} lead=${t('knowledge.lead')}>${button}<//><${Loaded} load=${loaded}>${({ documents }) => html`<div class="stack">${may('editor') && html`<${Drop} onAdded=${loaded.reload} />`}<${Search} documents=${documents} />
    <div>${documents.length ? html`<${Rows} documents=${documents} reload=${loaded.reload} />` : html`<${Empty} icon="knowledge" title=${t('knowledge.empty')} text=${t('knowledge.emptyText')}>${button}<//>`}</div></div>`}<//>
    ${isNew && html`<${NewText} onClose=${() => setNew(false)} onAdded=${() => { setNew(false); toast(t('knowledge.added')); loaded.reload(); }} />`}`;
}
