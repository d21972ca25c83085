/* The tools: endpoints that agents call. */
import { html, useState } from '../lib.js';
import { may } from '../api.js';
import { Listing, useAgentNames, useList } from '../list.js';
import { t, time } from '../text.js';
import { Badge, Empty, Head, Table } from '../ui.js';

function Rows({ tools }) {
  const agents = useAgentNames(tools.map((tool) => tool.agentId));
  return html`<${Table} label=${t('nav.tools')} head=${[t('name'), t('tools.endpoint'), t('tools.kind'), t('calls.agent'), t('updated')]}>
    ${tools.map((tool) => html`<tr key=${tool.id}><td class="name"><a href="/studio/tools/${tool.id}">${tool.name}</a></td><td class="break"><${Badge}>${tool.method}<//> ${tool.url}</td><td>${t(`toolKind.${tool.kind}`)}</td><td>${tool.agentId ? agents.get(tool.agentId) : t('tools.anyAgent')}</td><td class="soft">${time(tool.updatedAt)}</td></tr>`)}<//>`;
}

export function Tools() {
  const [wanted, setWanted] = useState('');
  const list = useList('/v1/tools', 'tools', wanted);
  const button = may('editor') && html`<a class="button primary" href="/studio/tools/new">${t('tools.new')}</a>`;
  return html`<${Head} title=${t('nav.tools')} lead=${t('tools.lead')}>${button}<//><${Listing} list=${list} wanted=${wanted} onWanted=${setWanted} empty=${html`<${Empty} icon="tools" title=${t('tools.empty')} text=${t('tools.emptyText')}>${button}<//>`}>
    ${(tools) => html`<${Rows} tools=${tools} />`}<//>`;
}
