/* Which languages there are, which one is meant, and how a text is filled: for the studio and for the pages for everybody. The texts
 * themselves are tables, one file a language: app/texts of the studio, texts of the pages, embed/texts of the call button. */
export const LANGUAGES = { en: { name: 'English', dir: 'ltr' }, hi: { name: 'हिन्दी', dir: 'ltr' } };
const KEPT = 'earshot.language';

export function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}

export function keep(name, value) {
  try { localStorage.setItem(name, value); } catch { /* private window: for this visit only */ }
}

/* What the person has chosen, else the first of the browser's languages that is there. */
export function firstLanguage() {
  const wanted = [stored(KEPT), ...(navigator.languages ?? []).map((id) => id.split('-')[0])];
  return wanted.find((id) => Object.hasOwn(LANGUAGES, id)) ?? 'en';
}

export const keepLanguage = (id) => keep(KEPT, id);

/* Told when another tab has chosen one. */
export function onChosenElsewhere(change) {
  addEventListener('storage', ({ key, newValue }) => { if (key === KEPT && Object.hasOwn(LANGUAGES, newValue)) change(newValue); });
}

/* The document says which language it is in, and which way that is written. */
export function mark(id) {
  document.documentElement.lang = id;
  document.documentElement.dir = LANGUAGES[id].dir;
}

/* Controls of direction, and letters that are written from right to left. */
const TURNING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/* A value that turns the direction of writing turns itself alone, in a sentence that no element parts from it; one that would end
 * that by itself (U+2069 without its beginning) does not. */
export function isolated(value) {
  if (!TURNING.test(value)) return value;
  let open = 0;
  const own = value.replace(/[\u2066-\u2069]/g, (control) => {
    if (control !== '\u2069') return open++, control;
    return open > 0 ? (open--, control) : '';
  });
  return `\u2068${own}${'\u2069'.repeat(open + 1)}`;
}

/* {0} is the first value. */
export const filled = (text, values) => text.replace(/\{(\d)\}/g, (_, n) => isolated(String(values[n])));
