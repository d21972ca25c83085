/* The parts of an agent's form, one table: name, fields that it shows (for faults), page. */
import { html, useState } from '../lib.js';
import { api, get, may } from '../api.js';
import { Picker } from '../list.js';
import { t } from '../text.js';
import { Complete } from '../complete.js';
import { Hear } from '../hear.js';
import { Button, Check, Problem, Secret, Select, Text, faultIn, sure, useLoad, useWork } from '../ui.js';

const numberOf = (text) => (text === '' || Number.isNaN(Number(text)) ? text : Number(text));
const engineOptions = (entries) => entries.map(({ id, label, enabled }) => [id, enabled === false ? `${label} (${t('off')})` : label]);

/* Names of tools with what is typed in them. */
async function findTools(id, typed) {
  return (await get(`/v1/tools?${new URLSearchParams({ usableBy: id, q: typed, limit: 20 })}`)).tools.map((tool) => tool.name);
}

function Behaviour({ agent, saved, set, faults, data }) {
  const names = Object.keys(agent.variables);
  return html`<${Text} label=${t('agent.name')} value=${agent.name} onInput=${(v) => set(['name'], v)} fault=${faults.name} maxlength="100" required />
    <${Complete} label=${t('agent.systemInstruction')} hint=${t('agent.instructionHint')} lines="14" maxlength="25000" value=${agent.systemInstruction} onInput=${(v) => set(['systemInstruction'], v)} fault=${faults.systemInstruction}
      tools=${data.tools.map((tool) => tool.name)} find=${data.hasMoreTools && ((typed) => findTools(saved.id, typed))} variables=${[...names, 'call_id', 'agent_id']} />
    <${Select} label=${t('agent.greetingMode')} value=${agent.greetingMode} onInput=${(v) => set(['greetingMode'], v)} fault=${faults.greetingMode} options=${['generate', 'static', 'none'].map((mode) => [mode, t(`greeting.${mode}`)])} />
    ${agent.greetingMode === 'static' && html`<${Complete} label=${t('agent.greetingText')} lines="3" maxlength="2000" value=${agent.greetingText} onInput=${(v) => set(['greetingText'], v)} fault=${faults.greetingText} tools=${[]} variables=${names} />`}
    ${agent.greetingMode === 'generate' && html`<${Complete} label=${t('agent.greetingInstruction')} lines="3" maxlength="5000" value=${agent.greetingInstruction} onInput=${(v) => set(['greetingInstruction'], v)} fault=${faults.greetingInstruction} tools=${[]} variables=${names} />`}`;
}

/* The voices that the engine has for the language; where it tells of none, or of more than a list can hold, a name is typed. null: not known yet. */
function useSpeakers({ provider, language }) {
  const key = JSON.stringify([provider, language]);
  const { data } = useLoad(async () => ({ key, ...await get(`/v1/voices?${new URLSearchParams({ provider, language, limit: 100 })}`) }), key);
  if (data?.key !== key) return null;
  return data.nextPage ? [] : data.voices;
}

function Voice({ agent, set, faults: saving, data }) {
  const { voice } = agent;
  const [hearing, setHearing] = useState({});
  const faults = { ...hearing, ...saving };
  const engine = data.catalog.ttsProviders.find((one) => one.id === voice.provider);
  const fitting = useSpeakers(voice);
  return html`<div class="row"><${Select} label=${t('voice.language')} value=${voice.language} onInput=${(v) => set(['voice', 'language'], v)} fault=${faults['voice.language']} options=${data.catalog.languages.map((one) => [one.id, one.label, !one.enabled])} />
      <${Select} label=${t('voice.provider')} value=${voice.provider} onInput=${(v) => set(['voice', 'provider'], v)} fault=${faults['voice.provider']} options=${engineOptions(data.catalog.ttsProviders)} /></div>
    ${!fitting || fitting.length ? html`<${Select} label=${t('voice.speaker')} value=${voice.speaker} onInput=${(v) => set(['voice', 'speaker'], v)} fault=${faults['voice.speaker']} options=${(fitting ?? []).map((one) => [one.id, `${one.name} – ${t(`gender.${one.gender}`)}`])} />`
      : html`<${Text} label=${t('voice.speaker')} hint=${t('voice.speakerHint')} value=${voice.speaker} onInput=${(v) => set(['voice', 'speaker'], v)} fault=${faults['voice.speaker']} />`}
    <div class="row"><${Text} label=${t('voice.speed')} hint="0.2 – 2" type="number" step="0.05" min="0.2" max="2" value=${voice.speed} onInput=${(v) => set(['voice', 'speed'], numberOf(v))} fault=${faults['voice.speed']} />
      <${Text} label=${t('voice.volume')} hint="0.5 – 2" type="number" step="0.05" min="0.5" max="2" value=${voice.volume} onInput=${(v) => set(['voice', 'volume'], numberOf(v))} fault=${faults['voice.volume']} />
      ${(engine?.emotions?.length || faults['voice.emotion']) && html`<${Select} label=${t('voice.emotion')} value=${voice.emotion} onInput=${(v) => set(['voice', 'emotion'], v)} fault=${faults['voice.emotion']} options=${[['', t('none')], ...(engine?.emotions ?? []).map((one) => [one, one])]} />`}</div>
    ${may('editor') && html`<div class="hear"><${Hear} voice=${voice} label=${t('hear.this')} onFaults=${setHearing} /></div>`}`;
}

