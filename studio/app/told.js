/* What receivers were told of a call: its events, each with its deliveries, as they are now. */
import { html, useState } from './lib.js';
import { api, get, may } from './api.js';
import { count, ms, t, time } from './text.js';
import { Badge, Button, Card, Loaded, Problem, toast, useLoad, useWork } from './ui.js';

const PAGE = 50;
export const DELIVERY_KINDS = { delivered: 'good', failed: 'warn', dropped: 'bad', waiting: 'info' };

export function DeliveryState({ delivery }) {
  return html`<${Badge} kind=${DELIVERY_KINDS[delivery.state]}>${t(`delivery.${delivery.state}`)}${delivery.status ? ` ${delivery.status}` : ''}<//>`;
}

function Delivery({ delivery, onResend, busy }) {
  const mayResend = may('editor') && delivery.webhookId && delivery.state !== 'waiting';
  return html`<li><span class="break">${delivery.webhookId ? html`<a href="/studio/webhooks/${delivery.webhookId}">${delivery.url || delivery.webhookId}</a>` : delivery.url}<br />
      <span class="soft small">${t('told.attempts', count(delivery.attempts), ms(delivery.latencyMs))}${delivery.error && ` · ${delivery.error}`}</span></span>
    <span class="actions"><${DeliveryState} delivery=${delivery} />${mayResend && html`<${Button} kind="slim quiet" busy=${busy} onClick=${() => onResend(delivery)} aria-label=${t('told.resend', delivery.type)}>${t('webhook.resend')}<//>`}</span></li>`;
}

function Event({ event, ...rest }) {
  const bad = event.deliveries.filter(({ state }) => state === 'failed' || state === 'dropped').length;
  const done = event.deliveries.filter(({ state }) => state === 'delivered').length;
  return html`<details><summary><code>${event.type}</code> <span class="soft small number">${time(event.createdAt, { timeStyle: 'medium' })} · ${t('call.delivered', count(done), count(bad))}</span></summary>
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
  const [resend, busy, error] = useWork(async (one) => { await api('POST', `/v1/webhooks/${one.webhookId}/deliveries/${one.id}/resend`); toast(t('webhook.resent')); loaded.reload(); });
  return html`<${Card} title=${t('told.title')} aside=${html`<${Button} kind="slim quiet" onClick=${loaded.reload}>${t('refresh')}<//>`}>${error && html`<${Problem} error=${error} />`}
    <${Loaded} load=${loaded}>${({ events, next }) => (events.length ? html`<div class="runs">${events.map((event) => html`<${Event} key=${event.id} event=${event} onResend=${resend} busy=${busy} />`)}</div>${next && html`<div class="more"><${Button} onClick=${() => setPages(pages + 1)}>${t('more')}<//></div>`}`
      : html`<p class="soft">${t('told.none')} <a href="/studio/webhooks">${t('nav.webhooks')}</a></p>`)}<//><//>`;
}
