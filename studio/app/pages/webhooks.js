/* Subscriptions to events. */
import { html, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { t, theirs, time } from '../text.js';
import { Badge, Button, Check, Dialog, Empty, Head, Loaded, Problem, Secret, Table, Text, useLoad, useWork } from '../ui.js';

/* All events, or those that are chosen. */
export function EventChoice({ types, events, onInput, fault }) {
  const isAll = events.includes('*');
  return html`<fieldset><legend>${t('webhook.events')}</legend><${Check} label=${t('webhook.all')} checked=${isAll} onInput=${(isOn) => onInput(isOn ? ['*'] : ['call.ended'])} />
    ${!isAll && types.map(({ type, description }) => html`<${Check} key=${type} label=${type} hint=${theirs(description)} checked=${events.includes(type)} onInput=${(isOn) => onInput(isOn ? [...events, type] : events.filter((one) => one !== type))} />`)}${fault && html`<p class="fault">${fault}</p>`}</fieldset>`;
}

function NewWebhook({ types, onClose }) {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState(['*']);
  const [made, setMade] = useState(null);
  const [make, busy, error] = useWork(async () => setMade((await api('POST', '/v1/webhooks', { url, events })).webhook));
  const faults = { ...(error?.faults ?? {}), ...(error?.code === 'URL_NOT_ALLOWED' ? { url: t('error.URL_NOT_ALLOWED') } : {}) };
  if (made) return html`<${Dialog} title=${t('webhook.made')} onClose=${onClose}><p>${t('webhook.secretOnce')}</p><br /><${Secret} value=${made.secret} label=${t('webhook.secret')} /><div class="actions"><a class="button primary" href="/studio/webhooks/${made.id}">${t('done')}</a></div><//>`;
  return html`<${Dialog} title=${t('webhooks.new')} onClose=${onClose}><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) make(); }}>${error && !Object.keys(faults).length && html`<${Problem} error=${error} />`}
    <${Text} label=${t('webhook.url')} hint=${t('webhook.urlHint')} type="url" value=${url} onInput=${setUrl} fault=${faults.url} required autofocus /><${EventChoice} types=${types} events=${events} onInput=${setEvents} fault=${faults.events} />
    <div class="actions"><${Button} onClick=${onClose}>${t('cancel')}<//><${Button} kind="primary" type="submit" busy=${busy}>${t('create')}<//></div></form><//>`;
}

export function Webhooks() {
  const loaded = useLoad(async () => ({ ...await get('/v1/webhooks'), types: (await get('/v1/webhooks/events')).events }));
  const [isNew, setNew] = useState(false);
  const button = may('editor') && html`<${Button} kind="primary" onClick=${() => setNew(true)}>${t('webhooks.new')}<//>`;
  return html`<${Head} title=${t('nav.webhooks')} lead=${t('webhooks.lead')}>${button}<//><${Loaded} load=${loaded}>${({ webhooks, types }) => html`${webhooks.length ? html`<${Table} label=${t('nav.webhooks')} head=${[t('webhook.url'), t('webhook.events'), t('state'), t('updated')]}>
    ${webhooks.map((one) => html`<tr key=${one.id}><td class="name"><a href="/studio/webhooks/${one.id}">${one.url}</a></td><td>${one.events.includes('*') ? t('webhook.all') : one.events.join(', ')}</td><td><${Badge} kind=${one.enabled ? 'good' : ''}>${t(one.enabled ? 'on' : 'off')}<//></td><td class="soft">${time(one.updatedAt)}</td></tr>`)}<//>`
    : html`<${Empty} icon="webhooks" title=${t('webhooks.empty')} text=${t('webhooks.emptyText')}>${button}<//>`}${isNew && html`<${NewWebhook} types=${types} onClose=${() => { setNew(false); loaded.reload(); }} />`}`}<//>`;
}
