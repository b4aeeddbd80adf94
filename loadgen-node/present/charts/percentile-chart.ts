import { formatNs } from '../../../shared/base/text/duration.ts';
import { type Html, html } from '../html/html.ts';
import { coordinate } from '../text/number.ts';
import { tickTime } from '../text/time-format.ts';
import { type QuantilePoint, quantilePoints } from './distribution.ts';
import {
  areOver,
  drawAxes,
  drawBound,
  drawLegend,
  drawLine,
  PLOT,
  type PlotArea,
  type TextPlace,
  textWidth,
  xOf,
  yOf,
} from './plot.ts';
import { type Axis, linearAxis, logAxis, tailAxis } from './scale.ts';

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
  const { boundNs } = chart;
  const marks = marksOf(area, chart);
  const bound =
    boundNs === null ? null : drawBound(area, boundNs, `bound ${formatNs(boundNs)}`, marks);
  const drawing = html`${drawAxes(area)}${lines.map((points, i) => drawLine(area, stepped(points), seriesClass(i)))}${bound}${marks.map(drawMark)}`;
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

/** A marked percentile: its dot, and the place of its text. */
interface Mark extends TextPlace {
  readonly dotX: number;
  readonly dotY: number;
  readonly label: string;
  readonly isFarRight: boolean;
}

function marksOf(area: PlotArea, { distributions, marked }: PercentileChart): readonly Mark[] {
  const sorted = distributions[0]?.sorted;
  if (sorted === undefined || sorted.length === 0) return [];
  const marks: Mark[] = [];
  for (const share of marked.filter((one) => sorted.length * (1 - one) >= 1)) {
    const value = sorted[Math.trunc(sorted.length * share)] as number;
    const dotX = xOf(area, share);
    const dotY = yOf(area, value);
    const label = `p${Number((share * 100).toFixed(3))} ${formatNs(value)}`;
    // Below the line, which rises to the right; on the left of the dot where the chart ends.
    const isFarRight = dotX > PLOT.width - 110;
    const width = textWidth(label);
    const left = isFarRight ? dotX + 4 - width : dotX + 5;
    const place = { left, right: left + width, y: dotY + 16 };
    const before = marks.at(-1);
    const y = before !== undefined && areOver(place, before) ? before.y + 14 : place.y;
    marks.push({ ...place, y, dotX, dotY, label, isFarRight });
  }
  return marks;
}

function drawMark({ dotX, dotY, left, y, label, isFarRight }: Mark): Html {
  const place = html`class="${isFarRight ? 'end' : 'start'}" x="${coordinate(isFarRight ? dotX + 4 : left)}" y="${coordinate(y)}"`;
  return html`<circle class="fill c1" cx="${coordinate(dotX)}" cy="${coordinate(dotY)}" r="3"/><text ${place}>${label}</text>`;
}
