import { formatNs } from '../../../shared/config/duration.ts';
import { type QuantilePoint, quantilePoints } from '../aggregate/distribution.ts';
import { type Html, html } from '../html.ts';
import { coordinate } from './number.ts';
import {
  drawAxes,
  drawBound,
  drawLegend,
  drawLine,
  PLOT,
  type PlotArea,
  xOf,
  yOf,
} from './plot.ts';
import { type Axis, linearAxis, logAxis, tailAxis } from './scale.ts';
import { tickTime } from './time-format.ts';

/** A distribution to draw. */
export interface NamedDistribution {
  readonly name: string;
  /** In ns. */
  readonly sorted: Float64Array;
}

/** A chart of percentiles. */
export interface PercentileChart {
  readonly distributions: readonly NamedDistribution[];
  /** In ns; null: none. */
  readonly boundNs: number | null;
  /** What the values are: `latency`. */
  readonly title: string;
  /** Percentiles that are marked with their values: those of the first distribution. */
  readonly marked: readonly number[];
}

/** Class of a line by its number: colour, and dashes for those who do not see colours. */
export function seriesClass(index: number): string {
  const dashes = ['', ' dash2', ' dash3', ' dash4'][index % 4];
  return `c${(index % 6) + 1}${dashes}`;
}

/**
 * Latency over the percentile, on an axis that stretches the tail: the distribution function, turned so that the percentiles
 * that rules ask for are far apart.
 */
export function drawPercentiles(chart: PercentileChart): { drawing: Html; legend: Html | null } {
  const lines = chart.distributions.map(({ sorted }) => quantilePoints(sorted));
  const values = [
    ...lines.flat().map(([, value]) => value),
    ...(chart.boundNs === null ? [] : [chart.boundNs]),
  ];
  const countMax = Math.max(...chart.distributions.map(({ sorted }) => sorted.length), 1);
  const area: PlotArea = { x: tailAxis(countMax, 'percentile'), y: timeAxis(values, chart.title) };
  const drawing = html`${drawAxes(area)}${lines.map((points, i) => drawLine(area, stepped(points), seriesClass(i)))}${chart.boundNs === null ? null : drawBound(area, chart.boundNs, `bound ${formatNs(chart.boundNs)}`)}${marks(area, chart)}`;
  const legend =
    chart.distributions.length < 2
      ? null
      : drawLegend(chart.distributions.map(({ name }, i) => ({ name, className: seriesClass(i) })));
  return { drawing, legend };
}

/** An axis of times: logarithmic where they differ tenfold. 0 is shown as the smallest positive one, or 1 µs. */
export function timeAxis(valuesNs: readonly number[], title: string): Axis {
  const positive = valuesNs.filter((value) => value > 0);
  const from = positive.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const to = valuesNs.reduce((a, b) => Math.max(a, b), 0);
  if (!Number.isFinite(from)) return linearAxis({ from: 0, to: 1e6, title, format: tickTime });
  if (to / from < 10) return linearAxis({ from: 0, to: to * 1.05, title, format: tickTime });
  return logAxis({ from: from / 1.1, to: to * 1.1, title, format: tickTime });
}

/** A single value is a level line, not a point. */
function stepped(points: readonly QuantilePoint[]): readonly QuantilePoint[] {
  const [only] = points;
  return only !== undefined && points.length === 1 ? [only, [0.9, only[1]]] : points;
}

function marks(area: PlotArea, { distributions, marked }: PercentileChart): Html {
  const sorted = distributions[0]?.sorted;
  if (sorted === undefined || sorted.length === 0) return html``;
  const shown = marked.filter((share) => sorted.length * (1 - share) >= 1);
  let before = { right: 0, y: 0 };
  const dots = shown.map((share) => {
    const value = sorted[Math.trunc(sorted.length * share)] as number;
    const x = xOf(area, share);
    const y = yOf(area, value);
    const label = `p${Number((share * 100).toFixed(3))} ${formatNs(value)}`;
    // Below the line, which rises to the right; on the left of the dot where the chart ends.
    const isFarRight = x > PLOT.width - 110;
    const width = label.length * 7;
    const left = isFarRight ? x + 4 - width : x + 5;
    const isOver = left < before.right && Math.abs(y + 16 - before.y) < 13;
    const labelY = isOver ? before.y + 14 : y + 16;
    before = { right: left + width, y: labelY };
    const place = html`class="${isFarRight ? 'end' : 'start'}" x="${coordinate(isFarRight ? x + 4 : x + 5)}" y="${coordinate(labelY)}"`;
    return html`<circle class="fill c1" cx="${coordinate(x)}" cy="${coordinate(y)}" r="3"/><text ${place}>${label}</text>`;
  });
  return html`${dots}`;
}
