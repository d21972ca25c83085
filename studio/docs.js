/* The API as a page to read: renders what /v1/openapi.json says. */
const el = (tag, text, ...children) => {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  element.append(...children);
  return element;
};

/* The name of a schema for people: "Agent", "list of Tool", "a | b". */
function nameOf(schema) {
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.anyOf) return schema.anyOf.map(nameOf).join(' or ');
  if (schema.enum) return schema.enum.join(' | ');
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return schema.type === 'array' ? `list of ${nameOf(schema.items)}` : schema.type ?? 'any';
}

function boundsOf(schema) {
  return [
    schema.minimum !== undefined && `${schema.minimum} to ${schema.maximum}`,
    schema.maxLength && `at most ${schema.maxLength} characters`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean).join(', ');
}

function fieldsOf(schema) {
  const rows = el('tbody');
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const mark = (schema.required ?? []).includes(name) ? ' *' : '';
    const about = [field.description, boundsOf(field)].filter(Boolean).join(' ');
    rows.append(el('tr', '', el('td', '', el('code', name + mark)), el('td', nameOf(field)), el('td', about)));
  }
  return el('table', '', el('thead', '', el('tr', '', ...['Name (* required)', 'Type', 'About'].map((name) => el('th', name)))), rows);
}

/* A heading, and the way to it in the contents. */
function heading(name) {
  const title = el('h2', name), link = el('a', name);
  title.id = name.toLowerCase().replace(/\W+/g, '-');
  link.href = `#${title.id}`;
  document.getElementById('contents').append(el('li', '', link));
  return title;
}

function operation(method, path, entry) {
  const verb = el('b', method.toUpperCase());
  verb.className = 'method';
  const block = el('details', '', el('summary', '', verb, el('code', path), ` ${entry.summary}`));
  for (const parameter of entry.parameters ?? [])
    if (parameter.name) block.append(el('p', `${parameter.in} ${parameter.name}: ${nameOf(parameter.schema)}. ${parameter.description ?? ''}`));
  const body = entry.requestBody?.content['application/json'];
  if (body) block.append(el('p', `Body: ${nameOf(body.schema)}`));
  if (body?.example) {
    const example = el('pre', JSON.stringify(body.example, null, 2));
    example.tabIndex = 0; // it may be wider than a phone
    block.append(example);
  }
  for (const [status, response] of Object.entries(entry.responses)) {
    const json = response.content?.['application/json'];
    block.append(el('p', `${status} ${response.description}${json ? ` ${nameOf(json.schema)}` : ''}`));
  }
  return block;
}

function show(api) {
  const main = document.getElementById('main');
  document.getElementById('about').textContent = api.info.description;
  for (const tag of api.tags) {
    main.append(heading(tag.name), el('p', tag.description));
    for (const [path, entries] of Object.entries(api.paths))
      for (const [method, entry] of Object.entries(entries))
        if (entry.tags.includes(tag.name)) main.append(operation(method, path, entry));
  }
  main.append(heading('Objects'));
  for (const [name, schema] of Object.entries(api.components.schemas))
    main.append(el('details', '', el('summary', name), el('p', schema.description), fieldsOf(schema)));
}

const api = await fetch('/v1/openapi.json').then((response) => response.json()).catch(() => null); // lost, or the page is being left
if (api) show(api);
else document.getElementById('about').textContent = 'The service cannot be reached: load this page again.';
