/* Two people at one thing: who saves after somebody else is told, and chooses. */
import { html, useState } from './lib.js';
import { api, get } from './api.js';
import { t } from './text.js';
import { Button, Dialog } from './ui.js';

/* Somebody else has saved meanwhile: theirs or mine. mine: what of it was changed, by name; isAgain: since it was asked before. */
export function Conflict({ isAgain, mine, onTheirs, onMine, onClose }) {
  return html`<${Dialog} title=${t('conflict.title')} onClose=${onClose}><p>${t('conflict.text')}</p><br />${isAgain && html`<p class="notice warn" role="alert">${t('conflict.again')}</p>`}<p>${t('conflict.yours')} ${mine.join(', ')}</p>
    <div class="actions"><${Button} onClick=${onTheirs}>${t('conflict.theirs')}<//><${Button} kind="primary" onClick=${onMine}>${t('conflict.mine')}<//></div><//>`;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/* Saves what of `names` was changed, over what was read and nothing later: [save(draft, saved, more), dialog(onTheirs, onMine, labelOf)]. save
 * answers what is stored then; undefined: the dialog asks. entry: its name in the answer. */
export function useSave(method, path, entry, names) {
  const [asked, setAsked] = useState(null); // { mine, now, isAgain }
  const save = async (draft, saved, more = {}) => {
    const mine = names.filter((name) => !same(draft[name], saved[name]));
    const over = asked?.now ?? saved;
    setAsked(null);
    try {
      const body = { ...Object.fromEntries(mine.map((name) => [name, draft[name]])), ...more };
      return (await api(method, path, body, mine.length ? { 'If-Match': `"${Date.parse(over.updatedAt)}"` } : {}))[entry];
    } catch (fault) {
      if (fault.code !== 'PRECONDITION_FAILED') throw fault;
      const now = (await get(path))[entry];
      if (mine.length && !Object.keys(more).length && mine.every((name) => same(draft[name], now[name]))) return now; // its own, whose answer was lost
      setAsked({ mine, now, isAgain: asked !== null });
      return undefined;
    }
  };
  const dialog = (labelOf, onTheirs, onMine) => asked && html`<${Conflict} isAgain=${asked.isAgain} mine=${asked.mine.map(labelOf)} onClose=${() => setAsked(null)}
    onTheirs=${() => { setAsked(null); onTheirs(asked.now); }} onMine=${onMine} />`;
  return [save, dialog];
}
