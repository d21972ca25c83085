/* The tools: endpoints that agents call. */
import { html } from '../lib.js';
import { get, may } from '../api.js';
import { t, time } from '../text.js';
import { Badge, Empty, Head, Loaded, Table, useLoad } from '../ui.js';

export function Tools() {
  const loaded = useLoad(async () => {
    const [{ tools }, { agents }] = await Promise.all([get('/v1/tools'), get('/v1/agents')]);
    return { tools, agents: Object.fromEntries(agents.map((agent) => [agent.id, agent.name])) };
  });
  const button = may('editor') && html`<a class="button primary" href="/studio/tools/new">${t('tools.new')}</a>`;
  return html`<${Head} title=${t('nav.tools')} lead=${t('tools.lead')}>${button}<//><${Loaded} load=${loaded}>${({ tools, agents }) => (tools.length ? html`<${Table} label=${t('nav.tools')} head=${[t('name'), t('tools.endpoint'), t('tools.kind'), t('calls.agent'), t('updated')]}>
    ${tools.map((tool) => html`<tr key=${tool.id}><td class="name"><a href="/studio/tools/${tool.id}">${tool.name}</a></td><td class="break"><${Badge}>${tool.method}<//> ${tool.url}</td><td>${t(`toolKind.${tool.kind}`)}</td><td>${agents[tool.agentId] ?? t('tools.anyAgent')}</td><td class="soft">${time(tool.updatedAt)}</td></tr>`)}<//>`
    : html`<${Empty} icon="tools" title=${t('tools.empty')} text=${t('tools.emptyText')}>${button}<//>`)}<//>`;
}
