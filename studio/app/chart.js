/* Charts of days, in SVG of our own: bars of one figure, lines of several. What they show stands in a table for who cannot see it. */
import { html } from './lib.js';
import { t, time } from './text.js';

const WIDTH = 600, HEIGHT = 150, FOOT = 18;
const day = (date) => time(`${date}T00:00:00Z`, { day: 'numeric', month: 'short', timeZone: 'UTC' });

function Frame({ label, days, most, columns, children }) {
  const ends = [days[0], days[Math.floor(days.length / 2)], days.at(-1)];
  return html`<figure><svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT + FOOT}" role="img" aria-label=${label}>
      ${[0, 0.5, 1].map((part) => html`<line key=${part} class="rule" x1="0" x2=${WIDTH} y1=${HEIGHT - part * (HEIGHT - 14)} y2=${HEIGHT - part * (HEIGHT - 14)} />`)}
      <text x="0" y="10">${most}</text>${children}${ends.map(({ date }, i) => html`<text key=${date} x=${(i * WIDTH) / 2} y=${HEIGHT + 14} text-anchor=${['start', 'middle', 'end'][i]}>${day(date)}</text>`)}</svg>
    <div class="visually-hidden"><table><caption>${label}</caption><thead><tr><th scope="col">${t('chart.day')}</th>${columns.map(({ name }) => html`<th scope="col" key=${name}>${name}</th>`)}</tr></thead>
      <tbody>${days.map((one) => html`<tr key=${one.date}><th scope="row">${day(one.date)}</th>${columns.map(({ name, of, show }) => html`<td key=${name}>${of(one) === null ? '–' : show(of(one))}</td>`)}</tr>`)}</tbody></table></div></figure>`;
}

/* columns: [{ name, of(day), show(value) }]; the first is drawn. */
export function Bars({ label, days, columns }) {
  const [{ of, show }] = columns;
  const most = Math.max(1, ...days.map(of));
  const step = WIDTH / days.length;
  return html`<${Frame} label=${label} days=${days} most=${show(most)} columns=${columns}>${days.map((one, i) => { const height = (of(one) / most) * (HEIGHT - 14);
    return html`<rect key=${one.date} class="column" x=${i * step + step * 0.15} width=${step * 0.7} y=${HEIGHT - height} height=${height} rx="1.5"><title>${day(one.date)}: ${show(of(one))}</title></rect>`; })}<//>`;
}

/* Each column a line; days without a value are passed over. */
export function Lines({ label, days, columns }) {
  const most = Math.max(1, ...days.flatMap((one) => columns.map(({ of }) => of(one) ?? 0)));
  const point = (one, i, of) => [(i + 0.5) * (WIDTH / days.length), HEIGHT - (of(one) / most) * (HEIGHT - 14)];
  return html`<${Frame} label=${label} days=${days} most=${columns[0].show(most)} columns=${columns}>${columns.map(({ name, of, show }, n) => {
    const points = days.map((one, i) => (of(one) === null ? null : { at: point(one, i, of), one })).filter(Boolean);
    return html`<g key=${name} class="line line-${n + 1}"><polyline points=${points.map(({ at }) => at.join(',')).join(' ')} />${points.map(({ at: [x, y], one }) => html`<circle key=${one.date} cx=${x} cy=${y} r="2.5"><title>${day(one.date)}: ${name} ${show(of(one))}</title></circle>`)}</g>`;
  })}<//>`;
}
