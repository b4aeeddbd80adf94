import { exponentialNs } from '../../random/distributions.ts';
import type { Mt19937 } from '../../random/mt19937.ts';

/** Forms of `--arrivals`, for help texts and messages. */
export const ARRIVAL_FORMS =
  'poisson, constant, burst:SIZE[@PERIOD], step:RATE@DURATION[,...][:constant], trace:FILE[@SPEED]';

/** A period with a constant, or linearly changing, arrival rate. */
export interface RateStep {
  /** Queries per second at the start; 0 in a pause. */
  readonly fromQps: number;
  /** Queries per second at the end. */
  readonly toQps: number;
  readonly durationNs: number;
}

/** Arrivals of a Server run as requested. */
export type ArrivalsAsked =
  | { readonly kind: 'poisson' }
  | { readonly kind: 'constant' }
  /** `periodNs` null: the target QPS sets the period of bursts. */
  | { readonly kind: 'burst'; readonly size: number; readonly periodNs: number | null }
  | { readonly kind: 'step'; readonly steps: readonly RateStep[]; readonly isConstant: boolean }
  | { readonly kind: 'trace'; readonly file: string; readonly speed: number };

/** A fixed number of outstanding queries: each completion issues the next query. */
export interface ClosedLoop {
  readonly kind: 'closed-loop';
  readonly concurrency: number;
}

/** Arrivals other than LoadGen's, ready to plan: a load test, not an MLPerf scenario. */
export type OtherArrivals = {
  /** The requested text, for the logs. */
  readonly text: string;
} & (
  | ClosedLoop
  | Exclude<ArrivalsAsked, { readonly kind: 'poisson' | 'trace' }>
  /** Due times in ns, not decreasing; the first is 0. */
  | { readonly kind: 'trace'; readonly dueNs: Float64Array }
);

/** Expected number of queries of a step. */
export function expectedQueries({ fromQps, toQps, durationNs }: RateStep): number {
  return (((fromQps + toQps) / 2) * durationNs) / 1e9;
}

/**
 * Queries and duration of arrivals that end by themselves; undefined: duration and count end the
 * run, as in LoadGen.
 */
export function ownEndOf(
  arrivals: OtherArrivals,
): { readonly queries: number; readonly durationNs: number } | undefined {
  if (arrivals.kind === 'trace') {
    const { dueNs } = arrivals;
    return { queries: dueNs.length, durationNs: dueNs.at(-1) ?? 0 };
  }
  if (arrivals.kind !== 'step') return undefined;
  let queries = 0;
  let durationNs = 0;
  for (const step of arrivals.steps) {
    queries += expectedQueries(step);
    durationNs += step.durationNs;
  }
  return { queries, durationNs };
}

/** Mean rate of arrivals in queries per second; undefined if the target QPS sets it. */
export function ownRateOf(arrivals: OtherArrivals): number | undefined {
  if (arrivals.kind === 'burst') {
    return arrivals.periodNs === null ? undefined : (arrivals.size * 1e9) / arrivals.periodNs;
  }
  const end = ownEndOf(arrivals);
  if (end === undefined) return undefined;
  // All at one time: counted as if it took a second.
  if (end.durationNs === 0) return end.queries;
  // A trace ends with its last query, so it has one interval less than queries.
  const intervals = arrivals.kind === 'trace' ? end.queries - 1 : end.queries;
  return (intervals * 1e9) / end.durationNs;
}

/** Expected number of queries by a time in ns since the start. */
export function expectedUntil(steps: readonly RateStep[], ns: number): number {
  let leftNs = ns;
  let queries = 0;
  for (const step of steps) {
    const durationNs = Math.min(leftNs, step.durationNs);
    const slope = (step.toQps - step.fromQps) / step.durationNs;
    queries += expectedQueries({ ...step, toQps: step.fromQps + slope * durationNs, durationNs });
    leftNs -= durationNs;
  }
  return queries;
}

/**
 * Factor from LoadGen's Server rates, (N - 1) queries / time of the last one, to the rate of the
 * arrivals: all queries of the last burst are due at that time, so none of them count.
 * @returns 0 for a single burst, which has no rate.
 */
