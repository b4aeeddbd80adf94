import UPlot from 'uplot';
import type { LiveSnapshot } from '../../../observe/live/live-snapshot.ts';
import { type ChartSpec, type Columns, chartColumns, type SeriesSpec } from '../chart-specs.ts';
import { clock } from '../figure-format.ts';
import { seriesColor, themeColor } from './colors.ts';
import { element } from './dom.ts';

const HEIGHT = 220;
/** A new run does not fill the axis at once. */
const LEAST_SECONDS = 10;
/** Steps of the axis of time, in seconds; beyond, days. */
const STEPS_S: number[] = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800],
  ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * 86_400),
];
/** Steps of an axis of whole numbers. */
const STEPS: number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
);
const FONT = '12px system-ui, sans-serif';

/** One chart with its legend, whose buttons show and hide lines and tell the values at the cursor, else the last ones. */
export class Chart {
  readonly figure: HTMLElement;
  readonly #spec: ChartSpec;
  readonly #plot: HTMLElement;
  readonly #legend: HTMLElement;
  readonly #said: HTMLElement;
  #nodes: readonly string[] | undefined;
  #series: readonly SeriesSpec[] = [];
  readonly #hidden = new Set<string>();
  #values: HTMLElement[] = [];
  #uplot: UPlot | undefined;
  #points: readonly LiveSnapshot[] = [];
  #raw: Columns = [[]];
  #originS = 0;

  constructor(spec: ChartSpec) {
    this.#spec = spec;
    this.#plot = element('div', { class: 'plot', tabindex: '0', role: 'group' });
    this.#plot.setAttribute(
      'aria-label',
      `${spec.title}: ${spec.note}. Left and right arrows go through the points; Escape ends it.`,
    );
    this.#legend = element('ul', { class: 'legend', 'aria-label': `lines of ${spec.title}` });
    this.#said = element('p', { class: 'hidden', 'aria-live': 'polite' });
    const caption = element('figcaption', {}, [
      element('h3', {}, [spec.title]),
      element('p', {}, [spec.note]),
    ]);
    this.figure = element('figure', {}, [caption, this.#plot, this.#legend, this.#said]);
    this.#plot.addEventListener('keydown', (event) => this.#onKey(event));
    new ResizeObserver(() => this.#resize()).observe(this.#plot);
  }

  /** Draws what there is. */
  update(points: readonly LiveSnapshot[], nodes: readonly string[], originS: number): void {
    this.#points = points;
    this.#originS = originS;
    if (this.#nodes === undefined || !isEqual(this.#nodes, nodes)) {
      this.#nodes = nodes;
      this.#series = this.#spec.series(nodes);
      this.#fillLegend();
      this.rebuild();
    } else {
      this.#uplot?.setData(this.#columns() as UPlot.AlignedData);
    }
    this.#tell(null);
  }

  /** Draws anew with the colours of the theme. */
  rebuild(): void {
    this.#uplot?.destroy();
    const width = this.#plot.clientWidth;
    const columns = this.#columns() as UPlot.AlignedData;
    this.#uplot = new UPlot(this.#options(Math.max(width, 100)), columns, this.#plot);
    this.#fillLegend();
    this.#tell(null);
  }

  get #shown(): readonly SeriesSpec[] {
    return this.#series.filter(({ label }) => !this.#hidden.has(label));
  }

  /** A stack is drawn from its top, each layer over the one before. */
  #columns(): Columns {
    const { isLog, isStacked } = this.#spec;
    const options = { originS: this.#originS, isLog };
    this.#raw = chartColumns(this.#points, this.#series, { ...options, isStacked: false });
    const columns = chartColumns(this.#points, this.#shown, { ...options, isStacked });
    if (!isStacked) return columns;
    const [seconds, ...layers] = columns;
    return [seconds, ...layers.reverse()];
  }

  #options(width: number): UPlot.Options {
    const { isLog, isStacked, isCount, format } = this.#spec;
    const shown = isStacked ? [...this.#shown].reverse() : this.#shown;
    const text = themeColor('muted');
    const grid = { stroke: themeColor('grid'), width: 1 };
    const axis = { stroke: text, grid, ticks: grid, font: FONT };
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: !isStacked } },
      scales: {
        x: { time: false, range: () => rangeOfSeconds(this.#raw[0]) },
        y: { distr: isLog ? 3 : 1, range: (_, min, max) => rangeOfValues(min, max, isLog) },
      },
      axes: [
        {
          ...axis,
          size: 32,
          incrs: STEPS_S,
          values: (_, ticks) => ticks.map((tick) => clock(tick)),
        },
        {
          ...axis,
          size: 64,
          ...(isCount ? { incrs: STEPS } : {}),
          values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))),
        },
      ],
      series: [
        {},
        ...shown.map((series): UPlot.Series => {
          const stroke = seriesColor(series.color);
          return {
            label: series.label,
            stroke,
            width: 1.5,
            spanGaps: false,
            // A line needs two points.
            points: { show: () => this.#points.length < 2, size: 6 },
            ...(series.isDashed === true ? { dash: [6, 4] } : {}),
            ...(isStacked ? { fill: stroke } : {}),
          };
        }),
      ],
      hooks: { setCursor: [(uplot) => this.#tell(uplot.cursor.idx ?? null)] },
    };
  }

  #fillLegend(): void {
    this.#values = [];
    const items = this.#series.map((series) => {
      const value = element('span', {});
      this.#values.push(value);
      const button = element('button', { type: 'button' }, [
        swatch(series),
        element('span', {}, [series.label]),
        value,
      ]);
      button.setAttribute('aria-pressed', String(!this.#hidden.has(series.label)));
      button.addEventListener('click', () => this.#toggle(series.label, button));
      return element('li', {}, [button]);
    });
    this.#legend.replaceChildren(...items);
  }

  #toggle(label: string, button: HTMLElement): void {
    if (!this.#hidden.delete(label)) this.#hidden.add(label);
    button.setAttribute('aria-pressed', String(!this.#hidden.has(label)));
    this.#uplot?.destroy();
    const columns = this.#columns() as UPlot.AlignedData;
    this.#uplot = new UPlot(this.#options(this.#plot.clientWidth), columns, this.#plot);
  }

  /** @param index Point at the cursor; null: the last one. */
  #tell(index: number | null): void {
    const [seconds, ...columns] = this.#raw;
    const at = index ?? seconds.length - 1;
    columns.forEach((column, i) => {
      const value = column[at];
      const text = value === null || value === undefined ? '-' : this.#spec.format(value);
      const told = this.#values[i];
      if (told !== undefined) told.textContent = text;
    });
  }

  #onKey(event: KeyboardEvent): void {
    const uplot = this.#uplot;
    const count = this.#raw[0].length;
    if (uplot === undefined || count === 0) return;
    const now = uplot.cursor.idx ?? count - 1;
    const next = nextIndex(event.key, now, count);
    if (next === undefined) return;
    event.preventDefault();
    if (next === null) {
      uplot.setCursor({ left: -10, top: -10 });
      return;
    }
    const second = this.#raw[0][next] as number; // In range: nextIndex.
    uplot.setCursor({ left: uplot.valToPos(second, 'x'), top: HEIGHT / 3 });
    const values = this.#series.map(({ label }, i) => `${label} ${this.#values[i]?.textContent}`);
    this.#said.textContent = `${clock(second)}: ${values.join(', ')}`;
  }

  #resize(): void {
    const width = this.#plot.clientWidth;
    if (this.#uplot !== undefined && width > 0 && width !== this.#uplot.width) {
      this.#uplot.setSize({ width, height: HEIGHT });
    }
  }
}

