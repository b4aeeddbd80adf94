import { exponentialNs } from '../../random/distributions.ts';
import type { Mt19937 } from '../../random/mt19937.ts';

/** Forms of `--arrivals`, for help and messages. */
export const ARRIVAL_FORMS =
  'poisson, constant, burst:SIZE[@PERIOD], step:RATE@DURATION[,...][:constant], trace:FILE[@SPEED]';

/** A stretch of time in which queries arrive at one rate, or at one that grows or falls evenly. */
export interface RateStep {
  /** Queries per second at its beginning; 0 in a pause. */
  readonly fromQps: number;
  /** At its end. */
  readonly toQps: number;
  readonly durationNs: number;
}

/** Arrivals of a Server run as requested. */
export type ArrivalsAsked =
  | { readonly kind: 'poisson' }
  | { readonly kind: 'constant' }
  /** `periodNs` null: bursts as often as the target QPS asks for. */
  | { readonly kind: 'burst'; readonly size: number; readonly periodNs: number | null }
  | { readonly kind: 'step'; readonly steps: readonly RateStep[]; readonly isConstant: boolean }
  | { readonly kind: 'trace'; readonly file: string; readonly speed: number };

/** A fixed number of queries outstanding: each completion issues the next query. */
export interface ClosedLoop {
  readonly kind: 'closed-loop';
  readonly concurrency: number;
}

/** Arrivals other than LoadGen's, ready to plan from: a load test, no scenario of MLPerf. */
export type OtherArrivals = {
  /** As they were requested; stands in the logs. */
  readonly text: string;
} & (
  | ClosedLoop
  | Exclude<ArrivalsAsked, { readonly kind: 'poisson' | 'trace' }>
  /** Due times in ns, not falling; the first is 0. */
  | { readonly kind: 'trace'; readonly dueNs: Float64Array }
);

/** Queries of a stretch by expectation. */
export function expectedQueries({ fromQps, toQps, durationNs }: RateStep): number {
  return (((fromQps + toQps) / 2) * durationNs) / 1e9;
}

/** Queries and length of arrivals that end by themselves; undefined: duration and count end the run, as in LoadGen. */
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

/** Mean rate of arrivals in queries per second; undefined: the target QPS decides it. */
export function ownRateOf(arrivals: OtherArrivals): number | undefined {
  if (arrivals.kind === 'burst') {
    return arrivals.periodNs === null ? undefined : (arrivals.size * 1e9) / arrivals.periodNs;
  }
  const end = ownEndOf(arrivals);
  if (end === undefined) return undefined;
  // All at one instant: as if it had taken a second.
  if (end.durationNs === 0) return end.queries;
  // A trace ends with its last query: there is one interval less than there are queries.
  const intervals = arrivals.kind === 'trace' ? end.queries - 1 : end.queries;
  return (intervals * 1e9) / end.durationNs;
}

/** Queries by expectation up to an instant, in ns since the start. */
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
 * By what LoadGen's rates of a Server run, (N - 1) queries in the time up to the last one, are multiplied to be those of the
 * arrivals: of bursts, all of the last one fall on that instant, and none of it is in the time before.
 * @returns 0 where there was one burst: it has no rate.
 */
export function rateFactor(arrivals: OtherArrivals | undefined, queryCount: number): number {
  if (arrivals?.kind !== 'burst' || queryCount < 2) return 1;
  const before = queryCount - 1;
  return (before - (before % arrivals.size)) / before;
}

/** A rate as it is written: `100`, or `10-100` where it changes evenly. */
export function stepRateText({ fromQps, toQps }: RateStep): string {
  return fromQps === toQps ? `${fromQps}` : `${fromQps}-${toQps}`;
}

/** A closed loop of so many queries. */
export function closedLoop(concurrency: number): ClosedLoop & { readonly text: string } {
  return { kind: 'closed-loop', concurrency, text: `closed-loop:${concurrency}` };
}

/** Queries per second that a closed loop is planned for: more than one LoadGen thread issues. */
const CLOSED_LOOP_QPS = 1e5;
/** Queries that a closed loop plans at most: 4 to 17 bytes each, and more once they are issued. */
const CLOSED_LOOP_QUERIES_MAX = 2 ** 24;

/** Rate that the plan of a closed loop is made for; a run ends before its plan does. */
export function closedLoopPlanQps(durationMs: number): number {
  return Math.min(CLOSED_LOOP_QPS, CLOSED_LOOP_QUERIES_MAX / Math.max(1, durationMs / 1e3));
}

/**
 * Due times of a run's queries, in ns since the start and never falling. The first query is due at 0 and is not asked for; each
 * call tells that of the next one, Infinity behind the last.
 * @param targetQps Above 0.
 * @param generator Of the schedule seed, freshly seeded.
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
 * A rate that changes with time. Its integral, the expected number of queries since the start, tells when a query is due:
 * arrivals of rate 1 in that measure are arrivals of the changing rate in time (Poisson arrivals stay Poisson).
 *
 * Asked in rising order only.
 */
export class RateCourse {
  readonly #steps: readonly RateStep[];
  #step = 0;
  #stepStartNs = 0;
  /** Queries expected before the step. */
  #before = 0;

  constructor(steps: readonly RateStep[]) {
    this.#steps = steps;
  }

  /** Time in whole ns at which `queries` are expected to have come; Infinity where there are fewer in all. */
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

/** Solves from * t + (to - from) / (2 * duration) * t^2 = queries, in a form that loses no digits where the rate is even. */
function timeWithin({ fromQps, toQps, durationNs }: RateStep, queries: number): number {
  if (queries <= 0) return 0;
  const slope = (toQps - fromQps) / (durationNs / 1e9);
  // Below 0 by rounding alone, at the very end of a fall to 0.
  const root = Math.sqrt(Math.max(0, fromQps * fromQps + 2 * slope * queries));
  return Math.min(durationNs, ((2 * queries) / (fromQps + root)) * 1e9);
}
