import { ExactDistribution } from '../../observe/figures/distribution.ts';
import { latencyFigures } from '../../observe/figures/figures.ts';
import type { LatencyTable } from '../../observe/figures/latency-table.ts';

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
  const latencies = Array.from({ length: intervalCount }, () => new ExactDistribution());
  const completed = new Float64Array(intervalCount);
  const lost = new Float64Array(intervalCount);
  for (let row = 0; row < count; row += 1) {
    const due = scheduledNs[row] as number;
    const place = placeOf(due);
    const latency = latencyNs[row] as number;
    if (Number.isNaN(latency)) {
      lost[place] = (lost[place] as number) + 1;
      continue;
    }
    (latencies[place] as ExactDistribution).add(latency);
    const end = placeOf(due + latency);
    completed[end] = (completed[end] as number) + (completedSamples[row] as number);
  }
  const intervals = latencies.map((ofInterval, i) => {
    const toNs = i === intervalCount - 1 ? Math.max(endNs, i * widthNs + 1) : (i + 1) * widthNs;
    const seconds = (toNs - i * widthNs) / 1e9;
    const { p50, p90, p99, max } = latencyFigures(ofInterval);
    return {
      fromNs: i * widthNs,
      toNs,
      ...{ p50Ns: p50, p90Ns: p90, p99Ns: p99, maxNs: max },
      dueRate: (ofInterval.count + (lost[i] as number)) / seconds,
      completedRate: (completed[i] as number) / seconds,
      lost: lost[i] as number,
    };
  });
  return { widthNs, intervals };
}

/** One second where that makes a readable chart; shorter for short runs with enough rows, longer for long ones. */
function widthFor(endNs: number, count: number): number {
  const least = Math.max(endNs / INTERVALS_MAX, Math.min((endNs / count) * ROWS_PER_INTERVAL, 1e9));
  const width =
    WIDTHS_NS.find((candidate) => candidate >= least) ?? Math.ceil(least / 36e11) * 36e11;
  return endNs > 30e9 ? Math.max(width, 1e9) : width;
}
