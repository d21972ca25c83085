/* The API as a page to read: renders what /v1/openapi.json says, which is in English; the words between are those of words.js. */
const el = (tag, text, ...children) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
};

/* In the language of the page; a name of the document; a sentence of it, in which `code` may stand. */
const ours = (tag, name, ...elements) => words.tell(el(tag), name, ...elements);
const theirs = (tag, text) => Object.assign(el(tag, text), { lang: 'en' });
const sentence = (tag, text = '') => Object.assign(el(tag, '', ...text.split('`').map((part, i) => (i % 2 ? el('code', part) : part))), { lang: 'en' });

/* The name of a schema for people: "Agent", "list of Tool", "A or B". */
function nameOf(schema) {
  const oneOf = (names) => names.reduce((all, name) => ours('span', 'docs.or', all, name));
  if (schema.$ref) return theirs('span', schema.$ref.split('/').pop());
  if (schema.anyOf) return oneOf(schema.anyOf.map(nameOf));
  if (schema.enum) return theirs('span', schema.enum.join(' | '));
  if (Array.isArray(schema.type)) return oneOf(schema.type.map((type) => theirs('span', type)));
  if (schema.type === 'array') return ours('span', 'docs.listOf', nameOf(schema.items));
  return schema.type ? theirs('span', schema.type) : ours('span', 'docs.any');
}

function boundsOf(schema) {
  const bounds = [
    schema.minimum !== undefined && ours('span', 'docs.range', el('span', String(schema.minimum)), el('span', String(schema.maximum))),
    schema.maxLength && ours('span', 'docs.longest', el('span', String(schema.maxLength))),
    schema.default !== undefined && ours('span', 'docs.default', theirs('code', JSON.stringify(schema.default))),
  ].filter(Boolean);
  return bounds.flatMap((bound, i) => (i ? [', ', bound] : [bound]));
}

function fieldsOf(schema) {
  const rows = el('tbody');
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const mark = (schema.required ?? []).includes(name) ? ' *' : '';
    const about = el('td', '', ...(field.description ? [sentence('span', field.description), ' '] : []), ...boundsOf(field));
    rows.append(el('tr', '', el('td', '', theirs('code', name + mark)), el('td', '', nameOf(field)), about));
  }
  return el('table', '', el('thead', '', el('tr', '', ...['field', 'type', 'about'].map((name) => ours('th', `docs.${name}`)))), rows);
}

/* A heading, and the way to it in the contents. make(tag): an element that says it. */
function heading(id, make) {
  const title = make('h2'), link = make('a');
  title.id = id;
  link.href = `#${id}`;
  document.getElementById('contents').append(el('li', '', link));
  return title;
}

function example(value) {
  const block = theirs('pre', JSON.stringify(value, null, 2));
  block.tabIndex = 0; // it may be wider than a phone
  return block;
}

function operation(method, path, entry) {
  const verb = theirs('b', method.toUpperCase());
  verb.className = 'method';
  const block = el('details', '', el('summary', '', verb, theirs('code', path), ' ', sentence('span', entry.summary)));
  for (const parameter of entry.parameters ?? [])
    if (parameter.name) block.append(el('p', '', theirs('span', `${parameter.in} ${parameter.name}`), ': ', nameOf(parameter.schema), '. ', sentence('span', parameter.description ?? '')));
  const body = entry.requestBody?.content['application/json'];
  if (body) block.append(ours('p', 'docs.body', nameOf(body.schema)));
  if (body?.example) block.append(example(body.example));
  for (const [status, response] of Object.entries(entry.responses)) {
    const json = response.content?.['application/json'];
    block.append(el('p', '', `${status} `, sentence('span', response.description), ...(json ? [' ', nameOf(json.schema)] : [])));
  }
  return block;
}

function show(api) {
  const main = document.getElementById('main');
  document.getElementById('about').replaceWith(sentence('p', api.info.description));
  for (const { name, description } of api.tags) {
    main.append(heading(name.toLowerCase().replace(/\W+/g, '-'), (tag) => theirs(tag, name)), sentence('p', description));
    for (const [path, entries] of Object.entries(api.paths))
      for (const [method, entry] of Object.entries(entries))
        if (entry.tags.includes(name)) main.append(operation(method, path, entry));
  }
  main.append(heading('objects', (tag) => ours(tag, 'docs.objects')));
  for (const [name, schema] of Object.entries(api.components.schemas))
    main.append(el('details', '', el('summary', '', theirs('span', name)), sentence('p', schema.description), fieldsOf(schema)));
}

const api = await fetch('/v1/openapi.json').then((response) => response.json()).catch(() => null); // lost, or the page is being left
if (api) show(api);
else words.tell(document.getElementById('about'), 'docs.unreachable');
