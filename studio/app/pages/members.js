/* The people of the workspace: an owner invites by a link, changes roles and removes. */
import { html, useState } from '../lib.js';
import { api, may, session } from '../api.js';
import { Listing, useList } from '../list.js';
import { t, time } from '../text.js';
import { Badge, Button, Dialog, Head, Problem, Secret, Select, Table, Text, explain, sure, toast, useWork } from '../ui.js';

const roles = () => ['viewer', 'editor', 'owner'].map((role) => [role, `${t(`role.${role}`)} – ${t(`role.${role}.about`)}`]);

/* A new member, or one that is changed. */
function Form({ member, onClose }) {
  const [draft, setDraft] = useState(member ?? { name: '', email: '', role: 'editor' });
  const [link, setLink] = useState(null);
  const [save, busy, error] = useWork(async () => {
    const body = { name: draft.name, email: draft.email, role: draft.role };
    const answer = member ? await api('PATCH', `/v1/members/${member.id}`, body) : await api('POST', '/v1/members', body);
    if (answer.link) setLink(answer.link);
    else onClose();
  });
  const faults = error?.faults ?? {};
  const set = (name) => (value) => setDraft({ ...draft, [name]: value });
  if (link) return html`<${Link} link=${link} name=${draft.name} onClose=${onClose} />`;
  return html`<${Dialog} title=${member ? t('members.edit') : t('members.invite')} onClose=${onClose}><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) save(); }}>${error && !Object.keys(faults).length && html`<${Problem} error=${error} />`}
    <${Text} label=${t('name')} value=${draft.name} onInput=${set('name')} fault=${faults.name} maxlength="100" required autofocus /><${Text} label=${t('email')} hint=${t('members.emailHint')} type="email" value=${draft.email} onInput=${set('email')} fault=${faults.email} /><${Select} label=${t('members.role')} value=${draft.role} onInput=${set('role')} options=${roles()} fault=${faults.role} />
    <div class="actions"><${Button} onClick=${onClose}>${t('cancel')}<//><${Button} kind="primary" type="submit" busy=${busy}>${member ? t('save') : t('members.makeLink')}<//></div></form><//>`;
}

function Link({ link, name, onClose }) {
  return html`<${Dialog} title=${t('members.link')} onClose=${onClose}><p>${t('members.linkText', name)}</p><br /><${Secret} value=${link} label=${t('members.link')} /><div class="actions"><${Button} kind="primary" onClick=${onClose}>${t('done')}<//></div><//>`;
}

export function Members() {
  const [wanted, setWanted] = useState('');
  const list = useList('/v1/members', 'members', wanted);
  const [open, setOpen] = useState(null); // { isNew }, { member } or { link, name }
  const close = () => { setOpen(null); list.again(); };
  const [remove, removing, error] = useWork(async (member) => {
    if (!await sure(t('members.remove'), t('members.removeText', member.name), t('remove'))) return;
    await api('DELETE', `/v1/members/${member.id}`);
    toast(t('removed'));
    list.again();
  });
  const [relink, linking, linkError] = useWork(async (member) => setOpen({ link: (await api('POST', `/v1/members/${member.id}/link`)).link, name: member.name }));
  const isOwner = may('owner');
  return html`<${Head} title=${t('nav.members')} lead=${t('members.lead')}>${isOwner && html`<${Button} kind="primary" onClick=${() => setOpen({ isNew: true })}>${t('members.invite')}<//>`}<//>${(error || linkError) && html`<div class="notice bad" role="alert"><p>${error?.code === 'CONFLICT' ? t('members.lastOwner') : explain(error ?? linkError)}</p></div>`}
    <${Listing} list=${list} wanted=${wanted} onWanted=${setWanted}>${(members) => html`<${Table} label=${t('nav.members')} head=${[t('name'), t('email'), t('members.role'), t('members.seen'), ...(isOwner ? [{ name: '', kind: 'right' }] : [])]}>${members.map((member) => html`<tr key=${member.id}><td class="name">${member.name} ${member.id === session.value.member.id && html`<${Badge}>${t('members.you')}<//>`}</td><td class="break">${member.email || '–'}</td><td>${t(`role.${member.role}`)}</td><td class="soft">${member.lastSeenAt ? time(member.lastSeenAt) : t('members.invited')}</td>
      ${isOwner && html`<td><div class="actions"><${Button} kind="slim quiet" onClick=${() => setOpen({ member })} aria-label=${t('editThis', member.name)}>${t('edit')}<//><${Button} kind="slim quiet" busy=${linking} onClick=${() => relink(member)} aria-label=${t('members.linkThis', member.name)}>${t('members.newLink')}<//><${Button} kind="slim quiet" busy=${removing} onClick=${() => remove(member)} aria-label=${t('removeThis', member.name)}>${t('remove')}<//></div></td>`}</tr>`)}<//>`}<//>
    ${open?.isNew && html`<${Form} onClose=${close} />`}${open?.member && html`<${Form} member=${open.member} onClose=${close} />`}${open?.link && html`<${Link} ...${open} onClose=${close} />`}`;
}
