/* One's own settings: language, look, password, sessions; and what the workspace has. */
import { html, useState } from '../lib.js';
import { api, get, loadSession, session } from '../api.js';
import { LANGUAGES, count, language, money, setLanguage, setTheme, t, theme, time } from '../text.js';
import { Badge, Button, Card, Head, Loaded, Problem, Select, Text, toast, useLoad, useWork } from '../ui.js';

function Password() {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const { member } = session.value;
  const [save, busy, error] = useWork(async () => { await api('PUT', '/v1/session/password', { password, current }); setCurrent(''); setPassword(''); toast(t('settings.passwordSet')); await loadSession(); });
  const faults = error?.faults ?? {};
  return html`<${Card} title=${t('password')}><p class="soft small">${member.email ? t('settings.passwordHint') : t('settings.noEmail')}</p><br /><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) save(); }}>${error && !Object.keys(faults).length && html`<${Problem} error=${error} />`}<input type="email" autocomplete="username" value=${member.email} readonly hidden />
    ${member.hasPassword && html`<${Text} label=${t('settings.current')} type="password" autocomplete="current-password" value=${current} onInput=${setCurrent} fault=${faults.current} required />`}<${Text} label=${t('settings.newPassword')} hint=${t('settings.passwordRule')} type="password" autocomplete="new-password" minlength="10" value=${password} onInput=${setPassword} fault=${faults.password} required />
    <${Button} type="submit" busy=${busy}>${t('save')}<//></form><//>`;
}

/* "Mozilla/5.0 (...) Firefox/128.0" as people call it. */
const browserOf = (agent) => agent.match(/(Firefox|Edg|OPR|Chrome|Safari)\/(\d+)/)?.slice(1, 3).join(' ').replace('Edg', 'Edge').replace('OPR', 'Opera') ?? agent.slice(0, 40);

function Sessions() {
  const loaded = useLoad(() => get('/v1/sessions'));
  const [end, busy, error] = useWork(async (one) => { await api('DELETE', `/v1/sessions/${one.id}`); loaded.reload(); });
  return html`<${Card} title=${t('settings.sessions')}>${error && html`<${Problem} error=${error} />`}<${Loaded} load=${loaded}>${({ sessions }) => html`<ul class="list">${sessions.map((one) => html`<li key=${one.id}><span>${browserOf(one.browser)} · ${one.address} ${one.current && html`<${Badge} kind="good">${t('settings.thisOne')}<//>`}<br /><span class="soft small">${t('settings.lastUsed', time(one.usedAt))}</span></span>${!one.current && html`<${Button} kind="slim" busy=${busy} onClick=${() => end(one)}>${t('settings.endSession')}<//>`}</li>`)}</ul>`}<//><//>`;
}

export function Settings() {
  const { workspace } = session.value;
  return html`<${Head} title=${t('nav.settings')} lead=${session.value.member.name} /><div class="two"><div class="stack"><${Card} title=${t('settings.look')}><${Select} label=${t('settings.language')} value=${language.value} onInput=${setLanguage} options=${Object.entries(LANGUAGES).map(([id, { name }]) => [id, name])} />
      <${Select} label=${t('settings.theme')} value=${theme.value} onInput=${setTheme} options=${['system', 'light', 'dark'].map((name) => [name, t(`theme.${name}`)])} /><//><${Password} /></div>
    <div class="stack"><${Card} title=${t('settings.workspace')}><dl class="pairs"><dt>${t('name')}</dt><dd>${workspace.name}</dd><dt>ID</dt><dd><code>${workspace.id}</code></dd><dt>${t('overview.balance')}</dt><dd class="number">${money(workspace.balance)}</dd><dt>${t('settings.plan')}</dt><dd>${workspace.plan}</dd><dt>${t('settings.calls')}</dt><dd class="number">${count(workspace.maxConcurrentCalls)}</dd></dl><//>
      <${Sessions} /><${Card} title=${t('settings.help')}><ul class="list"><li><a href="/docs">${t('settings.api')}</a></li><li><a href="/docs/button">${t('settings.button')}</a></li></ul><//></div></div>`;
}
