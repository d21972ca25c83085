/* Signing in: by the link in the address (once), or by e-mail and password; behind a proxy that signs people in, by itself. */
import { html, useEffect, useState } from '../lib.js';
import { api, session } from '../api.js';
import { around, t } from '../text.js';
import { Button, Text, explain, useWork } from '../ui.js';

export function takeLink() {
  const link = new URLSearchParams(location.hash.slice(1)).get('link');
  if (link) history.replaceState(null, '', location.pathname); // it is good once, and stays in no history
  return link;
}

/* The refusal's rows: "ID NAME". */
const choicesOf = ({ details }) => details.filter(({ field }) => field === 'workspaceId').map(({ message }) => ({ id: message.split(' ')[0], name: message.slice(message.indexOf(' ') + 1) }));

export function SignIn() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isUsed, setUsed] = useState(false);
  const [workspaceId, setWorkspaceId] = useState(null); // a text once it is asked for: the address is in more workspaces than are tried
  const [choices, setChoices] = useState([]); // workspaces of an address that a proxy vouches for
  const [enter, busy, error] = useWork(async (body) => { session.value = await api('POST', '/v1/session', body); });
  useEffect(() => {
    document.title = `${t('signIn')} – Earshot`;
    const enterByLink = () => {
      const link = takeLink();
      if (link) enter({ link }).then(() => setUsed(true));
      return link !== null;
    };
    if (!enterByLink()) api('POST', '/v1/session', {}).then((who) => { session.value = who; }, (error) => setChoices(choicesOf(error))); // a proxy may vouch
    addEventListener('hashchange', enterByLink); // pasted where this page is open
    return () => removeEventListener('hashchange', enterByLink);
  }, []);
  const submit = (event) => { event.preventDefault(); setUsed(false); if (!busy) enter({ email, password, ...(workspaceId && { workspaceId: workspaceId.trim() }) }); };
  const isAsked = Boolean(error?.faults?.workspaceId);
  useEffect(() => { if (isAsked) setWorkspaceId((now) => now ?? ''); }, [isAsked]);
  return html`<main class="sign" id="main"><section class="card" aria-labelledby="sign-title"><p class="brand"><img src="/studio/icon.svg" alt="" width="28" height="28" />Earshot</p><h1 id="sign-title">${t('signIn')}</h1><br />
    ${error && html`<div class="notice bad" role="alert"><p>${error.code === 'UNAUTHORIZED' ? t(isUsed ? 'signIn.badLink' : 'signIn.wrong') : explain(error)}</p></div>`}
    ${choices.length > 0 && html`<p>${t('signIn.choose')}</p><ul class="list">${choices.map(({ id, name }) => html`<li key=${id}><${Button} busy=${busy} onClick=${() => enter({ workspaceId: id })}>${name} <span class="soft small">${id}</span><//></li>`)}</ul><br />`}
    <form onSubmit=${submit}><${Text} label=${t('email')} value=${email} onInput=${setEmail} type="email" autocomplete="username" required />
      <${Text} label=${t('password')} value=${password} onInput=${setPassword} type="password" autocomplete="current-password" required />
      ${workspaceId !== null && html`<${Text} label=${t('signIn.workspace')} hint=${t('signIn.workspaceHint')} value=${workspaceId} onInput=${setWorkspaceId} required />`}
      <${Button} kind="primary" type="submit" busy=${busy}>${busy ? t('working') : t('signIn')}<//></form><br /><p class="soft small">${around('signIn.help', html`<code>earshot studio link --workspace ID</code>`)}</p></section></main>`;
}
