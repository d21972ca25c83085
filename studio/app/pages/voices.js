/* The voices of the catalog. */
import { html, useRef, useState } from '../lib.js';
import { get, may } from '../api.js';
import { Hear } from '../hear.js';
import { t, theirs } from '../text.js';
import { Button, Empty, Head, Loaded, Problem, Select, Table, Text, useLoad, useWork } from '../ui.js';

const NONE_OLDER = { voices: [], next: undefined };

/* The voice in the language that is looked for, else in the first that it speaks. */
function voiceOf({ provider, id, languages }, catalog, wanted) {
  const language = wanted || catalog?.languages.find((one) => one.enabled !== false && (!languages.length || languages.includes(one.iso) || languages.includes('*')))?.id;
  return { provider, speaker: id, ...(language ? { language } : {}) };
}

export function Voices() {
  const [filter, setFilter] = useState({ provider: '', language: '', gender: '', q: '' });
  const [older, setOlder] = useState(NONE_OLDER);
  const query = (after) => `/v1/voices?${new URLSearchParams(Object.entries({ ...filter, after: after ?? '', limit: '50' }).filter(([, value]) => value))}`;
  const key = JSON.stringify(filter);
  const catalog = useLoad(() => get('/v1/catalog'));
  const now = useRef(key);
  now.current = key;
  const loaded = useLoad(async () => ({ key, ...await get(query()) }), key);
  const set = (name, value) => { setFilter({ ...filter, [name]: value }); setOlder(NONE_OLDER); };
  const [more, busy, error] = useWork(async (next) => {
    const page = await get(query(next));
    if (now.current === key) setOlder({ voices: [...older.voices, ...page.voices], next: page.nextPage }); // and not another filter's
  });
  const options = (list, any) => [['', t(any)], ...(list ?? []).map((one) => [one.id, one.label])];
  return html`<${Head} title=${t('nav.voices')} lead=${t('voices.lead')} /><div class="filters"><${Text} label=${t('search')} type="search" value=${filter.q} onInput=${(v) => set('q', v)} /><${Select} label=${t('voice.provider')} value=${filter.provider} onInput=${(v) => set('provider', v)} options=${options(catalog.data?.catalog.ttsProviders, 'voices.anyEngine')} />
      <${Select} label=${t('voice.language')} value=${filter.language} onInput=${(v) => set('language', v)} options=${options(catalog.data?.catalog.languages, 'voices.anyLanguage')} /><${Select} label=${t('voices.gender')} value=${filter.gender} onInput=${(v) => set('gender', v)} options=${[['', t('voices.anyGender')], ...['female', 'male', 'neutral'].map((one) => [one, t(`gender.${one}`)])]} /></div>
    <${Loaded} load=${loaded}>${(page) => {
      const voices = [...page.voices, ...older.voices], next = page.key !== key ? null : older.next === undefined ? page.nextPage : older.next;
      return voices.length ? html`<${Table} label=${t('nav.voices')} head=${[t('name'), 'ID', t('voice.provider'), t('voices.gender'), t('voices.languages'), t('description'), ...(may('editor') ? [{ kind: 'right', name: t('hear') }] : [])]}>${voices.map((voice) => html`<tr key=${`${voice.provider} ${voice.id}`}><td class="name">${voice.name}</td><td><code>${voice.id}</code></td><td>${voice.provider}</td><td>${t(`gender.${voice.gender}`)}</td><td>${voice.languages.join(', ')}</td><td class="soft">${theirs(voice.description)}</td>${may('editor') && html`<td class="right hear"><${Hear} kind="slim" label=${t('hear.voice', voice.name)} voice=${voiceOf(voice, catalog.data?.catalog, filter.language)} /></td>`}</tr>`)}<//>
        ${error && html`<${Problem} error=${error} />`}${next && html`<div class="more"><${Button} busy=${busy} onClick=${() => more(next)}>${t('more')}<//></div>`}` : html`<${Empty} icon="voices" title=${t('voices.empty')} text=${t('voices.emptyText')} />`;
    }}<//>`;
}