export function rateFactor(arrivals: OtherArrivals | undefined, queryCount: number): number {
  if (arrivals?.kind !== 'burst' || queryCount < 2) return 1;
  const before = queryCount - 1;
  return (before - (before % arrivals.size)) / before;
}

/** Rate of a step as written: `100`, or `10-100` if it changes linearly. */
export function stepRateText({ fromQps, toQps }: RateStep): string {
  return fromQps === toQps ? `${fromQps}` : `${fromQps}-${toQps}`;
}

/** A closed loop with `concurrency` outstanding queries. */
export function closedLoop(concurrency: number): ClosedLoop & { readonly text: string } {
  return { kind: 'closed-loop', concurrency, text: `closed-loop:${concurrency}` };
}

/** Queries per second planned for a closed loop: more than one LoadGen thread can issue. */
const CLOSED_LOOP_QPS = 1e5;
/** Most queries planned for a closed loop: 4 to 17 bytes each, and more once issued. */
const CLOSED_LOOP_QUERIES_MAX = 2 ** 24;

/** Rate for planning a closed loop; the run ends before its plan does. */
export function closedLoopPlanQps(durationMs: number): number {
  return Math.min(CLOSED_LOOP_QPS, CLOSED_LOOP_QUERIES_MAX / Math.max(1, durationMs / 1e3));
}

/**
 * Due times of a run's queries, in ns since the start, not decreasing. The first query is due at 0
 * and is not included; each call returns the next due time, Infinity after the last.
 * @param targetQps Above 0.
 * @param generator Freshly seeded with the schedule seed.
 */
export function arrivalTimes(
  arrivals: Exclude<OtherArrivals, ClosedLoop>,
  targetQps: number,
  generator: Mt19937,
): () => number {
  let query = 0;
  switch (arrivals.kind) {
    case 'constant':
      return () => {
        query += 1;
        return Math.round((query * 1e9) / targetQps);
      };
    case 'burst': {
      const { size, periodNs } = arrivals;
      return () => {
        query += 1;
        const burst = Math.floor(query / size);
        return periodNs === null ? Math.round((burst * size * 1e9) / targetQps) : burst * periodNs;
      };
    }
    case 'step': {
      const course = new RateCourse(arrivals.steps);
      let expected = 0;
      return () => {
        expected += arrivals.isConstant ? 1 : exponentialNs(generator, 1) / 1e9;
        return course.timeOf(expected);
      };
    }
    case 'trace':
      return () => {
        query += 1;
        return arrivals.dueNs[query] ?? Number.POSITIVE_INFINITY;
      };
  }
}

/**
 * A rate that changes with time. Its integral, the expected number of queries since the start, maps
 * arrivals of rate 1 to arrivals of the changing rate (Poisson arrivals stay Poisson).
 *
 * Call in rising order only.
 */
export class RateCourse {
  readonly #steps: readonly RateStep[];
  #step = 0;
  #stepStartNs = 0;
  /** Queries expected before the current step. */
  #before = 0;

  constructor(steps: readonly RateStep[]) {
    this.#steps = steps;
  }

  /**
   * Time in whole ns at which `queries` queries are expected; Infinity if there are fewer in total.
   */
  timeOf(queries: number): number {
    for (let step = this.#steps[this.#step]; step !== undefined; step = this.#steps[this.#step]) {
      const ofStep = expectedQueries(step);
      if (queries < this.#before + ofStep) {
        return this.#stepStartNs + Math.round(timeWithin(step, queries - this.#before));
      }
      this.#before += ofStep;
      this.#stepStartNs += step.durationNs;
      this.#step += 1;
    }
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Solves from * t + (to - from) / (2 * duration) * t^2 = queries for t, in a form that loses no
 * digits at a constant rate.
 */
function timeWithin({ fromQps, toQps, durationNs }: RateStep, queries: number): number {
  if (queries <= 0) return 0;
  const slope = (toQps - fromQps) / (durationNs / 1e9);
  // Below 0 only by rounding, at the very end of a fall to 0.
  const root = Math.sqrt(Math.max(0, fromQps * fromQps + 2 * slope * queries));
  return Math.min(durationNs, ((2 * queries) / (fromQps + root)) * 1e9);
}
