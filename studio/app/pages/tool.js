/* One tool, or a new one: the form, and a test that shows what the endpoint answers. */
import { html, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { useSave } from '../conflict.js';
import { AgentSelect } from '../list.js';
import { ms, t, theirs } from '../text.js';
import { go, guardLeaving, useGuard } from '../router.js';
import { Badge, Button, Card, Head, Loaded, Problem, Select, Text, sure, toast, useLoad, useWork } from '../ui.js';

const EMPTY = { name: '', description: '', url: '', method: 'GET', kind: 'during_call', params: [], headers: [], body: '', auth: 'none', authToken: '', authKeyHeader: 'X-API-Key', authUsername: '', timeoutMs: 10000, outputs: [], sampleOutput: '', agentId: '' };
const SENT = Object.keys(EMPTY).filter((name) => name !== 'agentId');

const LABELS = { name: 'name', description: 'description', timeoutMs: 'tool.timeout', sampleOutput: 'tool.sample' };
const labelOf = (name) => t(LABELS[name] ?? `tool.${name}`);

/* Pairs that can be added and taken away; a fault of one stands below it. */
function Pairs({ label, hint, first, second, rows, path, faults, onInput }) {
  const edit = (i, key, value) => onInput(rows.map((row, n) => (n === i ? { ...row, [key]: value } : row)));
  return html`<fieldset><legend>${label}</legend>${hint && html`<p class="soft small">${hint}</p>`}<ul class="lines">${rows.map((row, i) => html`<li key=${i}><input aria-label=${`${label} ${i + 1}: ${t(`pair.${first}`)}`} placeholder=${t(`pair.${first}`)} value=${row[first]} onInput=${(event) => edit(i, first, event.target.value)} aria-invalid=${faults[`${path}[${i}].${first}`] ? 'true' : undefined} />
      <input aria-label=${`${label} ${i + 1}: ${t(`pair.${second}`)}`} placeholder=${t(`pair.${second}`)} value=${row[second]} onInput=${(event) => edit(i, second, event.target.value)} /><${Button} kind="quiet" onClick=${() => onInput(rows.filter((_, n) => n !== i))} aria-label=${t('removeThis', `${label} ${i + 1}`)}>✕<//>
      ${[first, second].map((key) => faults[`${path}[${i}].${key}`] && html`<span class="fault" key=${key}>${faults[`${path}[${i}].${key}`]}</span>`)}</li>`)}</ul>
    ${faults[path] && html`<p class="fault">${faults[path]}</p>`}<${Button} kind="slim" onClick=${() => onInput([...rows, { [first]: '', [second]: '' }])}>${t('addLine')}<//></fieldset>`;
}

function Auth({ tool, set, faults }) {
  return html`<${Select} label=${t('tool.auth')} value=${tool.auth} onInput=${(v) => set('auth', v)} options=${['none', 'bearer', 'api_key', 'basic'].map((one) => [one, t(`auth.${one}`)])} fault=${faults.auth} />
    ${tool.auth !== 'none' && html`<div class="row">${tool.auth === 'api_key' && html`<${Text} label=${t('tool.authKeyHeader')} value=${tool.authKeyHeader} onInput=${(v) => set('authKeyHeader', v)} fault=${faults.authKeyHeader} />`}
      ${tool.auth === 'basic' && html`<${Text} label=${t('tool.authUsername')} value=${tool.authUsername} onInput=${(v) => set('authUsername', v)} fault=${faults.authUsername} autocomplete="off" />`}
      <${Text} label=${t('tool.authToken')} hint=${t('tool.secretHint')} value=${tool.authToken} onInput=${(v) => set('authToken', v)} fault=${faults.authToken} autocomplete="off" /></div>`}`;
}

function Test({ tool }) {
  const [values, setValues] = useState({});
  const [answer, setAnswer] = useState(null);
  const [run, busy, error] = useWork(async () => setAnswer(await api('POST', `/v1/tools/${tool.id}/test`, { params: Object.fromEntries(tool.params.map(({ key, value }) => [key, values[key] ?? value])) })));
  return html`<${Card} title=${t('tool.test')}><p class="soft small">${t('tool.testHint')}</p><br />${tool.params.map(({ key, value }) => html`<${Text} key=${key} label=${key} value=${values[key] ?? value} onInput=${(v) => setValues({ ...values, [key]: v })} />`)}
    <${Button} busy=${busy} onClick=${run}>${busy ? t('working') : t('tool.run')}<//>${error && html`<${Problem} error=${error} />`}
    <div aria-live="polite">${answer && html`<br /><p><${Badge} kind=${answer.success ? 'good' : 'bad'}>${answer.status}<//> <span class="soft">${ms(answer.latencyMs)}</span></p>${answer.error && html`<p class="fault">${theirs(answer.error)}</p>`}<br /><pre tabindex="0">${typeof answer.data === 'string' ? answer.data : JSON.stringify(answer.data, null, 2)}</pre>`}</div><//>`;
}

function Form({ tool: loaded }) {
  const [saved, setSaved] = useState(loaded);
  const [tool, setTool] = useState(loaded);
  const isNew = !saved.id;
  const set = (name, value) => setTool((old) => ({ ...old, [name]: value }));
  useGuard(may('editor') && JSON.stringify(tool) !== JSON.stringify(saved), t('leave'));
  const [store, conflict] = useSave('PUT', `/v1/tools/${saved.id}`, 'tool', SENT);
  const [save, busy, error] = useWork(async () => {
    const body = Object.fromEntries(SENT.map((name) => [name, tool[name]]));
    const stored = isNew ? (await api('POST', '/v1/tools', { ...body, ...(tool.agentId ? { agentId: tool.agentId } : {}) })).tool : await store(tool, saved);
    if (!stored) return;
    toast(t('saved'));
    if (isNew) {
      guardLeaving(null);
      go(`/studio/tools/${stored.id}`, { replace: true });
      return;
    }
    setSaved(stored);
    setTool((now) => (now === tool ? stored : now)); // what was typed meanwhile stays
  });
  const [remove, removing] = useWork(async () => {
    if (!await sure(t('tool.remove'), t('tool.removeText', saved.name), t('remove'))) return;
    await api('DELETE', `/v1/tools/${saved.id}`);
    guardLeaving(null);
    go('/studio/tools');
  });
  const faults = { ...(error?.faults ?? {}), ...(error?.code === 'URL_NOT_ALLOWED' ? { url: t('error.URL_NOT_ALLOWED') } : {}), ...(error?.code === 'TOOL_NAME_TAKEN' ? { name: t('error.TOOL_NAME_TAKEN') } : {}) };
  return html`<${Head} title=${isNew ? t('tools.new') : saved.name} lead=${t('tool.lead')}>${!isNew && may('editor') && html`<${Button} kind="danger" busy=${removing} onClick=${remove}>${t('remove')}<//>`}<//>${error && !Object.keys(faults).length && html`<${Problem} error=${error} />`}
    <div class="editor"><form noValidate onSubmit=${(event) => { event.preventDefault(); if (!busy) save(); }}><section class="card" aria-label=${t('tool.form')}><fieldset disabled=${!may('editor')}>
      <${Text} label=${t('name')} hint=${t('tool.nameHint')} value=${tool.name} onInput=${(v) => set('name', v)} fault=${faults.name} required maxlength="128" /><${Text} label=${t('description')} hint=${t('tool.descriptionHint')} lines="3" value=${tool.description} onInput=${(v) => set('description', v)} fault=${faults.description} required />
      ${isNew && html`<${AgentSelect} label=${t('calls.agent')} any=${t('tools.anyAgent')} value=${tool.agentId} onInput=${(v) => set('agentId', v)} />`}
      <div class="row"><${Select} label=${t('tool.kind')} value=${tool.kind} onInput=${(v) => set('kind', v)} options=${['during_call', 'before_call'].map((one) => [one, t(`toolKind.${one}`)])} fault=${faults.kind} /><${Select} label=${t('tool.method')} value=${tool.method} onInput=${(v) => set('method', v)} options=${[['GET', 'GET'], ['POST', 'POST']]} fault=${faults.method} />
        <${Text} label=${t('tool.timeout')} type="number" min="500" max="60000" value=${tool.timeoutMs} onInput=${(v) => set('timeoutMs', v === '' ? '' : Number(v))} fault=${faults.timeoutMs} /></div>
      <${Text} label=${t('tool.url')} hint=${t('tool.urlHint')} value=${tool.url} onInput=${(v) => set('url', v)} fault=${faults.url} required spellcheck="false" />
      <${Pairs} label=${t('tool.params')} hint=${t('tool.paramsHint')} first="key" second="value" rows=${tool.params} path="params" faults=${faults} onInput=${(v) => set('params', v)} /><${Pairs} label=${t('tool.headers')} first="key" second="value" rows=${tool.headers} path="headers" faults=${faults} onInput=${(v) => set('headers', v)} />
      ${tool.method === 'POST' && html`<${Text} label=${t('tool.body')} hint=${t('tool.bodyHint')} lines="5" value=${tool.body} onInput=${(v) => set('body', v)} fault=${faults.body} spellcheck="false" />`}<${Auth} tool=${tool} set=${set} faults=${faults} />
      <${Text} label=${t('tool.sample')} hint=${t('tool.sampleHint')} lines="3" value=${tool.sampleOutput} onInput=${(v) => set('sampleOutput', v)} fault=${faults.sampleOutput} spellcheck="false" /></fieldset></section>
      ${may('editor') && html`<div class="saver"><p role="status">${Object.keys(faults).length ? t('agent.faults', Object.keys(faults).length) : ''}</p><${Button} kind="primary" type="submit" busy=${busy}>${isNew ? t('create') : t('save')}<//></div>`}</form>
    <aside>${!isNew && may('editor') && html`<${Test} tool=${tool} />`}</aside></div>${conflict(labelOf, (now) => { setSaved(now); setTool(now); }, save)}`;
}

export function Tool({ id }) {
  const loaded = useLoad(() => (id === 'new' ? { tool: EMPTY } : get(`/v1/tools/${encodeURIComponent(id)}`)), id);
  return html`<${Loaded} load=${loaded} title=${t('nav.tools')}>${(data) => html`<${Form} key=${id} ...${data} />`}<//>`;
}
