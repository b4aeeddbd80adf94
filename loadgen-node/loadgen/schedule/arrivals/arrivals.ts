/** What may stand in `--arrivals`, for help and messages. */
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

/** What decides when the queries of a Server run are due, as it was asked for. */
export type ArrivalsAsked =
  | { readonly kind: 'poisson' }
  | { readonly kind: 'constant' }
  /** `periodNs` null: bursts as often as the target QPS asks for. */
  | { readonly kind: 'burst'; readonly size: number; readonly periodNs: number | null }
  | { readonly kind: 'step'; readonly steps: readonly RateStep[]; readonly isConstant: boolean }
  | { readonly kind: 'trace'; readonly file: string; readonly speed: number };

/** Arrivals other than LoadGen's, ready to plan from: a load test, no scenario of MLPerf. */
export type OtherArrivals = {
  /** As they were asked for; stands in the logs. */
  readonly text: string;
} & (
  | { readonly kind: 'constant' }
  | { readonly kind: 'burst'; readonly size: number; readonly periodNs: number | null }
  | { readonly kind: 'step'; readonly steps: readonly RateStep[]; readonly isConstant: boolean }
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

/** What logs and reports of such a run say of it. */
export function arrivalsMark({ text }: OtherArrivals): string {
  return `arrivals ${text} are not LoadGen's Poisson: a load test, not a scenario of MLPerf`;
}
