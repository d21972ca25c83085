/* Where the person is: paths under /studio. Leaving a page that holds unsaved changes is asked about first. */
import { signal, useLayoutEffect } from './lib.js';

export const path = signal(location.pathname);
let guard = null;

/* fn() answers false to stay; null: nothing is unsaved. */
export function guardLeaving(fn) { guard = fn; }

/* Asks, where something is unsaved. */
const mayLeave = () => !guard || guard();
export const isGuarded = () => guard !== null;

/* For as long as the page is shown and isDirty: whoever leaves it is asked; by us, or by the browser when they leave the studio. */
const hold = (event) => event.preventDefault();
export function useGuard(isDirty, question) {
  useHold(isDirty);
  useLayoutEffect(() => {
    guardLeaving(isDirty ? () => confirm(question) : null);
    return () => guardLeaving(null);
  }, [isDirty, question]);
}

/* The same of what a change of page within the studio does not end: the browser alone asks. */
export function useHold(isHeld) {
  useLayoutEffect(() => {
    if (!isHeld) return undefined;
    addEventListener('beforeunload', hold);
    return () => removeEventListener('beforeunload', hold);
  }, [isHeld]);
}

export function go(to, { replace = false } = {}) {
  const isSamePage = to.split('#')[0] === path.value;
  if (!isSamePage && !mayLeave()) return false;
  if (!isSamePage) guard = null;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  path.value = location.pathname;
  if (!isSamePage) { scrollTo(0, 0); document.querySelector('#main')?.focus({ preventScroll: true }); }
  return true;
}

addEventListener('popstate', () => {
  if (guard && location.pathname !== path.value && !guard()) return history.pushState(null, '', path.value);
  guard = location.pathname === path.value ? guard : null;
  path.value = location.pathname;
});

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href^="/studio"]');
  if (!link || link.target || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});

/* null: it is no encoding of anything. */
function decoded(part) {
  try { return decodeURIComponent(part); } catch { return null; }
}

/* '/studio/agents/{id}' against the path: the ids, or null. */
export function match(pattern) {
  const names = pattern.split('/'), parts = path.value.replace(/\/$/, '').split('/');
  if (names.length !== parts.length) return null;
  const params = {};
  for (let i = 0; i < names.length; i++) {
    if (names[i].startsWith('{')) params[names[i].slice(1, -1)] = decoded(parts[i]);
    else if (names[i] !== parts[i]) return null;
  }
  return Object.values(params).includes(null) ? null : params;
}
