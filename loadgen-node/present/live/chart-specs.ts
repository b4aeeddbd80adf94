import { formatNs } from '../../../shared/base/text.ts';
import type { LiveSnapshot, MachineUse } from '../../observe/live/live-snapshot.ts';
import { LATENCY_PARTS } from '../../observe/split/latency-parts.ts';
import { drawArea, drawAxes, drawLine, type Series, seriesClass } from '../charts/plot.ts';
import { type Axis, linearAxis, logAxis, memoryStep, roundStep } from '../charts/scale.ts';
import { type Html, html } from '../html/html.ts';
import {
  amount,
  clock,
  formatMemory,
  formatNumber,
  tickMemory,
  tickTime,
} from '../text/figure-text.ts';

/** Most nodes drawn separately. */
const NODES_DRAWN_MAX = 64;

/** A chart of the live page. */
export interface ChartSpec {
  readonly title: string;
  readonly note: string;
  /**
   * Unit and axis of the values: per second, whole numbers, cores, bytes, or ns on a linear or
   * logarithmic axis.
   */
  readonly kind: 'rate' | 'count' | 'cores' | 'bytes' | 'time' | 'log-time';
  /** True: each line is stacked on those before it. */
  readonly isStacked?: boolean;
  /**
   * True: lines without any value are omitted (for a node that does not report it), and so is a
   * chart without lines.
   */
  readonly leavesOut?: boolean;
  /**
   * Name and class of each line, and its value at a point; a missing value, or 0 on a logarithmic
   * axis, is a gap.
   */
  readonly series: (
    nodes: readonly string[],
  ) => readonly (readonly [string, string, (point: LiveSnapshot) => number | null | undefined])[];
}

/** All charts, in display order. */
export const CHARTS: readonly ChartSpec[] = [
  {
    title: 'Load',
    note: 'queries per second (Offline: samples)',
    kind: 'rate',
    series: () => [
      ['issued', 'c1', (point) => point.issuedPerS],
      ['completed', 'c2', (point) => point.completedPerS],
      ['target', 'c0 dash2', (point) => point.targetPerS],
    ],
  },
  {
    title: 'Latency',
    note: 'of the samples (MultiStream: queries) completed in each second, logarithmic; of whole answers where tokens come one by one',
    kind: 'log-time',
    leavesOut: true,
    series: () => [
      ['p50', 'c5', ({ latency }) => latency?.p50Ns],
      ['p90', 'c1', ({ latency }) => latency?.p90Ns],
      ['p99', 'c2', ({ latency }) => latency?.p99Ns],
      ['p99.9', 'c4', ({ latency }) => latency?.p999Ns],
      ['bound', 'c7 dash2', ({ bound }) => bound?.latencyNs],
    ],
  },
  {
    title: 'Outstanding samples',
    note: 'issued and not answered: in all, and at each node',
    kind: 'count',
    series: (nodes) => [
      ['all', 'c0', (point) => point.outstanding],
      ...nodes
        .slice(0, NODES_DRAWN_MAX)
        .map(
          (name, i) =>
            [name, seriesClass(i), ({ nodes: now }: LiveSnapshot) => now.outstanding[i]] as const,
        ),
    ],
  },
  {
    title: 'Where the time goes',
    note: 'means per second; network is what the other parts leave over',
    kind: 'time',
    isStacked: true,
    leavesOut: true,
    series: () =>
      LATENCY_PARTS.map((part, i) => [
        part,
        `part-${part}`,
        // The remainder may be slightly below 0 by rounding.
        ({ split }) => split && Math.max(0, split[i] ?? 0),
      ]),
  },
  {
    title: 'Dispatch lag',
    note: 'issued − scheduled, logarithmic',
    kind: 'log-time',
    leavesOut: true,
    series: () => [
      ['p50', 'c5', ({ lag }) => lag?.p50Ns],
      ['p99', 'c2', ({ lag }) => lag?.p99Ns],
      ['max', 'c4', ({ lag }) => lag?.maxNs],
    ],
  },
  {
    title: 'CPU',
    note: 'cores that the process kept busy, worker processes of a node included',
    kind: 'cores',
    leavesOut: true,
    series: (nodes) => useSeries(nodes, ({ cores }) => cores),
  },
  {
    title: 'Memory',
    note: 'resident memory of the same processes',
    kind: 'bytes',
    leavesOut: true,
    series: (nodes) => useSeries(nodes, ({ residentBytes }) => residentBytes),
  },
  {
    title: 'Errors',
    note: 'samples that got no result, since the run began',
    kind: 'count',
    series: () => [['lost', 'c6', ({ totals }) => totals.lostSamples]],
  },
];

/** Series for LoadGen and each node. */
function useSeries(
  nodes: readonly string[],
  of: (use: MachineUse) => number,
): ReturnType<ChartSpec['series']> {
  return [
    ['LoadGen', 'c0 dash2', ({ loadgen }) => loadgen && of(loadgen)],
    ...nodes.slice(0, NODES_DRAWN_MAX).map((name, i) => {
      const value = ({ nodes: { usage } }: LiveSnapshot) => {
        const use = usage[i];
        return use && of(use);
      };
      return [name, seriesClass(i), value] as const;
    }),
  ];
}

