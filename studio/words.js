/* The words of the pages for everybody (texts/, one file a language). data-text names the text of an element, whose elements take the
 * places {0}, {1} of it; data-label names that of its aria-label, data-none that of what stands where nothing does. The build writes the
 * English ones into the pages, which are read without scripts so; this file, first in the head, puts the others there before anything is
 * drawn. Other scripts of a page know it as `words`. */
import { LANGUAGES, firstLanguage, keepLanguage, mark, onChosenElsewhere } from './language.js';
import en from './texts/en.json';
import hi from './texts/hi.json';

const TEXTS = { en, hi };
const WRITTEN = 'en'; // in the page as it comes
const root = document.documentElement;
const places = new WeakMap(); // of an element: what fills {0}, {1}
let language = firstLanguage();

export const has = (name) => Object.hasOwn(en, name);
export const text = (name) => TEXTS[language][name] ?? en[name];

function write(element) {
  if (!places.has(element)) places.set(element, [...element.children]);
  const parts = text(element.dataset.text).split(/\{(\d)\}/);
  element.replaceChildren(...parts.map((part, i) => (i % 2 ? places.get(element)[part] : part)).filter((part) => part !== ''));
}

/* An element says the text of that name from now on, in whichever language is chosen. */
export function tell(element, name, ...elements) {
  element.dataset.text = name;
  element.removeAttribute('lang');
  places.set(element, elements);
  write(element);
  return element;
}

/* It says what is nobody's text: a name, what the service says. lang: when it is known. */
export function quote(element, said, lang = '') {
  delete element.dataset.text;
  element.textContent = said;
  if (lang) element.lang = lang;
  else element.removeAttribute('lang');
  return element;
}

function writeAll() {
  for (const element of document.querySelectorAll('[data-text]')) write(element);
  for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', text(element.dataset.label));
  for (const element of document.querySelectorAll('[data-none]')) element.dataset.told = text(element.dataset.none);
}

function choose(id) {
  language = id;
  mark(id);
  writeAll();
  for (const select of document.querySelectorAll('[data-languages] select')) select.value = id;
}

/* The choice of a language, where the page has a place for it. */
function offer(place) {
  const select = document.createElement('select');
  select.dataset.label = 'language';
  for (const [id, { name }] of Object.entries(LANGUAGES)) {
    const option = new Option(name, id);
    option.lang = id;
    select.append(option);
  }
  select.addEventListener('change', () => { keepLanguage(select.value); choose(select.value); });
  place.append(select);
}

mark(language);
root.toggleAttribute('data-filling', language !== WRITTEN); // nothing is seen of the page until it is in its language
document.addEventListener('readystatechange', () => { // it is whole; what its own scripts wait for may still be on its way
  document.querySelectorAll('[data-languages]').forEach(offer);
  choose(language);
  root.removeAttribute('data-filling');
}, { once: true });
onChosenElsewhere(choose);
