/* One subscription: where, what, a test, and the log of what was delivered. */
import { html, useRef, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { useSave } from '../conflict.js';
import { More, useList } from '../list.js';
import { around, count, ms, t, theirs, time } from '../text.js';
import { go, guardLeaving, useGuard } from '../router.js';
import { Button, Card, Check, Head, Loaded, Problem, Secret, Table, Text, sure, toast, useLoad, useWork } from '../ui.js';
import { DeliveryState } from '../told.js';
import { EventChoice } from './webhooks.js';

function Deliveries({ id }) {
  const list = useList(`/v1/webhooks/${id}/deliveries`, 'deliveries');
  const [resend, busy, error] = useWork(async (one) => { await api('POST', `/v1/webhooks/${id}/deliveries/${one.id}/resend`); toast(t('webhook.resent')); list.again(); });
  return html`<header class="head"><div><h2>${t('webhook.log')}</h2></div><${Button} kind="slim" onClick=${list.again}>${t('refresh')}<//></header>${error && html`<${Problem} error=${error} />`}<${Loaded} load=${list.load}>${() => (list.rows.length ? html`<${Table} label=${t('webhook.log')} head=${[t('calls.when'), t('webhook.event'), t('state'), { name: t('webhook.attempts'), kind: 'right' }, { name: t('webhook.latency'), kind: 'right' }, { name: '', kind: 'right' }]}>
    ${list.rows.map((one) => html`<tr key=${one.id}><td>${time(one.createdAt)}</td><td>${one.type}${one.callId && html` <a class="small" href="/studio/calls/${one.callId}">${t('webhook.call')}</a>`}</td><td><${DeliveryState} delivery=${one} />${one.error && html`<p class="small soft">${theirs(one.error)}</p>`}</td><td class="right number">${count(one.attempts)}</td><td class="right number">${ms(one.latencyMs)}</td>
      <td><div class="actions">${may('editor') && one.state !== 'waiting' && html`<${Button} kind="slim quiet" busy=${busy} onClick=${() => resend(one)}>${t('webhook.resend')}<//>`}</div></td></tr>`)}<//><${More} list=${list} />` : html`<p class="soft">${t('webhook.noDeliveries')}</p>`)}<//>`;
}

const SENT = ['url', 'events', 'enabled'];
const labelOf = (name) => t(`webhook.${name}`);

function Form({ webhook: loaded, types }) {
  const [saved, setSaved] = useState(loaded);
  const [webhook, setWebhook] = useState(loaded);
  const [secret, setSecret] = useState(null);
  const set = (name, value) => setWebhook((old) => ({ ...old, [name]: value }));
  useGuard(may('editor') && SENT.some((name) => JSON.stringify(webhook[name]) !== JSON.stringify(saved[name])), t('leave'));
  const [store, conflict] = useSave('PATCH', `/v1/webhooks/${saved.id}`, 'webhook', SENT);
  const more = useRef({}); // of the save that is asked about
  const [save, busy, error] = useWork(async (sent = {}) => {
    more.current = sent;
    const stored = await store(webhook, saved, sent);
    if (!stored) return;
    setSaved(stored);
    setWebhook((now) => (now === webhook ? stored : now)); // what was typed meanwhile stays
    setSecret(sent.rotateSecret ? stored.secret : null);
    toast(t('saved'));
  });
  const [test, testing, testError] = useWork(async () => { const answer = await api('POST', `/v1/webhooks/${saved.id}/test`); setTested(answer); });
  const [tested, setTested] = useState(null);
  const [remove, removing] = useWork(async () => {
    if (!await sure(t('webhook.remove'), t('webhook.removeText', saved.url), t('remove'))) return;
    await api('DELETE', `/v1/webhooks/${saved.id}`);
    guardLeaving(null);
    go('/studio/webhooks');
  });
  const faults = { ...(error?.faults ?? {}), ...(error?.code === 'URL_NOT_ALLOWED' ? { url: t('error.URL_NOT_ALLOWED') } : {}) };
  const mayEdit = may('editor');
  return html`<${Head} title=${t('webhook.title')} lead=${saved.url}>${mayEdit && html`<${Button} busy=${testing} onClick=${test}>${t('webhook.test')}<//><${Button} kind="danger" busy=${removing} onClick=${remove}>${t('remove')}<//>`}<//>${(testError || (error && !Object.keys(faults).length)) && html`<${Problem} error=${testError ?? error} />`}
    <div aria-live="polite">${tested && html`<div class="notice ${tested.ok ? '' : 'bad'}"><p>${tested.ok ? t('webhook.testOk', tested.status) : around('webhook.testFailed', theirs(tested.error) ?? tested.status)}</p></div>`}${secret && html`<div class="notice"><div><p>${t('webhook.secretOnce')}</p><br /><${Secret} value=${secret} label=${t('webhook.secret')} /></div></div>`}</div>
    <form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) save(); }}><${Card}><fieldset disabled=${!mayEdit}><${Text} label=${t('webhook.url')} type="url" value=${webhook.url} onInput=${(v) => set('url', v)} fault=${faults.url} required /><${EventChoice} types=${types} events=${webhook.events} onInput=${(v) => set('events', v)} fault=${faults.events} />
      <${Check} label=${t('webhook.enabled')} checked=${webhook.enabled} onInput=${(v) => set('enabled', v)} /></fieldset>${mayEdit && html`<div class="actions"><${Button} kind="primary" type="submit" busy=${busy}>${t('save')}<//><${Button} busy=${busy} onClick=${() => save({ rotateSecret: true })}>${t('webhook.rotate')}<//></div>`}<//></form><br /><${Deliveries} id=${saved.id} />${conflict(labelOf, (now) => { setSaved(now); setWebhook(now); }, () => save(more.current))}`;
}

export function Webhook({ id }) {
  const loaded = useLoad(async () => ({ ...await get(`/v1/webhooks/${encodeURIComponent(id)}`), types: (await get('/v1/webhooks/events')).events }), id);
  return html`<${Loaded} load=${loaded} title=${t('nav.webhooks')}>${(data) => html`<${Form} key=${id} ...${data} />`}<//>`;
}
