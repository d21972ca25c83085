/* The tools: endpoints that agents call. */
import { html, useState } from '../lib.js';
import { get, may } from '../api.js';
import { count, t, time } from '../text.js';
import { Badge, Button, Empty, Head, Loaded, Table, Text, useLoad } from '../ui.js';

const SHOWN_AT_ONCE = 100;

function Rows({ tools, agents }) {
  const [wanted, setWanted] = useState('');
  const [shown, setShown] = useState(SHOWN_AT_ONCE);
  const found = tools.filter((tool) => `${tool.name} ${tool.url}`.toLowerCase().includes(wanted.toLowerCase()));
  return html`<div class="filters"><${Text} label=${t('search')} type="search" value=${wanted} onInput=${setWanted} /></div>
    <${Table} label=${t('nav.tools')} head=${[t('name'), t('tools.endpoint'), t('tools.kind'), t('calls.agent'), t('updated')]}>
    ${found.slice(0, shown).map((tool) => html`<tr key=${tool.id}><td class="name"><a href="/studio/tools/${tool.id}">${tool.name}</a></td><td class="break"><${Badge}>${tool.method}<//> ${tool.url}</td><td>${t(`toolKind.${tool.kind}`)}</td><td>${agents[tool.agentId] ?? t('tools.anyAgent')}</td><td class="soft">${time(tool.updatedAt)}</td></tr>`)}<//>
    <div class="more"><span class="soft" role="status">${t('shown', count(Math.min(shown, found.length)), count(found.length))}</span>${found.length > shown && html`<${Button} onClick=${() => setShown(shown + SHOWN_AT_ONCE)}>${t('more')}<//>`}</div>`;
}

export function Tools() {
  const loaded = useLoad(async () => {
    const [{ tools }, { agents }] = await Promise.all([get('/v1/tools'), get('/v1/agents')]);
    return { tools, agents: Object.fromEntries(agents.map((agent) => [agent.id, agent.name])) };
  });
  const button = may('editor') && html`<a class="button primary" href="/studio/tools/new">${t('tools.new')}</a>`;
  return html`<${Head} title=${t('nav.tools')} lead=${t('tools.lead')}>${button}<//><${Loaded} load=${loaded}>${({ tools, agents }) => (tools.length ? html`<${Rows} tools=${tools} agents=${agents} />`
    : html`<${Empty} icon="tools" title=${t('tools.empty')} text=${t('tools.emptyText')}>${button}<//>`)}<//>`;
}
