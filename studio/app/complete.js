/* A text area that completes @tools and {{variables}}: arrows choose, Enter or Tab takes, Escape closes. */
import { html, useEffect, useId, useRef, useState } from './lib.js';
import { t } from './text.js';
import { Field } from './ui.js';

const SHOWN_MAX = 8;
const REST_MS = 200;

/* What stands before the caret and can be completed: { from, kind, names } or null. */
function wish(text, caret, tools, variables) {
  const before = text.slice(0, caret);
  const [, sign, typed] = before.match(/(@|\{\{)([A-Za-z0-9_]*)$/) ?? [];
  if (!sign) return null;
  const names = (sign === '@' ? tools : variables).filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()) && name !== typed).slice(0, SHOWN_MAX);
  return names.length ? { from: caret - typed.length, names, end: sign === '@' ? ' ' : '}}' } : null;
}

/* find(typed): names of tools beyond `tools`, asked for when typing rests. */
export function Complete({ label, hint, fault, value, onInput, tools, find, variables, lines, ...rest }) {
  const area = useRef();
  const id = useId();
  const [open, setOpen] = useState(null);
  const [at, setAt] = useState(0);
  const found = useRef([]);
  const timer = useRef();
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = () => { setOpen(wish(area.current.value, area.current.selectionStart, [...tools, ...found.current], variables)); setAt(0); };
  const ask = () => {
    clearTimeout(timer.current);
    const [, typed] = area.current.value.slice(0, area.current.selectionStart).match(/@([A-Za-z0-9_]+)$/) ?? [];
    if (!find || !typed) return;
    timer.current = setTimeout(async () => {
      const fresh = (await find(typed).catch(() => [])).filter((name) => !tools.includes(name) && !found.current.includes(name));
      found.current = [...found.current, ...fresh];
      if (fresh.length && document.activeElement === area.current) look();
    }, REST_MS);
  };
  const take = (name) => {
    area.current.setRangeText(name + open.end, open.from, area.current.selectionStart, 'end'); // at once: the next letter may come before the next frame
    onInput(area.current.value);
    setOpen(null);
  };
  const onKeyDown = (event) => {
    if (!open) return;
    if (event.key === 'Escape') setOpen(null);
    else if (event.key === 'ArrowDown') setAt((at + 1) % open.names.length);
    else if (event.key === 'ArrowUp') setAt((at + open.names.length - 1) % open.names.length);
    else if (event.key === 'Enter' || event.key === 'Tab') take(open.names[at]);
    else return;
    event.preventDefault();
  };
  return html`<div class="complete"><${Field} label=${label} hint=${hint} fault=${fault} control=${(tied) => html`<textarea ref=${area} rows=${lines} value=${value ?? ''} aria-autocomplete="list" aria-controls=${open ? id : undefined}
      aria-activedescendant=${open ? `${id}-${at}` : undefined} onInput=${(event) => { onInput(event.target.value); look(); ask(); }} onKeyDown=${onKeyDown} onBlur=${() => setOpen(null)} ...${tied} ...${rest}></textarea>`} />
    ${open && html`<ul role="listbox" id=${id} aria-label=${t('suggestions')}>${open.names.map((name, i) => html`<li role="option" id="${id}-${i}" key=${name} aria-selected=${String(i === at)} onMouseDown=${(event) => { event.preventDefault(); take(name); }}>${name}</li>`)}</ul>`}</div>`;
}