/** Undefined: not a key of a chart; null: no point. */
function nextIndex(key: string, now: number, count: number): number | null | undefined {
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, now - 1);
    case 'ArrowRight':
      return Math.min(count - 1, now + 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    case 'Escape':
      return null;
    default:
      return undefined;
  }
}

/** Without points, or with one, there is an axis all the same. */
function rangeOfSeconds(seconds: readonly number[]): [number, number] {
  const first = seconds[0] ?? 0;
  return [Math.min(first, 1), Math.max(seconds.at(-1) ?? 0, first + LEAST_SECONDS)];
}

function rangeOfValues(min: number | null, max: number | null, isLog: boolean): [number, number] {
  if (min === null || max === null) return isLog ? [0.1, 100] : [0, 1];
  if (!isLog) return [0, max <= 0 ? 1 : max * 1.1];
  return [10 ** Math.floor(Math.log10(min)), 10 ** Math.ceil(Math.log10(max * 1.0001))];
}

function swatch({ color, isDashed }: SeriesSpec): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('width', '14');
  svg.setAttribute('height', '8');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  for (const [name, value] of Object.entries({ x1: '0', y1: '4', x2: '14', y2: '4' })) {
    line.setAttribute(name, value);
  }
  line.setAttribute('stroke', seriesColor(color));
  line.setAttribute('stroke-width', '3');
  if (isDashed === true) line.setAttribute('stroke-dasharray', '4 2');
  svg.append(line);
  return svg;
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
