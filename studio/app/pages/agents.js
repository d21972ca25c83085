/* The agents: a list, and a new one out of a template. */
import { html, useState } from '../lib.js';
import { api, may } from '../api.js';
import { Listing, useList } from '../list.js';
import { count, duration, money, t, time } from '../text.js';
import { go } from '../router.js';
import { fromTemplate, templates } from '../templates.js';
import { Badge, Button, Dialog, Empty, Head, Problem, Table, Text, useWork } from '../ui.js';

function NewAgent({ onClose }) {
  const [chosen, setChosen] = useState(null);
  const [name, setName] = useState('');
  const [make, busy, error] = useWork(async () => {
    const { agent } = await api('POST', '/v1/agents', fromTemplate(chosen.name, name));
    go(`/studio/agents/${agent.id}`);
  });
  const pick = (template) => { setChosen(template); setName(template.name === 'blank' ? '' : template.title); };
  if (!chosen) {
    return html`<${Dialog} title=${t('agents.template')} onClose=${onClose}><div class="choices">${templates().map((template) => html`<button type="button" class="choice" key=${template.name} onClick=${() => pick(template)}>
      <strong>${template.title}</strong><span>${template.about}</span></button>`)}</div><div class="actions"><${Button} onClick=${onClose}>${t('cancel')}<//></div><//>`;
  }
  return html`<${Dialog} title=${t('agents.new')} onClose=${onClose}><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) make(); }}>${error && !error.faults?.name && html`<${Problem} error=${error} />`}
    <${Text} label=${t('name')} hint=${t('agents.nameHint')} fault=${error?.faults?.name} value=${name} onInput=${setName} maxlength="100" required autofocus />
    <div class="actions"><${Button} onClick=${() => setChosen(null)}>${t('back')}<//><${Button} kind="primary" type="submit" busy=${busy}>${t('create')}<//></div></form><//>`;
}

function Rows({ agents }) {
  return html`<${Table} label=${t('nav.agents')} head=${[t('name'), t('agents.voice'), t('agents.model'), { name: t('agents.perMinute'), kind: 'right' }, { name: t('agents.total'), kind: 'right' }, t('updated')]}>
      ${agents.map((agent) => html`<tr key=${agent.id}><td class="name"><a href="/studio/agents/${agent.id}">${agent.name}</a> ${agent.activeCalls > 0 && html`<${Badge} kind="good" live>${t('agents.active', count(agent.activeCalls))}<//>`}</td>
        <td>${agent.voice.language} · ${agent.voice.speaker}</td><td>${agent.llm.model}</td><td class="right number">${money(agent.costPerMinute)}</td><td class="right number">${count(agent.stats.totalCalls)} · ${duration(agent.stats.totalSeconds)}</td><td class="soft">${time(agent.updatedAt)}</td></tr>`)}<//>`;
}

export function Agents() {
  const [wanted, setWanted] = useState('');
  const list = useList('/v1/agents', 'agents', wanted);
  const [isNew, setNew] = useState(false);
  const button = may('editor') && html`<${Button} kind="primary" onClick=${() => setNew(true)}>${t('agents.new')}<//>`;
  return html`<${Head} title=${t('nav.agents')} lead=${t('agents.lead')}>${button}<//>
    <${Listing} list=${list} wanted=${wanted} onWanted=${setWanted} empty=${html`<${Empty} icon="agents" title=${t('agents.empty')} text=${t('agents.emptyText')}>${button}<//>`}>${(agents) => html`<${Rows} agents=${agents} />`}<//>
    ${isNew && html`<${NewAgent} onClose=${() => setNew(false)} />`}`;
}
