import type { LiveSnapshot } from '../../observe/live/live-snapshot.ts';
import { LATENCY_PARTS } from '../../observe/split/latency-parts.ts';
import { amount, time } from './figure-format.ts';

/** Nodes that are drawn one by one. */
const NODES_DRAWN_MAX = 64;

/** A line, or a layer of a stack. */
export interface SeriesSpec {
  readonly label: string;
  /** Number of its colour. */
  readonly color: number;
  /** A line that something is held against. */
  readonly isDashed?: boolean;
  /** Null where there is no value; what is not a finite number is drawn as none. */
  readonly value: (point: LiveSnapshot) => number | null | undefined;
}

/** A chart of the page. */
export interface ChartSpec {
  readonly title: string;
  readonly note: string;
  readonly isLog: boolean;
  readonly isStacked: boolean;
  /** Its values are whole numbers. */
  readonly isCount?: boolean;
  readonly format: (value: number) => string;
  /** May depend on the nodes. */
  readonly series: (nodes: readonly string[]) => readonly SeriesSpec[];
}

const MS = 1e6;
const inMs = (ns: number | null | undefined): number | null => (ns == null ? null : ns / MS);
const asTime = (ms: number): string => time(ms * MS);

/** All charts, in the order in which they stand. */
export const CHARTS: readonly ChartSpec[] = [
  {
    title: 'Load',
    note: 'queries per second (Offline: samples)',
    isLog: false,
    isStacked: false,
    format: (value) => amount(value),
    series: () => [
      { label: 'issued', color: 0, value: (point) => point.issuedPerS },
      { label: 'completed', color: 1, value: (point) => point.completedPerS },
      { label: 'target', color: 10, isDashed: true, value: (point) => point.targetPerS },
    ],
  },
  {
    title: 'Latency',
    note: 'of the samples (MultiStream: queries) completed in each second, logarithmic',
    isLog: true,
    isStacked: false,
    format: asTime,
    series: () => [
      { label: 'p50', color: 2, value: ({ latency }) => inMs(latency?.p50Ns) },
      { label: 'p90', color: 0, value: ({ latency }) => inMs(latency?.p90Ns) },
      { label: 'p99', color: 1, value: ({ latency }) => inMs(latency?.p99Ns) },
      { label: 'p99.9', color: 3, value: ({ latency }) => inMs(latency?.p999Ns) },
      { label: 'bound', color: 10, isDashed: true, value: ({ bound }) => inMs(bound?.latencyNs) },
    ],
  },
  {
    title: 'Outstanding samples',
    note: 'issued and not answered: in all, and at each node',
    isCount: true,
    isLog: false,
    isStacked: false,
    format: (value) => amount(value),
    series: (nodes) => [
      { label: 'all', color: 10, value: (point) => point.outstanding },
      ...nodes.slice(0, NODES_DRAWN_MAX).map(
        (label, i): SeriesSpec => ({
          label,
          color: i,
          value: (point) => point.nodes.outstanding[i],
        }),
      ),
    ],
  },
  {
    title: 'Where the time goes',
    note: 'means per second; network is what the other parts leave over',
    isLog: false,
    isStacked: true,
    format: asTime,
    series: () =>
      LATENCY_PARTS.map(
        (label, i): SeriesSpec => ({
          label,
          color: i,
          // The remainder may be a hair below 0.
          value: ({ split }) => inMs(split === null ? null : Math.max(0, split[i] ?? 0)),
        }),
      ),
  },
  {
    title: 'Dispatch lag',
    note: "issued − scheduled: LoadGen's own delay, logarithmic",
    isLog: true,
    isStacked: false,
    format: asTime,
    series: () => [
      { label: 'p50', color: 2, value: ({ lag }) => inMs(lag?.p50Ns) },
      { label: 'p99', color: 1, value: ({ lag }) => inMs(lag?.p99Ns) },
      { label: 'max', color: 3, value: ({ lag }) => inMs(lag?.maxNs) },
    ],
  },
  {
    title: 'Errors',
    note: 'samples that got no result, since the run began',
    isCount: true,
    isLog: false,
    isStacked: false,
    format: (value) => amount(value),
    series: () => [{ label: 'lost', color: 8, value: ({ totals }) => totals.lostSamples }],
  },
];

/** Values of a chart: first the seconds, then a column per series. */
export type Columns = [number[], ...(number | null)[][]];

/** Points further apart than this many of their lengths have a gap between them. */
const GAP_POINTS = 4;

/**
 * The columns of a chart. Where nothing was measured for a while (between two sets, or while a connection was lost) an
 * empty point keeps lines from crossing.
 * @param originS Where the axis begins.
 */
export function chartColumns(
  points: readonly LiveSnapshot[],
  series: readonly SeriesSpec[],
  { originS, isLog, isStacked }: { originS: number; isLog: boolean; isStacked: boolean },
): Columns {
  const seconds: number[] = [];
  const values: (number | null)[][] = series.map(() => []);
  let last: LiveSnapshot | undefined;
  for (const point of points) {
    if (last !== undefined && point.atS - last.atS > GAP_POINTS * Math.max(1, point.windowS)) {
      seconds.push((last.atS + point.atS) / 2 - originS);
      for (const column of values) column.push(null);
    }
    seconds.push(point.atS - originS);
    series.forEach(({ value }, i) => {
      values[i]?.push(drawable(value(point), isLog));
    });
    last = point;
  }
  return [seconds, ...(isStacked ? stacked(values) : values)];
}

/** A logarithmic axis has no place for 0. */
function drawable(value: number | null | undefined, isLog: boolean): number | null {
  if (value === null || value === undefined || !Number.isFinite(value)) return null;
  return isLog && value <= 0 ? null : value;
}

/** Each column on top of those before it. */
function stacked(columns: readonly (number | null)[][]): (number | null)[][] {
  const sums: (number | null)[][] = [];
  for (const column of columns) {
    const below = sums.at(-1);
    sums.push(column.map((value, i) => (value === null ? null : value + (below?.[i] ?? 0))));
  }
  return sums;
}
