import { percentileOf } from '../../../loadgen/results/latency-statistics.ts';
import type { LatencyTable } from './latency-table.ts';

/** Widths that intervals of time may have, in ns. */
const WIDTHS_NS = [
  1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 3e10, 6e10, 12e10, 3e11, 6e11, 18e11, 36e11,
];

/** As many as a chart shows. */
const INTERVALS_MAX = 200;

/** Fewer rows than that per interval make percentiles of noise. */
const ROWS_PER_INTERVAL = 100;

/** What happened over time, in intervals of equal width from the start. */
export interface Timeline {
  readonly widthNs: number;
  readonly intervals: readonly TimelineInterval[];
}

/** One interval. Latencies are of what was due in it, NaN where nothing was; rates are per second. */
export interface TimelineInterval {
  readonly fromNs: number;
  readonly toNs: number;
  readonly p50Ns: number;
  readonly p90Ns: number;
  readonly p99Ns: number;
  readonly maxNs: number;
  /** Rows (queries) due. */
  readonly dueRate: number;
  /** Samples completed, by the time of completion. */
  readonly completedRate: number;
  /** Rows due that were never completed. */
  readonly lost: number;
}

/** Follows a run over time. Rows count where they were due; completed samples where they were completed. */
export function timelineOf(table: LatencyTable): Timeline {
  const { count, scheduledNs, latencyNs, completedSamples, endNs } = table;
  if (count === 0) return { widthNs: 1e9, intervals: [] };
  const widthNs = widthFor(endNs, count);
  // A rest below half an interval goes to the last one: its rate would be noise.
  const intervalCount = Math.max(Math.round(endNs / widthNs), 1);
  const placeOf = (ns: number): number =>
    Math.min(Math.max(Math.trunc(ns / widthNs), 0), intervalCount - 1);
  const starts = new Uint32Array(intervalCount + 1);
  const completed = new Float64Array(intervalCount);
  const lost = new Float64Array(intervalCount);
  for (let row = 0; row < count; row += 1) {
    const due = scheduledNs[row] as number;
    const place = placeOf(due);
    starts[place + 1] = (starts[place + 1] as number) + 1;
    const latency = latencyNs[row] as number;
    if (Number.isNaN(latency)) {
      lost[place] = (lost[place] as number) + 1;
      continue;
    }
    const end = placeOf(due + latency);
    completed[end] = (completed[end] as number) + (completedSamples[row] as number);
  }
  for (let i = 0; i < intervalCount; i += 1)
    starts[i + 1] = (starts[i + 1] as number) + (starts[i] as number);
  const grouped = groupedBy(latencyNs, (row) => placeOf(scheduledNs[row] as number), starts);
  const intervals = Array.from({ length: intervalCount }, (_, i) => {
    const toNs = i === intervalCount - 1 ? Math.max(endNs, i * widthNs + 1) : (i + 1) * widthNs;
    const seconds = (toNs - i * widthNs) / 1e9;
    const rows = grouped.subarray(starts[i] as number, starts[i + 1] as number).sort();
    const known = rows.subarray(0, rows.length - (lost[i] as number));
    return {
      fromNs: i * widthNs,
      toNs,
      ...percentilesOf(known),
      dueRate: rows.length / seconds,
      completedRate: (completed[i] as number) / seconds,
      lost: lost[i] as number,
    };
  });
  return { widthNs, intervals };
}

function percentilesOf(
  sorted: Float64Array,
): Pick<TimelineInterval, 'p50Ns' | 'p90Ns' | 'p99Ns' | 'maxNs'> {
  const at = (percentile: number): number =>
    sorted.length === 0 ? Number.NaN : percentileOf(sorted, percentile);
  return { p50Ns: at(0.5), p90Ns: at(0.9), p99Ns: at(0.99), maxNs: at(1) };
}

/** Values in the order of their groups, by counting: a sort of 10^7 rows by place would take seconds. */
function groupedBy(
  values: Float64Array,
  groupOf: (row: number) => number,
  starts: Uint32Array,
): Float64Array {
  const next = starts.slice();
  const grouped = new Float64Array(values.length);
  for (let row = 0; row < values.length; row += 1) {
    const group = groupOf(row);
    grouped[next[group] as number] = values[row] as number;
    next[group] = (next[group] as number) + 1;
  }
  return grouped;
}

/** One second where that makes a readable chart; shorter for short runs with enough rows, longer for long ones. */
function widthFor(endNs: number, count: number): number {
  const least = Math.max(endNs / INTERVALS_MAX, Math.min((endNs / count) * ROWS_PER_INTERVAL, 1e9));
  const width =
    WIDTHS_NS.find((candidate) => candidate >= least) ?? Math.ceil(least / 36e11) * 36e11;
  return endNs > 30e9 ? Math.max(width, 1e9) : width;
}
