/* The parts that pages are made of. */
import { html, signal, useCallback, useEffect, useId, useLayoutEffect, useRef, useState } from './lib.js';
import { ApiError } from './api.js';
import en from './texts/en.js';
import { isolated } from '../language.js';
import { t, theirs } from './text.js';

const ICONS = {
  play: 'M7 4v16l13-8z', stop: 'M6 6h12v12H6z',
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z', agents: 'M12 3a4 4 0 0 1 4 4v3a4 4 0 0 1-8 0V7a4 4 0 0 1 4-4zM5 11a7 7 0 0 0 14 0M12 18v3', calls: 'M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a2 2 0 0 1-2 2A15 15 0 0 1 3 6a2 2 0 0 1 2-2z',
  knowledge: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10', tools: 'M14 7a4 4 0 0 0-5.5 5L3 17.5 6.5 21l5.500-5.500A4 4 0 0 0 17 10l-2.500 2.500L12 11l-.500-2z', webhooks: 'M9 8a3.500 3.500 0 1 1 5 3l3 5M6.500 12A3.500 3.500 0 1 0 10 17h6M17 14a3 3 0 1 1-2.500 5',
  keys: 'M14 10a4 4 0 1 1-1.500-3.100L21 7v3h-3v3h-3l-1.500-1.500', members: 'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20a6.500 6.500 0 0 1 13 0M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500a6.500 6.500 0 0 1 3.500 5.500', voices: 'M4 10v4M8 7v10M12 4v16M16 7v10M20 10v4', settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4',
};

export function Icon({ name }) {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[name]} /></svg>`;
}

export function Head({ title, lead, children }) {
  useEffect(() => { document.title = `${isolated(String(title))} – Earshot`; }, [title]);
  return html`<div class="head"><div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div><div class="actions">${children}</div></div>`;
}

export function Card({ title, aside, children, ...rest }) {
  const id = useId();
  return html`<section class="card" aria-labelledby=${title ? id : undefined} ...${rest}>${title && html`<header><h2 id=${id}>${title}</h2>${aside}</header>`}${children}</section>`;
}

/* A button stays focusable while it works. */
export function Button({ onClick, busy = false, kind = '', type = 'button', children, ...rest }) {
  return html`<button type=${type} class="button ${kind}" aria-disabled=${busy ? 'true' : undefined} onClick=${(event) => { if (busy) event.preventDefault(); else onClick?.(event); }} ...${rest}>${children}</button>`;
}

export function Empty({ icon, title, text, children }) {
  return html`<div class="card empty"><${Icon} name=${icon} />${title && html`<h2>${title}</h2>`}<p>${text}</p><div class="actions">${children}</div></div>`;
}

/* Label, control, hint and fault, tied together. `control` gets the attributes. */
export function Field({ label, hint, fault, control }) {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || undefined;
  return html`<div class="field"><label for=${id}>${label}</label>${control({ id, 'aria-describedby': described, 'aria-invalid': fault ? 'true' : undefined })}
    ${hint && html`<span class="hint" id="${id}-hint">${hint}</span>`}${fault && html`<span class="fault" id="${id}-fault">${fault}</span>`}</div>`;
}

export function Text({ label, hint, fault, value, onInput, lines, ...rest }) {
  return html`<${Field} label=${label} hint=${hint} fault=${fault} control=${(tied) => (lines
    ? html`<textarea rows=${lines} value=${value ?? ''} onInput=${(event) => onInput(event.target.value)} ...${tied} ...${rest}></textarea>`
    : html`<input value=${value ?? ''} onInput=${(event) => onInput(event.target.value)} ...${tied} ...${rest} />`)} />`;
}

/* options: [[value, label, disabled]] */
export function Select({ label, hint, fault, value, onInput, options, ...rest }) {
  const has = options.some(([id]) => id === value);
  return html`<${Field} label=${label} hint=${hint} fault=${fault} control=${(tied) => html`<select value=${value} onChange=${(event) => onInput(event.target.value)} ...${tied} ...${rest}>
    ${!has && html`<option value=${value}>${value || '–'}</option>`}${options.map(([id, name, disabled]) => html`<option value=${id} disabled=${disabled} selected=${id === value}>${name}</option>`)}</select>`} />`;
}

export function Check({ label, hint, fault, checked, onInput, type = 'checkbox', ...rest }) {
  const id = useId();
  const box = html`<label class="check"><input type=${type} checked=${checked} onChange=${(event) => onInput(event.target.checked)} aria-describedby=${fault ? id : undefined} aria-invalid=${fault ? 'true' : undefined} ...${rest} /><span>${label}${hint && html`<small>${hint}</small>`}</span></label>`;
  return fault ? html`${box}<p class="fault" id=${id}>${fault}</p>` : box;
}

/* What the API says of a field or of anything in it: toolIds, toolIds[0], embed.allowedOrigins[1]. */
export function faultIn(faults, field) {
  return Object.entries(faults).find(([path]) => path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`))?.[1];
}

