/* The API by the session's cookie. A refusal is an ApiError: its code, and the faults by field. */
import { asked } from '../apart.js';
import { signal } from './lib.js';
import { isGuarded } from './router.js';
import { faultText, theirs } from './text.js';

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.error ?? `status ${status}`);
    this.status = status;
    this.code = body?.code ?? (status ? 'INTERNAL_ERROR' : 'OFFLINE');
    this.details = body?.details ?? [];
    this.faults = Object.fromEntries(this.details.map(({ field, message }) => [field, faultText(message) ?? theirs(message)]));
  }
}

/* undefined: not known yet; null: signed out; else { member, workspace }. */
export const session = signal(undefined);
export const isOffline = signal(false);
/* The tabs of a browser share the cookie: somebody else signed in in another one, and this page's requests are refused. */
export const isElsewhere = signal(false);
/* The session has ended while something unsaved is on the page, which stays: who signs in again, in another tab, can save it. */
export const isExpired = signal(false);

/* What every request of the studio carries: that it is one, and for whom the page was opened. */
export const ours = () => ({ 'X-Earshot-Studio': '1', ...(session.value ? { 'X-Earshot-Member': session.value.member.id } : {}) });

const RETRY_MS = [500, 1500, 4000];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/* A lost request that the service still works at, such as the run of a tool, is asked for again; no longer than any of them takes. */
const WORK_MS = 70000, LOOK_MS = 1000;
async function isLater(begun) {
  await pause(LOOK_MS);
  return Date.now() - begun < WORK_MS;
}

/* What was asked before the studio was there, once. */
function early(method, path) {
  if (method !== 'GET' || path !== '/v1/me') return null;
  const { me } = asked;
  asked.me = null;
  return me;
}

async function send(method, path, body, headers) {
  const answer = early(method, path);
  if (answer) return answer;
  const isRaw = body instanceof Blob;
  const type = body === undefined ? {} : { 'Content-Type': isRaw ? 'application/octet-stream' : 'application/json' };
  return fetch(path, { method, headers: { ...ours(), ...type, ...headers }, body: body === undefined || isRaw ? body : JSON.stringify(body) });
}

/* A dropped connection is tried again, within an answer as before it: reading at will, writing under one Idempotency-Key, so that nothing
 * is done twice. Answers { status, isOk, answer }; read(response) reads what is no refusal. */
async function sendSurely(method, path, body, given, read) {
  const headers = method === 'POST' ? { ...given, 'Idempotency-Key': crypto.randomUUID?.() ?? `${Date.now()}${Math.random()}` } : given;
  const begun = Date.now();
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await send(method, path, body, headers);
      const answer = await (response.ok ? read(response) : jsonOf(response));
      isOffline.value = false;
      if (attempt && answer?.code === 'IDEMPOTENCY_KEY_IN_USE' && await isLater(begun)) continue; // the try that was lost goes on there
      const wasRemoved = attempt > 0 && method === 'DELETE' && response.status === 404; // by the try that was lost
      return { status: response.status, isOk: response.ok || wasRemoved, answer };
    } catch {
      isOffline.value = true;
      if (attempt >= RETRY_MS.length || method === 'PATCH') throw new ApiError(0, null);
      await pause(RETRY_MS[attempt]);
    }
  }
}

/* null: not JSON; rejects when the connection is lost within it. */
async function jsonOf(response) {
  const text = await response.text();
  try { return JSON.parse(text); } catch { return null; }
}

export async function api(method, path, body, headers = {}, read = jsonOf) {
  const { status, isOk, answer } = await sendSurely(method, path, body, headers, read);
  if (!isOk) throw refusal(status, answer, path);
  isElsewhere.value = false;
  isExpired.value = false;
  return answer;
}

function refusal(status, answer, path) {
  if (status === 401 && path !== '/v1/session') {
    if (session.value && isGuarded()) isExpired.value = true;
    else session.value = null;
  }
  const error = new ApiError(status, answer);
  if (error.code === 'SIGNED_IN_ELSEWHERE') isElsewhere.value = true;
  return error;
}

export const get = (path) => api('GET', path);

/* Server-sent events, each { event, id, data }, until the service ends the stream or it is lost. */
export async function* openStream(path, lastId, signal) {
  const response = await fetch(path, { headers: { ...ours(), ...(lastId ? { 'Last-Event-ID': String(lastId) } : {}) }, signal });
  if (!response.ok) throw refusal(response.status, await jsonOf(response), path);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
      if (fields.event) yield { event: fields.event, id: fields.id, data: JSON.parse(fields.data) };
    }
  }
}

const blobOf = (response) => response.blob();

/* A file of the service, saved by the browser. */
export async function download(path, name) {
  const url = URL.createObjectURL(await api('GET', path, undefined, {}, blobOf));
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export async function loadSession() {
  try {
    const { account, workspaces } = await get('/v1/me');
    session.value = account ? { member: account, workspace: workspaces[0] } : null;
  } catch (error) {
    if (!error.status || isElsewhere.value) throw error;
    session.value = null;
  }
}

const RANK = { viewer: 0, editor: 1, owner: 2 };
/* May this member do what that role may? */
export const may = (role) => RANK[session.value?.member.role ?? 'viewer'] >= RANK[role];
