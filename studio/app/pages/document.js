/* One document: what was taken from it. */
import { html } from '../lib.js';
import { download, get } from '../api.js';
import { count, size, t } from '../text.js';
import { Button, Card, Head, Loaded, Problem, useLoad, useWork } from '../ui.js';
import { DocumentState } from './knowledge.js';

export function Document({ id }) {
  const loaded = useLoad(() => get(`/v1/knowledge/documents/${encodeURIComponent(id)}`), id);
  const [save, saving, error] = useWork((document) => download(`/v1/knowledge/documents/${id}/file`, document.name));
  return html`<${Loaded} load=${loaded}>${({ document, cards }) => html`<${Head} title=${document.name} lead=${t('document.lead', size(document.bytes), count(document.chars), count(document.sectionCount))}><${DocumentState} document=${document} />
      ${document.stored && html`<${Button} busy=${saving} onClick=${() => save(document)}>${t('document.download')}<//>`}<//>
    ${error && html`<${Problem} error=${error} />`}${document.error && html`<div class="notice bad"><p>${document.error}</p></div>`}
    ${document.topics.length > 0 && html`<${Card} title=${t('document.topics')}><ul class="actions">${document.topics.map((topic) => html`<li class="badge" key=${topic}>${topic}</li>`)}</ul><//>`}
    <${Card} title=${t('document.cards')}>${cards.length ? html`<ul class="list">${cards.map((card, i) => html`<li key=${i}><span><strong>${card.question}</strong><br />${card.answer}</span></li>`)}</ul>` : html`<p class="soft">${t('document.noCards')}</p>`}<//>`}<//>`;
}