function Engines({ agent, set, faults, data }) {
  const model = data.catalog.llmModels.find((one) => one.provider === agent.llm.provider && one.id === agent.llm.model);
  const isos = [...new Map(data.catalog.languages.map((one) => [one.iso, one.label]))];
  const pick = (value) => {
    const [provider, id] = value.split(' ');
    set(['llm'], { ...agent.llm, provider, model: id });
  };
  return html`<h2>${t('engines.llm')}</h2><br /><${Select} label=${t('engines.model')} value=${`${agent.llm.provider} ${agent.llm.model}`} onInput=${pick} fault=${faults['llm.model'] ?? faults['llm.provider'] ?? faults.llm}
      options=${data.catalog.llmModels.map((one) => [`${one.provider} ${one.id}`, `${one.label}${one.enabled === false ? ` (${t('off')})` : ''}`])} />
    <div class="row"><${Text} label=${t('engines.temperature')} hint=${model ? `${model.temperature.min} – ${model.temperature.max}` : '0 – 2'} type="number" step="0.1" value=${agent.llm.temperature} onInput=${(v) => set(['llm', 'temperature'], numberOf(v))} fault=${faults['llm.temperature']} />
      <${Text} label=${t('engines.maxTokens')} hint=${model ? `${model.maxTokens.min} – ${model.maxTokens.max}` : ''} type="number" step="1" value=${agent.llm.maxTokens} onInput=${(v) => set(['llm', 'maxTokens'], numberOf(v))} fault=${faults['llm.maxTokens']} /></div>
    <h2>${t('engines.stt')}</h2><br /><div class="row"><${Select} label=${t('engines.engine')} value=${agent.stt.provider} onInput=${(v) => set(['stt', 'provider'], v)} fault=${faults['stt.provider']} options=${engineOptions(data.catalog.sttProviders)} />
      <${Select} label=${t('engines.heard')} value=${agent.stt.language} onInput=${(v) => set(['stt', 'language'], v)} fault=${faults['stt.language']} options=${isos} /></div>
    <${Check} label=${t('engines.detect')} checked=${agent.stt.detectLanguage} onInput=${(v) => set(['stt', 'detectLanguage'], v)} fault=${faults['stt.detectLanguage']} />`;
}

/* A variable's name may be typed freely; the map is made of the lines. */
function Variables({ agent, set, faults }) {
  const [lines, setLines] = useState(() => Object.entries(agent.variables).map(([name, one]) => ({ name, ...one })));
  const change = (next) => {
    setLines(next);
    set(['variables'], Object.fromEntries(next.filter(({ name }) => name).map(({ name, defaultValue, description }) => [name, { defaultValue: defaultValue ?? '', description: description ?? '' }])));
  };
  const edit = (i, key, value) => change(lines.map((line, n) => (n === i ? { ...line, [key]: value } : line)));
  return html`<p class="soft">${t('variables.about')}</p><br />${lines.map((line, i) => html`<div key=${i}><div class="row"><${Text} label=${t('name')} value=${line.name} onInput=${(v) => edit(i, 'name', v)} fault=${faults[`variables.${line.name}`]} spellcheck="false" />
      <${Text} label=${t('variables.default')} value=${line.defaultValue} onInput=${(v) => edit(i, 'defaultValue', v)} fault=${faults[`variables.${line.name}.defaultValue`]} /></div>
      <div class="row"><${Text} label=${t('description')} value=${line.description} onInput=${(v) => edit(i, 'description', v)} fault=${faults[`variables.${line.name}.description`]} /><div class="field"><span class="label"> </span><div><${Button} onClick=${() => change(lines.filter((_, n) => n !== i))}>${t('variables.remove', line.name || i + 1)}<//></div></div></div></div>`)}
    ${faults.variables && html`<p class="fault" role="alert">${faults.variables}</p>`}<${Button} onClick=${() => setLines([...lines, { name: '', defaultValue: '', description: '' }])}>${t('variables.add')}<//>`;
}

