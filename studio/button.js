/* The button's page: a live example by the reader's own key (/docs/button#key=pk_...), and the line to paste. Its words are those of words.js. */
const el = (id) => document.getElementById(id);
const EVENTS_SHOWN = 50;

/* The key may come from a link that somebody else wrote: what is no key stands in no line that is copied. */
function typedKey() {
  const typed = el('key').value.trim();
  return /^\w+$/.test(typed) ? typed : '';
}

function snippet() {
  const key = typedKey() || 'pk_...';
  const attributes = { key, mode: el('mode').value, lang: el('lang').value, accent: el('accent').value };
  const text = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`).join('');
  const script = `<script src="${location.origin}/embed/earshot.js"`;
  if (attributes.mode === 'inline') return `${script}></script>\n<earshot-call${text}></earshot-call>`;
  return `${script}\n  data-key="${key}" data-lang="${attributes.lang}" data-accent="${attributes.accent}"></script>`;
}

function show() {
  const key = typedKey();
  el('snippet').textContent = snippet();
  if (!key) return;
  const example = document.createElement('earshot-call');
  for (const [name, value] of Object.entries({ key, mode: el('mode').value, lang: el('lang').value, accent: el('accent').value })) example.setAttribute(name, value);
  el('example').replaceChildren(example);
}

for (const name of ['earshot:started', 'earshot:transcript', 'earshot:ended', 'earshot:error'])
  addEventListener(name, (event) => {
    const line = document.createElement('li');
    line.textContent = `${name} ${JSON.stringify(event.detail)}`;
    el('events').append(line);
    if (el('events').childElementCount > EVENTS_SHOWN) el('events').firstChild.remove();
    el('events').scrollTop = el('events').scrollHeight;
  });

for (const element of document.querySelectorAll('.origin')) element.textContent = location.origin;
for (const element of document.querySelectorAll('.socket')) element.textContent = location.origin.replace(/^http/, 'ws');
el('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(snippet());
  words.tell(el('copied'), 'button.copied');
});
/* A node that has begun since the page was loaded is none that its policy names. */
document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
  if (effectiveDirective !== 'connect-src') return;
  location.hash = `key=${typedKey()}`;
  location.reload();
});
el('form').addEventListener('submit', (event) => event.preventDefault());
el('form').addEventListener('input', show);
el('lang').value = document.documentElement.lang;
el('key').value = new URLSearchParams(location.hash.slice(1)).get('key') ?? '';
show();
