import { type Html, html } from '../html/html.ts';
import { fitText } from '../text/figure-text.ts';
import { coordinate, drawAxes, PLOT, type PlotArea, xOf, yOf } from './plot.ts';
import { type Axis, linearAxis } from './scale.ts';

/** A value with its interval, and its name on the axis. */
export interface IntervalPoint {
  readonly name: string;
  readonly value: number;
  /** Null without an interval. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly className: string;
  /** Shown on hovering. */
  readonly hint: string;
}

/** Most names that fit below the axis. */
const NAMES_MAX = 8;

/**
 * Values side by side with their intervals: a trend.
 * @param baseline Value of a line across the chart; null: no line.
 */
export function drawIntervals(
  points: readonly IntervalPoint[],
  {
    title,
    format,
    baseline,
  }: {
    readonly title: string;
    readonly format: (value: number) => string;
    readonly baseline: number | null;
  },
): Html {
  const ends = points.flatMap(({ value, interval }) => [value, ...(interval ?? [])]);
  if (baseline !== null) ends.push(baseline);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const room = (high - low || Math.abs(high) || 1) * 0.15;
  const from = low - room < 0 && low >= 0 ? 0 : low - room;
  const area = {
    x: namesAxis(points.map(({ name }) => name)),
    y: linearAxis({ from, to: high + room, title, format }),
  };
  const base =
    baseline === null
      ? null
      : html`<path class="series c3 dash2" d="M${PLOT.left} ${coordinate(yOf(area, baseline))}H${PLOT.width - PLOT.right}"/>`;
  return html`${drawAxes(area)}${base}${points.map((point, i) => drawPoint(area, point, i))}`;
}

/** An axis of names: number 0 is the first. Some are left out where they are many. */
function namesAxis(names: readonly string[]): Axis {
  const every = Math.ceil(names.length / NAMES_MAX);
  const lengthMax = Math.max(Math.floor(60 / Math.min(names.length, NAMES_MAX)), 4);
  const ticks = names.flatMap((name, value) =>
    value % every === 0 ? [{ value, label: fitText(name, lengthMax) }] : [],
  );
  const scale = (value: number): number => (value + 0.5) / names.length;
  return { scale, ticks, title: '' };
}

function drawPoint(area: PlotArea, point: IntervalPoint, i: number): Html {
  const { value, interval, className, hint } = point;
  const x = xOf(area, i);
  const [low, high] = (interval ?? [value, value]).map((end) => yOf(area, end)) as [number, number];
  const bar = `M${coordinate(x)} ${coordinate(low)}V${coordinate(high)}M${coordinate(x - 5)} ${coordinate(low)}h10M${coordinate(x - 5)} ${coordinate(high)}h10`;
  const whisker =
    interval === null ? null : html`<path class="${`series ${className}`}" d="${bar}"/>`;
  return html`<g><title>${hint}</title>${whisker}<circle class="${`fill ${className}`}" cx="${coordinate(x)}" cy="${coordinate(yOf(area, value))}" r="4.5"/></g>`;
}
