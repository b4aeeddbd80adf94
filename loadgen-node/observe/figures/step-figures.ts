import { percentileOf } from '../../loadgen/results/latency-statistics.ts';
import {
  expectedQueries,
  type RateStep,
  rateText,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { SampleRecords } from '../records/sample-records.ts';

/** Share of what was due in a step that must be completed in it for the SUT to have kept up. */
const KEPT_UP_SHARE = 0.95;

/** What one step of a run's arrivals came to. Figures that nothing was seen of are null. */
export interface StepFigures {
  /** Queries per second as they were asked for: `100`, or `10-100`. */
  readonly rate: string;
  readonly fromNs: number;
  readonly toNs: number;
  /** Queries per second that the step asks for on average. */
  readonly offeredQps: number;
  /** Queries that were due in it and issued, and how many that is per second. */
  readonly dueQueries: number;
  readonly dueQps: number;
  /** Samples completed while it lasted, whenever they were due, per second. */
  readonly completedQps: number;
  /** Latency of the queries that were due in it. */
  readonly p50Ns: number | null;
  readonly p99Ns: number | null;
  readonly maxNs: number | null;
  /** p99 of issued - scheduled of those queries: LoadGen's own lateness. */
  readonly lagP99Ns: number | null;
  /** Queries that were due in it and never completed. */
  readonly lost: number;
  /** True: nothing was lost, and at least 95 % of what was due was completed while the step lasted; null: nothing was due. */
  readonly isKeptUp: boolean | null;
}

/** Figures of each step by the records of its queries (Server: one sample each). */
export function stepFigures(records: SampleRecords, steps: readonly RateStep[]): StepFigures[] {
  const { rowCount, scheduledNs, issuedNs, completedNs } = records;
  const ends = endsOf(steps);
  const latencies = steps.map((): number[] => []);
  const lags = steps.map((): number[] => []);
  const completed = new Float64Array(steps.length);
  for (let row = 0; row < rowCount; row += 1) {
    const scheduled = scheduledNs[row] as number;
    const done = completedNs[row] as number;
    const step = stepAt(ends, scheduled);
    lags[step]?.push((issuedNs[row] as number) - scheduled);
    if (Number.isNaN(done)) continue;
    latencies[step]?.push(done - scheduled);
    // What comes after the last step was completed in none.
    const end = stepAt(ends, done);
    if (done <= (ends.at(-1) as number)) completed[end] = (completed[end] as number) + 1;
  }
  return steps.map((step, i) => {
    const seconds = step.durationNs / 1e9;
    const sorted = Float64Array.from(latencies[i] ?? []).sort();
    const sortedLags = Float64Array.from(lags[i] ?? []).sort();
    const dueQueries = sortedLags.length;
    const lost = dueQueries - sorted.length;
    return {
      rate: rateText(step),
      fromNs: i === 0 ? 0 : (ends[i - 1] as number),
      toNs: ends[i] as number,
      offeredQps: expectedQueries(step) / seconds,
      dueQueries,
      dueQps: dueQueries / seconds,
      completedQps: (completed[i] as number) / seconds,
      p50Ns: percentileIn(sorted, 0.5),
      p99Ns: percentileIn(sorted, 0.99),
      maxNs: sorted.at(-1) ?? null,
      lagP99Ns: percentileIn(sortedLags, 0.99),
      lost,
      isKeptUp:
        dueQueries === 0
          ? null
          : lost === 0 && (completed[i] as number) >= KEPT_UP_SHARE * dueQueries,
    };
  });
}

function percentileIn(sortedNs: Float64Array, percentile: number): number | null {
  return sortedNs.length === 0 ? null : percentileOf(sortedNs, percentile);
}

/** When each step ends, in ns since the start. */
function endsOf(steps: readonly RateStep[]): number[] {
  let atNs = 0;
  return steps.map(({ durationNs }) => {
    atNs += durationNs;
    return atNs;
  });
}

/** Number of the step that an instant is in; behind the last it is the last. */
function stepAt(ends: readonly number[], ns: number): number {
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ns < (ends[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}
