/* The workspace's API keys: made, shown once, revoked. */
import { html, useState } from '../lib.js';
import { api } from '../api.js';
import { Listing, useList } from '../list.js';
import { t, time } from '../text.js';
import { Badge, Button, Dialog, Empty, Head, Problem, Secret, Table, Text, sure, toast, useWork } from '../ui.js';

function NewKey({ onClose }) {
  const [name, setName] = useState('');
  const [key, setKey] = useState(null);
  const [make, busy, error] = useWork(async () => setKey((await api('POST', '/v1/keys', { name })).apiKey.key));
  if (key) return html`<${Dialog} title=${t('keys.made')} onClose=${onClose}><p>${t('keys.once')}</p><br /><${Secret} value=${key} label=${t('keys.key')} /><br /><p class="soft small">${t('keys.try')}</p><pre tabindex="0">curl -s ${location.origin}/v1/me -H "Authorization: Bearer ${key}"</pre><div class="actions"><${Button} kind="primary" onClick=${onClose}>${t('done')}<//></div><//>`;
  return html`<${Dialog} title=${t('keys.new')} onClose=${onClose}><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) make(); }}>${error && !error.faults?.name && html`<${Problem} error=${error} />`}<${Text} label=${t('name')} hint=${t('keys.nameHint')} value=${name} onInput=${setName} fault=${error?.faults?.name} maxlength="100" required autofocus />
    <div class="actions"><${Button} onClick=${onClose}>${t('cancel')}<//><${Button} kind="primary" type="submit" busy=${busy}>${t('create')}<//></div></form><//>`;
}

export function Keys() {
  const [wanted, setWanted] = useState('');
  const list = useList('/v1/keys', 'keys', wanted);
  const [isNew, setNew] = useState(false);
  const [gone, setGone] = useState([]); // revoked here: the rows that are shown stay where they are
  const [revoke, busy, error] = useWork(async (key) => {
    if (!await sure(t('keys.revoke'), t('keys.revokeText', key.name), t('keys.revoke'))) return;
    await api('DELETE', `/v1/keys/${key.id}`);
    toast(t('keys.revoked'));
    setGone((ids) => [...ids, key.id]);
  });
  const button = html`<${Button} kind="primary" onClick=${() => setNew(true)}>${t('keys.new')}<//>`;
  return html`<${Head} title=${t('nav.keys')} lead=${t('keys.lead')}>${button}<//>${error && html`<${Problem} error=${error} />`}<${Listing} list=${list} wanted=${wanted} onWanted=${setWanted} empty=${html`<${Empty} icon="keys" title=${t('keys.empty')} text=${t('keys.emptyText')}>${button}<//>`}>
    ${(keys) => html`<${Table} label=${t('nav.keys')} head=${[t('name'), 'ID', t('state'), t('keys.used'), t('keys.created'), { name: '', kind: 'right' }]}>
    ${keys.map((one) => ({ ...one, revoked: one.revoked || gone.includes(one.id) })).map((key) => html`<tr key=${key.id}><td class="name">${key.name}</td><td><code>${key.id}</code></td><td><${Badge} kind=${key.revoked ? '' : 'good'}>${t(key.revoked ? 'keys.isRevoked' : 'keys.isGood')}<//></td><td class="soft">${key.lastUsedAt ? time(key.lastUsedAt) : t('never')}</td><td class="soft">${time(key.createdAt)}</td><td><div class="actions">${!key.revoked && html`<${Button} kind="slim quiet" busy=${busy} onClick=${() => revoke(key)} aria-label=${t('keys.revokeThis', key.name)}>${t('keys.revoke')}<//>`}</div></td></tr>`)}<//>`}<//>${isNew && html`<${NewKey} onClose=${() => { setNew(false); list.again(); }} />`}`;
}
