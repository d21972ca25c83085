/* Charts of days, drawn by uPlot (which comes when there is something to draw): bars of one figure, lines of several, bars of parts. What they show stands in a table for who cannot see it. */
import { loadPlot } from '../apart.js';
import { html, useEffect, useRef } from './lib.js';
import { language, t, theme, time } from './text.js';

const HEIGHT = 170;
const STEPS = [0.01, 0.1, 1, 10, 100, 1000, 10000, 100000, 1000000].flatMap((power) => [1, 2, 5].map((n) => n * power));
const day = (date) => time(`${date}T00:00:00Z`, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* How each kind shows its columns, as series of uPlot: the first alone as bars, each as a line, or all as parts of one bar (the tallest sum is drawn
 * first, so that each part is what stands out above the one after it). */
const bar = (uPlot, n) => ({ width: 0, stroke: token(`--chart-${n}`), fill: token(`--chart-${n}`), paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.1 }), points: { show: false } });
const line = (_, n) => ({ width: 2, stroke: token(`--chart-${n}`), points: { show: true, size: 5, fill: token(`--chart-${n}`) }, spanGaps: true });
const sumTo = (columns, n) => (day) => columns.slice(0, n + 1).reduce((sum, { of }) => sum + of(day), 0);
const KINDS = {
  bars: (columns) => [{ of: columns[0].of, series: bar, n: 1 }],
  lines: (columns) => columns.map(({ of }, n) => ({ of, series: line, n: n + 1 })),
  parts: (columns) => columns.map((_, n) => ({ of: sumTo(columns, n), series: bar, n: n + 1 })).reverse(),
};

/* The plot of these days in the present colours; told: where what the pointer is on is said. */
function plot(uPlot, place, told, { days, columns, drawn = columns, kind }) {
  const ends = [0, Math.floor(days.length / 2), days.length - 1];
  const { least = 1 } = columns[0];
  const grid = { stroke: token('--chart-grid'), width: 1 };
  const axis = { stroke: token('--soft'), font: `11px ${token('--font')}`, ticks: { show: false } };
  const tell = ({ cursor: { idx } }) => { told.textContent = idx === null || idx === undefined ? '' : `${day(days[idx].date)}: ${columns.map(({ name, of, show }) => `${name} ${of(days[idx]) === null ? '–' : show(of(days[idx]))}`).join(' · ')}`; };
  const shown = KINDS[kind](drawn);
  const options = {
    width: place.clientWidth || 300, height: HEIGHT, padding: [8, 24, 0, 0], legend: { show: false }, hooks: { setCursor: [tell] },
    cursor: { y: false, drag: { x: false, y: false }, points: kind === 'lines' ? {} : { show: false } },
    scales: { x: { time: false, range: [-0.5, days.length - 0.5] }, y: { range: (_, low, most) => [0, Math.max(least, most ?? 0) * 1.05] } },
    axes: [{ ...axis, size: 24, grid: { show: false }, splits: () => ends, values: () => ends.map((i) => day(days[i].date)) },
      { ...axis, size: 64, grid, incrs: STEPS.filter((step) => step >= least), values: (_, marks) => marks.map((mark) => columns[0].show(mark)) }],
    series: [{}, ...shown.map(({ series, n }) => series(uPlot, n))],
  };
  return new uPlot(options, [days.map((_, i) => i), ...shown.map(({ of }) => days.map((one) => of(one)))], place);
}

function Chart({ label, days, columns, drawn, kind }) {
  const place = useRef(), told = useRef();
  useEffect(() => {
    const darkness = matchMedia('(prefers-color-scheme: dark)');
    const at = place.current, says = told.current; // the effect may be late: the page is left, and they are gone
    if (!at) return undefined;
    let uPlot, plotted;
    const draw = () => { plotted?.destroy(); plotted = plot(uPlot, at, says, { days, columns, drawn, kind }); };
    const fit = new ResizeObserver(() => plotted.setSize({ width: at.clientWidth, height: HEIGHT }));
    let begin = (library) => {
      uPlot = library;
      draw();
      fit.observe(at);
      darkness.addEventListener('change', draw);
    };
    loadPlot().then((library) => begin?.(library), () => {}); // without it there is the table
    return () => { begin = null; darkness.removeEventListener('change', draw); fit.disconnect(); plotted?.destroy(); };
  }, [days, theme.value, language.value]);
  return html`<figure><div class="chart" role="img" aria-label=${label} ref=${place}></div><p class="told small soft" aria-hidden="true" ref=${told}></p>
    <div class="visually-hidden"><table><caption>${label}</caption><thead><tr><th scope="col">${t('chart.day')}</th>${columns.map(({ name }) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>${days.map((one) => html`<tr key=${one.date}><th scope="row">${day(one.date)}</th>${columns.map(({ name, of, show }) => html`<td key=${name}>${of(one) === null ? '–' : show(of(one))}</td>`)}</tr>`)}</tbody></table></div></figure>`;
}

/* columns: [{ name, of(day), show(value), least }]; the first is drawn, all are told. least: what the axis is told apart by at the least (1). */
export const Bars = (props) => html`<${Chart} kind="bars" ...${props} />`;
/* Each column a line; days without a value are passed over. */
export const Lines = (props) => html`<${Chart} kind="lines" ...${props} />`;
/* Bars of which each of `drawn` (at most five) is a part; columns are told. */
export const Parts = (props) => html`<${Chart} kind="parts" ...${props} />`;
