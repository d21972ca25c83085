/* Where the time of each turn of the agent went, as bars on one scale: from the end of the caller's voice to the first packet. */
import { html } from './lib.js';
import { duration, ms, t } from './text.js';

/* name (of its text and colour), from, to: members of a turn's timing; from null: the end of the voice. */
const STEPS = [
  { name: 'endpoint', from: null, to: 'endpointMs' }, { name: 'lookUp', from: 'lookUpMs', to: 'lookedUpMs' }, { name: 'model', from: 'modelAskedMs', to: 'firstTokenMs' },
  { name: 'sentence', from: 'firstTokenMs', to: 'firstSentenceMs' }, { name: 'voice', from: 'firstSentenceMs', to: 'firstByteMs' }, { name: 'packet', from: 'firstByteMs', to: 'firstPacketMs' },
];
const HEIGHT = 4;

const has = (ms) => ms !== null && ms !== undefined;
const stepsOf = (timing) => STEPS.map((step, row) => ({ ...step, row, begin: step.from ? timing[step.from] : 0, end: timing[step.to] })).filter(({ begin, end }) => has(begin) && has(end) && end >= begin);

/* turns: of a transcript; those that answer nobody have no timing. begin: the call's, as a Date. */
export function Waterfall({ turns, begin }) {
  const timed = turns.filter(({ timing }) => timing).map((turn) => ({ ...turn, steps: stepsOf(turn.timing) }));
  if (!timed.length) return null;
  const ends = timed.flatMap(({ steps }) => steps.map(({ end }) => end)), begins = timed.flatMap(({ steps }) => steps.map((step) => step.begin));
  const least = Math.min(0, ...begins), span = Math.max(200, ...ends) - least;
  const x = (at) => (1000 * (at - least)) / span;
  return html`<div><p class="legend" aria-hidden="true">${STEPS.map(({ name }) => html`<span key=${name}><i class="step-${name}"></i>${t(`turn.${name}`)}</span>`)}</p><ol class="fall">${timed.map((turn) => html`<li key=${turn.at}><span class="number soft">${duration(Math.max(0, (new Date(turn.timing.at) - begin) / 1000))}</span>
    <span class="track"><svg viewBox="0 0 1000 ${HEIGHT * STEPS.length}" preserveAspectRatio="none" aria-hidden="true">${turn.steps.map((step) => html`<rect key=${step.name} class="step-${step.name}" x=${x(step.begin)} width=${Math.max(4, x(step.end) - x(step.begin))} y=${step.row * HEIGHT} height=${HEIGHT} />`)}</svg></span>
    <span class="number">${ms(turn.timing.firstPacketMs)}</span><span class="visually-hidden">${turn.steps.map((step) => `${t(`turn.${step.name}`)}: ${ms(step.end - step.begin)}`).join(', ')}</span></li>`)}</ol></div>`;
}