function ToolsOn({ agent, saved, set, faults }) {
  return html`<p class="soft">${t('agent.toolsAbout')}</p><${Picker} path="/v1/tools" entries="tools" query=${{ usableBy: saved.id }} ids=${agent.toolIds} known=${saved.tools} about=${(tool) => tool.description} onInput=${(v) => set(['toolIds'], v)} empty=${t('tools.empty')} href="/studio/tools" />${faultIn(faults, 'toolIds') && html`<p class="fault" role="alert">${faultIn(faults, 'toolIds')}</p>`}<br />
    <h2>${t('agent.systemTools')}</h2>${['endCall', 'changeLanguage'].map((name) => html`<${Check} key=${name} label=${t(`systemTool.${name}`)} hint=${t(`systemTool.${name}.about`)} checked=${agent.systemTools[name]} onInput=${(v) => set(['systemTools', name], v)} fault=${faults[`systemTools.${name}`]} />`)}`;
}

function Documents({ agent, set, faults }) {
  return html`<p class="soft">${t('agent.documentsAbout')}</p><${Picker} path="/v1/knowledge/documents" entries="documents" ids=${agent.documentIds} isFoundById about=${({ status }) => (status ? t(`status.${status}`) : '')} onInput=${(v) => set(['documentIds'], v)} empty=${t('knowledge.empty')} href="/studio/knowledge" />${faultIn(faults, 'documentIds') && html`<p class="fault" role="alert">${faultIn(faults, 'documentIds')}</p>`}`;
}

function Embed({ agent, saved, set, faults, rekey }) {
  const { embed } = agent;
  const snippet = `<script src="${location.origin}/embed/earshot.js"\n  data-key="${saved.publicKey}"></script>`;
  const [rotate, busy, error] = useWork(async () => {
    if (!await sure(t('embed.rotate'), t('embed.rotateText'), t('embed.rotate'))) return;
    rekey((await api('POST', `/v1/agents/${saved.id}/rotate-public-key`)).agent);
  });
  return html`<${Check} label=${t('embed.enabled')} hint=${t('embed.enabledHint')} checked=${embed.enabled} onInput=${(v) => set(['embed', 'enabled'], v)} fault=${faults['embed.enabled']} />
    <${Text} label=${t('embed.origins')} hint=${t('embed.originsHint')} lines="3" value=${embed.allowedOrigins.join('\n')} onInput=${(v) => set(['embed', 'allowedOrigins'], v.split('\n').map((line) => line.trim()).filter((line, i, all) => line || i === all.length - 1 && i > 0))}
      fault=${faultIn(faults, 'embed.allowedOrigins')} spellcheck="false" />
    <div class="row"><${Text} label=${t('embed.seconds')} hint="30 – 3600" type="number" min="30" max="3600" value=${embed.maxCallSeconds} onInput=${(v) => set(['embed', 'maxCallSeconds'], numberOf(v))} fault=${faults['embed.maxCallSeconds']} />
      <${Text} label=${t('embed.daily')} type="number" step="0.5" min="0" value=${embed.dailySpendLimit} onInput=${(v) => set(['embed', 'dailySpendLimit'], numberOf(v))} fault=${faults['embed.dailySpendLimit']} /></div>
    <h2>${t('embed.paste')}</h2><br /><${Secret} value=${snippet} label=${t('embed.paste')} /><br /><p><a href="/docs/button#key=${saved.publicKey}" target="_blank" rel="noopener">${t('embed.try')}</a></p><br />
    <h2>${t('embed.key')}</h2><br /><${Secret} value=${saved.publicKey} label=${t('embed.key')} /><br />${error && html`<${Problem} error=${error} />`}<${Button} busy=${busy} onClick=${rotate}>${t('embed.rotate')}<//>`;
}

function Connections({ agent, saved, set, faults }) {
  return html`<${Text} label=${t('agent.webhookUrl')} hint=${t('agent.webhookHint')} type="url" value=${agent.webhookUrl} onInput=${(v) => set(['webhookUrl'], v)} fault=${faults.webhookUrl} />
    <h2>${t('agent.id')}</h2><br /><${Secret} value=${saved.id} label=${t('agent.id')} /><br /><h2>${t('agent.apiKey')}</h2><p class="soft small">${t('agent.apiKeyHint')}</p><br /><${Secret} value=${saved.apiKey} label=${t('agent.apiKey')} />`;
}

export const SECTIONS = [
  { name: 'behaviour', fields: ['name', 'systemInstruction', 'greetingMode', 'greetingText', 'greetingInstruction'], page: Behaviour },
  { name: 'voice', fields: ['voice'], page: Voice },
  { name: 'engines', fields: ['llm', 'stt'], page: Engines },
  { name: 'variables', fields: ['variables'], page: Variables },
  { name: 'tools', fields: ['toolIds', 'systemTools'], page: ToolsOn },
  { name: 'documents', fields: ['documentIds'], page: Documents },
  { name: 'embed', fields: ['embed'], page: Embed },
  { name: 'connections', fields: ['webhookUrl'], page: Connections },
];
