/* One document: what was taken from it. */
import { html, useState } from '../lib.js';
import { download, get } from '../api.js';
import { More } from '../list.js';
import { count, size, t, theirs } from '../text.js';
import { Button, Card, Head, Loaded, Problem, useLoad, useWork } from '../ui.js';
import { DocumentState } from './knowledge.js';

const PAGE = 50;

/* What is searched beside the cards, a page at a time: it has no ids, only its order. */
function Passages({ id }) {
  const page = (before) => get(`/v1/knowledge/documents/${encodeURIComponent(id)}/passages?${new URLSearchParams({ limit: PAGE, ...before })}`);
  const first = useLoad(() => page());
  const [rest, setRest] = useState([]);
  const pages = first.data ? [first.data, ...rest] : [];
  const { total, nextCursor } = pages.at(-1) ?? {};
  const [more, busy, error] = useWork(async () => { const next = await page({ before: nextCursor }); setRest([...rest, next]); });
  const rows = pages.flatMap((one) => one.passages);
  return html`<${Card} title=${t('document.passages')}><${Loaded} load=${first}>${() => (rows.length ? html`<ul class="list">${rows.map((one) => html`<li key=${one.position}><span>${one.text.split('\n').map((line, i) => html`${i > 0 && html`<br />`}${line}`)}</span></li>`)}</ul>
    ${error && html`<${Problem} error=${error} />`}<${More} list=${{ rows, total, next: nextCursor, busy, more }} />` : html`<p class="soft">${t('document.noPassages')}</p>`)}<//><//>`;
}

export function Document({ id }) {
  const loaded = useLoad(() => get(`/v1/knowledge/documents/${encodeURIComponent(id)}`), id);
  const [save, saving, error] = useWork((document) => download(`/v1/knowledge/documents/${id}/file`, document.name));
  return html`<${Loaded} load=${loaded} title=${t('nav.knowledge')}>${({ document, cards }) => html`<${Head} title=${document.name} lead=${t('document.lead', size(document.bytes), count(document.chars), count(document.sectionCount))}><${DocumentState} document=${document} />
      ${document.stored && html`<${Button} busy=${saving} onClick=${() => save(document)}>${t('document.download')}<//>`}<//>
    ${error && html`<${Problem} error=${error} />`}${document.error && html`<div class="notice bad"><p>${theirs(document.error)}</p></div>`}
    ${document.topics.length > 0 && html`<${Card} title=${t('document.topics')}><ul class="actions">${document.topics.map((topic) => html`<li class="badge" key=${topic}>${topic}</li>`)}</ul><//>`}
    <${Card} title=${t('document.cards')}>${cards.length ? html`<ul class="list">${cards.map((card, i) => html`<li key=${i}><span><strong>${card.question}</strong><br />${card.answer}</span></li>`)}</ul>` : html`<p class="soft">${t('document.noCards')}</p>`}<//>
    ${document.status === 'ready' && html`<${Passages} key=${id} id=${id} />`}`}<//>`;
}