/** A value of a chart for people. */
export function valueText({ kind }: ChartSpec, value: number): string {
  if (kind === 'bytes') return formatMemory(value);
  return kind === 'time' || kind === 'log-time' ? formatNs(value) : axisText(kind)(value);
}

function axisText(kind: ChartSpec['kind']): (value: number) => string {
  if (kind === 'cores') return formatNumber;
  if (kind === 'bytes') return tickMemory;
  return kind === 'time' || kind === 'log-time' ? tickTime : amount;
}

/** Number of point lengths from which the space between two points is a gap. */
const GAP_POINTS = 4;

/**
 * The lines of a chart over the seconds since `originS`, before stacking. If values are missing for
 * a while (between two sets, or without a connection), an empty point interrupts the line.
 */
export function chartLines(
  spec: ChartSpec,
  points: readonly LiveSnapshot[],
  nodes: readonly string[],
  originS: number,
): Series[] {
  const lines = allLines(spec, points, nodes, originS);
  return spec.leavesOut === true
    ? lines.filter(({ points }) => points.some(([, value]) => Number.isFinite(value)))
    : lines;
}

function allLines(
  { kind, series }: ChartSpec,
  points: readonly LiveSnapshot[],
  nodes: readonly string[],
  originS: number,
): Series[] {
  const lines = series(nodes).map(([name, className, value]) => ({
    name,
    className,
    value,
    points: [] as [number, number][],
  }));
  const isLog = kind === 'log-time';
  let last: LiveSnapshot | undefined;
  for (const point of points) {
    const { atS, windowS } = point;
    const isGap = last !== undefined && atS - last.atS > GAP_POINTS * Math.max(1, windowS);
    const gapS = isGap ? ((last?.atS ?? 0) + atS) / 2 - originS : null;
    for (const line of lines) {
      if (gapS !== null) line.points.push([gapS, Number.NaN]);
      const value = line.value(point) ?? Number.NaN;
      line.points.push([atS - originS, isLog && value <= 0 ? Number.NaN : value]);
    }
    last = point;
  }
  return lines;
}

/** Each line on top of those before it. */
export function stacked(lines: readonly Series[]): Series[] {
  const layers: Series[] = [];
  for (const line of lines) {
    const below = layers.at(-1)?.points;
    const points = line.points.map(([x, y], i) => [x, y + (below?.[i]?.[1] || 0)] as const);
    layers.push({ ...line, points });
  }
  return layers;
}

/** Approximate number of axis marks. */
const TICKS = 6;
/** Shortest time axis in s, so that a new run does not fill it at once. */
const LEAST_SECONDS = 10;
/** Steps of the time axis, in seconds; beyond these, days. */
const STEPS_S = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800],
  ...[1, 2, 5, 10, 20, 50, 100].map((days) => days * 86_400),
];

/** Draws the visible lines; also returns the positions of their seconds. */
export function drawChart(
  { kind, isStacked = false }: ChartSpec,
  lines: readonly Series[],
): { readonly drawing: Html; readonly x: Axis } {
  const layers = isStacked ? stacked(lines) : lines;
  const seconds = layers[0]?.points ?? [];
  const x = secondsAxis(seconds[0]?.[0] ?? 0, seconds.at(-1)?.[0] ?? 0);
  const values = layers.flatMap(({ points }) => points.map(([, y]) => y)).filter(Number.isFinite);
  const area = { x, y: valueAxis(kind, values) };
  const drawn = isStacked
    ? // From the top layer down, each over the next.
      layers.map(({ points, className }) => drawArea(area, points, `edge ${className}`)).reverse()
    : layers.map(({ points, className }) => drawLine(area, points, className));
  return { drawing: html`${drawAxes(area)}${drawn}`, x };
}

/** With no or only one point there is still an axis. */
function secondsAxis(first: number, last: number): Axis {
  const range = {
    from: Math.min(first, 1),
    to: Math.max(last, first + LEAST_SECONDS),
    title: '',
    format: clock,
    stepOf: (least: number) => STEPS_S.find((step) => step >= least) ?? roundStep(least),
  };
  return linearAxis(range, TICKS);
}

function valueAxis(kind: ChartSpec['kind'], values: readonly number[]): Axis {
  // A spread call has too few argument slots for the points of many nodes.
  const largest = values.reduce((a, b) => Math.max(a, b), 0);
  if (kind === 'log-time') {
    const least = values.reduce((a, b) => Math.min(a, b), largest || 1e5);
    const from = 10 ** Math.floor(Math.log10(least));
    const to = 10 ** Math.ceil(Math.log10(largest * 1.0001 || 1e8));
    return logAxis({ from, to, title: '', format: tickTime });
  }
  const isTime = kind === 'time';
  const range = {
    from: 0,
    to: largest * 1.1 || (isTime ? 1e6 : 1),
    title: '',
    format: axisText(kind),
    stepOf: (least: number) => {
      if (kind === 'bytes') return memoryStep(least);
      return kind === 'count' ? Math.max(1, roundStep(least)) : roundStep(least);
    },
  };
  return linearAxis(range, TICKS);
}
