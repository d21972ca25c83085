/* Every text by its name, in the language that the person has chosen: a translation is a file of texts/. */
import { LANGUAGES, filled, firstLanguage, keep, keepLanguage, mark, onChosenElsewhere, stored } from '../language.js';
import { effect, html, signal } from './lib.js';
import en from './texts/en.js';
import hi from './texts/hi.js';

const TEXTS = { en, hi };

export { LANGUAGES };
export const language = signal(firstLanguage());
effect(() => mark(language.value));
onChosenElsewhere((id) => { language.value = id; });

export function setLanguage(id) {
  language.value = id;
  keepLanguage(id);
}

export const theme = signal(stored('earshot.theme') ?? 'system');

export function setTheme(name) {
  theme.value = name;
  keep('earshot.theme', name);
}

/* t('calls.count', 3): {0} is the first value. */
export function t(name, ...values) {
  return filled(TEXTS[language.value][name] ?? en[name] ?? name, values);
}

/* What the service says in a sentence of its own, in English whatever language the page is in; nothing of nothing. */
export const theirs = (said) => said && html`<span lang="en">${said}</span>`;

/* A text whose {0} is an element, such as that sentence. */
export function around(name, element) {
  const [before, after] = t(name, '\n').split('\n');
  return html`${before}${element}${after}`;
}

/* What the API says of a field, in the chosen language: the English texts under 'fault.' are its sentences, with places for
 * what differs. null: the table lacks it. */
const sentences = Object.entries(en).filter(([name]) => name.startsWith('fault.')).map(([name, text]) => {
  const places = [...text.matchAll(/\{(\d)\}/g)].length;
  const pattern = text.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\d\}/g, places > 1 ? '(\\S+)' : '(.+)');
  return { name, pattern: new RegExp(`^${pattern}$`) };
});
export function faultText(message) {
  for (const { name, pattern } of sentences) {
    const [, ...values] = pattern.exec(message) ?? [];
    if (pattern.test(message)) return t(name, ...values);
  }
  return null;
}

/* The words of the API (end reasons, states, roles) as people say them. */
export const word = (kind, value) => (value ? (en[`${kind}.${value}`] ? t(`${kind}.${value}`) : value) : '–');

export const time = (iso, options = { dateStyle: 'medium', timeStyle: 'short' }) => (iso ? new Intl.DateTimeFormat(language.value, options).format(new Date(iso)) : '–');
export const money = (usd, digits = 2) => new Intl.NumberFormat(language.value, { style: 'currency', currency: 'USD', minimumFractionDigits: digits, maximumFractionDigits: digits }).format(usd ?? 0);
export const count = (n) => new Intl.NumberFormat(language.value).format(n ?? 0);
export const ms = (n) => (n === null || n === undefined ? '–' : `${count(Math.round(n))} ms`);
export function duration(seconds) {
  const s = Math.round(seconds ?? 0);
  return s < 3600 ? `${Math.floor(s / 60)}:${String(s % 60).padStart(2, '0')}` : `${Math.floor(s / 3600)}:${String(Math.floor(s / 60) % 60).padStart(2, '0')}:${String(s % 60).padStart(2, '0')}`;
}
export function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${(bytes / 1024).toFixed(0)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}
