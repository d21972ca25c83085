/* What receivers were told of a call: its events, each with its deliveries, as they are now. */
import { html, useEffect, useState } from './lib.js';
import { api, get, may } from './api.js';
import { count, ms, t, theirs, time } from './text.js';
import { Badge, Button, Card, Loaded, Problem, toast, useLoad, useWork } from './ui.js';

const PAGE = 50;
const LOOK_MS = 5000; // again, while a delivery waits: no event tells that it was made
export const DELIVERY_KINDS = { delivered: 'good', failed: 'warn', dropped: 'bad', waiting: 'info' };

export function DeliveryState({ delivery }) {
  return html`<${Badge} kind=${DELIVERY_KINDS[delivery.state]}>${t(`delivery.${delivery.state}`)}${delivery.status ? ` ${delivery.status}` : ''}<//>`;
}

/* When the first of those that wait is tried; one that is due is being tried, or stands in line. */
function nextTry(deliveries) {
  const due = deliveries.map(({ dueAt }) => dueAt).filter(Boolean).sort()[0];
  return due && new Date(due) > new Date() ? t('told.next', time(due, { timeStyle: 'medium' })) : t('told.now');
}

function Delivery({ delivery, onResend, busy }) {
  const isWaiting = delivery.state === 'waiting';
  const mayResend = may('editor') && delivery.webhookId && !isWaiting;
  return html`<li><span class="break">${delivery.webhookId ? html`<a href="/studio/webhooks/${delivery.webhookId}">${delivery.url || delivery.webhookId}</a>` : delivery.url}<br />
      <span class="soft small">${t('told.attempts', count(delivery.attempts), ms(delivery.latencyMs))}${delivery.error && html` · ${theirs(delivery.error)}`}${isWaiting && ` · ${nextTry([delivery])}`}</span></span>
    <span class="actions"><${DeliveryState} delivery=${delivery} />${mayResend && html`<${Button} kind="slim quiet" busy=${busy} onClick=${() => onResend(delivery)} aria-label=${t('told.resend', delivery.type)}>${t('webhook.resend')}<//>`}</span></li>`;
}

function Event({ event, ...rest }) {
  const bad = event.deliveries.filter(({ state }) => state === 'failed' || state === 'dropped').length;
  const done = event.deliveries.filter(({ state }) => state === 'delivered').length;
  const waiting = event.deliveries.filter(({ state }) => state === 'waiting');
  return html`<details><summary><code>${event.type}</code> <span class="soft small number">${time(event.createdAt, { timeStyle: 'medium' })} · ${t('call.delivered', count(done), count(bad))}${waiting.length > 0 && `, ${t('told.waiting', count(waiting.length))} · ${nextTry(waiting)}`}</span></summary>
    ${event.deliveries.length ? html`<ul class="list">${event.deliveries.map((delivery) => html`<${Delivery} key=${delivery.id} delivery=${delivery} ...${rest} />`)}</ul>` : html`<p class="soft small">${t('told.nobody')}</p>`}</details>`;
}

/* freshness: whatever changes when there may be more to see. */
export function Told({ callId, freshness }) {
  const path = `/v1/calls/${callId}/events?limit=${PAGE}`;
  const [pages, setPages] = useState(1);
  const loaded = useLoad(async () => {
    const events = [];
    let next = '';
    for (let page = 0; page < pages && next !== null; page++) {
      const answer = await get(`${path}${next ? `&after=${next}` : ''}`);
      events.push(...answer.events);
      next = answer.nextCursor;
    }
    return { events, next };
  }, `${callId} ${pages} ${freshness}`);
  const isWaiting = loaded.data?.events.some(({ deliveries }) => deliveries.some(({ state }) => state === 'waiting'));
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(loaded.reload, LOOK_MS);
    return () => clearTimeout(timer);
  }, [isWaiting, loaded.data, loaded.error, loaded.reload]);
  const [resend, busy, error] = useWork(async (one) => { await api('POST', `/v1/webhooks/${one.webhookId}/deliveries/${one.id}/resend`); toast(t('webhook.resent')); loaded.reload(); });
  return html`<${Card} title=${t('told.title')} aside=${html`<${Button} kind="slim quiet" onClick=${loaded.reload}>${t('refresh')}<//>`}>${error && html`<${Problem} error=${error} />`}
    <${Loaded} load=${loaded}>${({ events, next }) => (events.length ? html`<div class="runs">${events.map((event) => html`<${Event} key=${event.id} event=${event} onResend=${resend} busy=${busy} />`)}</div>${next && html`<div class="more"><${Button} onClick=${() => setPages(pages + 1)}>${t('more')}<//></div>`}`
      : html`<p class="soft">${t('told.none')} <a href="/studio/webhooks">${t('nav.webhooks')}</a></p>`)}<//><//>`;
}
