/* The turns of a call as bars on one scale: how long the agent thought, how long it spoke. */
import { html } from './lib.js';
import { duration, ms, t } from './text.js';

export function Waterfall({ turns }) {
  const most = Math.max(1000, ...turns.map((turn) => turn.thinkMs + turn.speakMs));
  return html`<div><p class="legend" aria-hidden="true"><span><i class="a"></i>${t('turn.think')}</span><span><i class="b"></i>${t('turn.speak')}</span></p><ol class="fall">${turns.map((turn) => html`<li key=${turn.at}><span class="number soft">${duration(turn.at / 1000)}</span>
    <span class="track"><svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="think" width=${(1000 * turn.thinkMs) / most} height="10" /><rect class="speak" x=${(1000 * turn.thinkMs) / most} width=${(1000 * turn.speakMs) / most} height="10" /></svg></span>
    <span class="number">${turn.thinkMs ? ms(turn.thinkMs) : '–'}<span class="visually-hidden"> ${t('turn.think')}</span></span></li>`)}</ol></div>`;
}
