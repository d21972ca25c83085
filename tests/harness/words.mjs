/* The words of a page that are of no table: what is written in another script than that of the page's language, in its
 * texts and in the names of its elements. What is marked as another language, or as code, is left out. */

/* What is called so everywhere, whatever the language: names, formats, units, and what is typed as it stands. */
const NAMES = new Set(`Earshot LiveKit API OpenAPI JSON UDP HTTP HTTPS URL CSS ISO PDF Word ID UTC USD MOS MB KB
  ms px iframe script am pm localhost http https docx Bearer Content Security Policy GET POST PUT PATCH DELETE true
  false null key Chrome Firefox Edge Safari`
  .split(/\s+/));

/* What stands on the page, a line each; lang: of the page. More names may be allowed: of what the test has made. */
export async function strangers(page, lang, names = []) {
  const lines = await page.evaluate((own) => {
    const found = [document.title];
    const look = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return found.push(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE) return undefined;
      if (['SCRIPT', 'STYLE', 'CODE', 'PRE', 'DT', 'CANVAS'].includes(node.tagName)) return undefined;
      if (node.lang && node.lang !== own) return undefined;
      for (const name of ['aria-label', 'placeholder', 'title', 'alt', 'data-told'])
        found.push(node.getAttribute(name) ?? '');
      for (const child of node.childNodes) look(child);
      if (node.shadowRoot) for (const child of node.shadowRoot.childNodes) look(child);
      return undefined;
    };
    look(document.body);
    return found;
  }, lang);
  const allowed = new Set([...NAMES, ...names]);
  const isStrange = lang === 'en' ? (word) => /[\u0900-\u097f]/.test(word) : (word) => /[A-Za-z]{2,}/.test(word);
  const isName = (word) => allowed.has(word) || /^\p{L}+([._]\p{L}+)+$|^pk_|^[a-z]+[A-Z]\w*$|@/u.test(word);
  return lines.filter((line) => line.replace(/https?:\S*|(?<!\S)\/\S+/g, '').split(/[^\p{L}\p{M}\p{N}._@]+/u)
    .map((word) => word.replace(/^\.+|\.+$/g, '')).some((word) => isStrange(word) && !isName(word)));
}
