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

/* {0} is the first value. */
export const filled = (text, values) => text.replace(/\{(\d)\}/g, (_, n) => String(values[n]));
