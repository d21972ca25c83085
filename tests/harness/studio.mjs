/* A person in the studio, without a browser: signs in by a link and keeps the cookie. */
import assert from 'node:assert/strict';

/* answers api(method, path, body, headers), with .cookie (to be given to a browser) and .member. */
export function person(service, { check = () => {} } = {}) {
  const api = async (method, path, body, headers = {}) => {
    const response = await fetch(service.url + path, {
      method, redirect: 'manual', body: body === undefined ? undefined : JSON.stringify(body),
      headers: { 'X-Earshot-Studio': '1', Origin: service.url, ...(api.cookie ? { Cookie: api.cookie } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    });
    const text = await response.text();
    let parsed = null;
    try { parsed = JSON.parse(text); } catch { /* not JSON */ }
    const answer = { status: response.status, headers: response.headers, body: parsed, text };
    const [cookie] = response.headers.getSetCookie();
    if (cookie) api.cookie = cookie.split(';')[0];
    check(method, path, answer);
    return answer;
  };
  return api;
}

/* Somebody signed in: by a link of the command line, or the link that an owner made. */
export async function signIn(service, { workspaceId, email, link, ...options }) {
  const api = person(service, options);
  const given =
    link ??
    (await service.cli('studio', 'link', '--workspace', workspaceId, ...(email ? ['--email', email] : []), '--json'))
      .link;
  const answer = await api('POST', '/v1/session', { link: given.replace(/.*#link=/, '') });
  assert.equal(answer.status, 201, answer.text);
  api.member = answer.body.member;
  return api;
}