export function Table({ label, head, children }) {
  return html`<div class="card table" role="region" aria-label=${label} tabindex="0"><table><thead><tr>${head.map((name) => (typeof name === 'string'
    ? html`<th scope="col">${name}</th>` : html`<th scope="col" class=${name.kind}>${name.name || html`<span class="visually-hidden">${t('actions')}</span>`}</th>`))}</tr></thead><tbody>${children}</tbody></table></div>`;
}

export function Badge({ kind = '', live = false, children }) {
  return html`<span class="badge ${kind} ${live ? 'live' : ''}">${children}</span>`;
}

/* ---- what went wrong, in words ---- */

export function explain(error) {
  if (!(error instanceof ApiError)) return String(error?.message ?? error);
  return html`${en[`error.${error.code}`] ? t(`error.${error.code}`) : theirs(error.message)} ${explainFaults(error)}`;
}

/* null: none of its fields is at fault. */
export function explainFaults(error) {
  const faults = Object.entries(error.faults ?? {});
  return faults.length ? faults.map(([field, fault], i) => html`${i ? '; ' : ''}${field}: ${fault}`) : null;
}

export function Problem({ error, again }) {
  return html`<div class="notice bad" role="alert"><p>${explain(error)}</p>${again && html`<${Button} kind="slim" onClick=${again}>${t('again')}<//>`}</div>`;
}

/* ---- loading ---- */

/* { data, error, reload, set }; loads anew when `key` changes, and keeps what it has meanwhile. */
export function useLoad(fn, key = '') {
  const [state, setState] = useState({});
  const turn = useRef(0);
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    try {
      const data = await fn();
      if (mine === turn.current) setState({ data });
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ ...old, error }));
    }
  }, [key]);
  useEffect(() => { reload(); return () => { turn.current++; }; }, [reload]);
  return { ...state, reload, set: (data) => setState({ data }) };
}

/* title: of a page that has its own only when there is something to show. */
export function Loaded({ load, title, children }) {
  if (load.data !== undefined) return html`${load.error && html`<${Problem} error=${load.error} again=${load.reload} />`}${children(load.data)}`;
  return html`${title && html`<${Head} title=${title} />`}${load.error ? html`<${Problem} error=${load.error} again=${load.reload} />` : html`<p class="loading" role="status">${t('loading')}</p>`}`;
}

/* Something that takes a moment: [run, busy, error]. */
export function useWork(fn) {
  const [state, setState] = useState({ busy: false, error: null });
  const run = async (...args) => {
    setState({ busy: true, error: null });
    try {
      const answer = await fn(...args);
      setState({ busy: false, error: null });
      return answer;
    } catch (error) {
      setState({ busy: false, error });
      return undefined;
    }
  };
  return [run, state.busy, state.error];
}

/* ---- toasts ---- */

const TOAST_MS = 5000;
const toasts = signal([]);
let lastToast = 0;

export function toast(text) {
  const id = ++lastToast;
  toasts.value = [...toasts.value.slice(-3), { id, text }];
  setTimeout(() => { toasts.value = toasts.value.filter((one) => one.id !== id); }, TOAST_MS);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">${toasts.value.map(({ id, text }) => html`<div class="toast" key=${id}>${text}</div>`)}</div>`;
}

/* ---- dialogs ---- */

/* Keeps the focus while it is there and gives it back to where it was. Another title is another dialog, which begins at its own first field. */
export function Dialog({ title, onClose, children }) {
  const dialog = useRef();
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element.showModal();
    return () => element.close();
  }, [title]);
  const onShut = ({ currentTarget }) => { if (currentTarget.isConnected && !currentTarget.open) onClose(); };
  return html`<dialog ref=${dialog} aria-labelledby=${id} onClose=${onShut}><h2 id=${id}>${title}</h2>${children}</dialog>`;
}

const question = signal(null);

/* Asks before what cannot be undone; answers true or false. */
export function sure(title, text, action) {
  return new Promise((done) => { question.value = { title, text, action, done }; });
}

export function Questions() {
  const ask = question.value;
  if (!ask) return null;
  const answer = (is) => { question.value = null; ask.done(is); };
  return html`<${Dialog} title=${ask.title} onClose=${() => answer(false)}><p>${ask.text}</p><div class="actions"><${Button} onClick=${() => answer(false)} autofocus>${t('cancel')}<//>
    <${Button} kind="danger" onClick=${() => answer(true)}>${ask.action}<//></div><//>`;
}

/* ---- secrets ---- */

export function Secret({ value, label }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try { await navigator.clipboard.writeText(value); setCopied(true); } catch { getSelection().selectAllChildren(document.activeElement.previousElementSibling); }
  };
  return html`<div class="secret"><code aria-label=${label}>${value}</code><${Button} kind="slim" onClick=${copy}>${isCopied ? t('copied') : t('copy')}<//></div>`;
}
