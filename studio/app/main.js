/* The studio: who is signed in sees the page of the path; everybody else signs in first. */
import { effect, html, render, useEffect, useState } from './lib.js';
import { api, isElsewhere, isExpired, isOffline, loadSession, may, session } from './api.js';
import { setTheme, t, theme } from './text.js';
import { draftsOfMine, dropDrafts, hasDrafts } from './draft.js';
import { isGuarded, match, path } from './router.js';
import { Button, Empty, Head, Icon, Questions, Toasts, explain, toast } from './ui.js';
import { SignIn, takeLink } from './pages/sign-in.js';
import { Overview } from './pages/overview.js';
import { Agents } from './pages/agents.js';
import { Agent } from './pages/agent.js';
import { Calls } from './pages/calls.js';
import { Call } from './pages/call.js';
import { Knowledge } from './pages/knowledge.js';
import { Document } from './pages/document.js';
import { Tools } from './pages/tools.js';
import { Tool } from './pages/tool.js';
import { Webhooks } from './pages/webhooks.js';
import { Webhook } from './pages/webhook.js';
import { Voices } from './pages/voices.js';
import { Keys } from './pages/keys.js';
import { Members } from './pages/members.js';
import { Settings } from './pages/settings.js';

/* path, page, place in the menu; group: the heading that begins there; least: the role that sees it. */
const PAGES = [
  { path: '/studio', page: Overview, nav: 'overview' },
  { path: '/studio/agents', page: Agents, nav: 'agents', group: 'build' },
  { path: '/studio/agents/{id}', page: Agent, of: 'agents' },
  { path: '/studio/knowledge', page: Knowledge, nav: 'knowledge' },
  { path: '/studio/knowledge/{id}', page: Document, of: 'knowledge' },
  { path: '/studio/tools', page: Tools, nav: 'tools' },
  { path: '/studio/tools/{id}', page: Tool, of: 'tools' },
  { path: '/studio/voices', page: Voices, nav: 'voices' },
  { path: '/studio/calls', page: Calls, nav: 'calls', group: 'run' },
  { path: '/studio/calls/{id}', page: Call, of: 'calls' },
  { path: '/studio/webhooks', page: Webhooks, nav: 'webhooks' },
  { path: '/studio/webhooks/{id}', page: Webhook, of: 'webhooks' },
  { path: '/studio/keys', page: Keys, nav: 'keys', group: 'workspace', least: 'owner' },
  { path: '/studio/members', page: Members, nav: 'members' },
  { path: '/studio/settings', page: Settings, nav: 'settings' },
];

function Menu({ current }) {
  const entries = PAGES.filter(({ nav, least }) => nav && may(least ?? 'viewer'));
  return html`<nav aria-label=${t('menu')}><ul>${entries.map((entry) => html`
    ${entry.group && html`<li class="group">${t(`group.${entry.group}`)}</li>`}
    <li key=${entry.nav}><a href=${entry.path} aria-current=${current === entry.nav ? 'page' : undefined}><${Icon} name=${entry.nav} />${t(`nav.${entry.nav}`)}</a></li>`)}</ul></nav>`;
}

function Who() {
  const { member, workspace } = session.value;
  const signOut = async () => {
    if ((isGuarded() || hasDrafts()) && !confirm(t('leave'))) return;
    const drafts = draftsOfMine();
    await api('DELETE', '/v1/session').catch(() => {});
    if (isElsewhere.value) return;
    dropDrafts(drafts);
    session.value = null;
  };
  return html`<div class="who small"><p><strong>${workspace.name}</strong><br />${member.name} <span class="soft">· ${t(`role.${member.role}`)}</span></p><${Button} kind="slim" onClick=${signOut}>${t('signOut')}<//></div>`;
}

/* A link is for who is not signed in: left in the address, it would sign in again who signs out. */
function useNoLink() {
  useEffect(() => {
    const drop = () => { if (takeLink()) toast(t('signIn.already')); };
    drop();
    addEventListener('hashchange', drop);
    return () => removeEventListener('hashchange', drop);
  }, []);
}

function Frame() {
  useNoLink();
  const [isOpen, setOpen] = useState(false);
  const entry = PAGES.find((one) => match(one.path));
  const isAllowed = entry && may(entry.least ?? 'viewer');
  useEffect(() => setOpen(false), [path.value]);
  return html`<a class="skip" href="#main">${t('skip')}</a>
    <div class="bar" role="region" aria-label=${t('menu')}><${Button} kind="slim" onClick=${() => setOpen(!isOpen)} aria-expanded=${String(isOpen)} aria-controls="side">${t('menu')}<//><a class="brand" href="/studio"><img src="/studio/icon.svg" alt="" width="24" height="24" />Earshot</a></div>
    <div class="frame"><header class="side ${isOpen ? 'is-open' : ''}" id="side"><a class="brand" href="/studio"><img src="/studio/icon.svg" alt="" width="26" height="26" />Earshot</a>
      <${Menu} current=${entry?.nav ?? entry?.of} /><${Who} /></header>
    <main class="main" id="main" tabindex="-1">${isOffline.value && html`<div class="notice warn" role="status"><p>${t('offline')}</p></div>`}${isElsewhere.value && html`<div class="notice warn" role="alert"><p>${t('error.SIGNED_IN_ELSEWHERE')}</p><${Button} kind="slim" onClick=${() => location.reload()}>${t('elsewhere.reload')}<//></div>`}${isExpired.value && html`<div class="notice warn" role="alert"><p>${t('expired')}</p><a class="button slim" href="/studio" target="_blank" rel="noopener">${t('expired.signIn')}</a></div>`}
      ${isAllowed ? html`<${entry.page} key=${path.value} ...${match(entry.path)} />` : html`<${Head} title=${t('nothingHere')} /><${Empty} icon="overview" text=${t('nothingHereText')}><a class="button" href="/studio">${t('nav.overview')}</a><//>`}</main></div>`;
}

function App() {
  const [error, setError] = useState(null);
  const load = () => { setError(null); loadSession().catch(setError); };
  useEffect(load, []);
  if (session.value === undefined) return error ? html`<main class="sign"><div class="card" role="alert"><p>${explain(error)}</p><br /><${Button} onClick=${load}>${t('again')}<//></div></main>` : null;
  return html`${session.value ? html`<${Frame} />` : html`<${SignIn} />`}<${Questions} /><${Toasts} />`;
}

/* Dark as the person or the system has it. */
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
function applyTheme() {
  const isDark = theme.value === 'dark' || (theme.value === 'system' && prefersDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}
prefersDark.addEventListener('change', applyTheme);
effect(applyTheme);
addEventListener('storage', ({ key, newValue }) => { // chosen in another tab
  if (key === 'earshot.theme') setTheme(newValue ?? 'system');
});

render(html`<${App} />`, document.getElementById('app'));
