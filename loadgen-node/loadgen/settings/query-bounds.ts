import type { TestSettings } from './test-settings.ts';

/**
 * Times of a query that may have a bound: the whole latency, or for a token model time to first
 * token and time per output token.
 */
export const BOUND_NAMES = ['latency', 'ttft', 'tpot'] as const;
export type BoundName = (typeof BOUND_NAMES)[number];

/**
 * Times of one sample in ns, NaN if it has none; {@link keepsBounds} defines which values are
 * invalid.
 */
export type BoundedTimes = Readonly<Record<BoundName, number>>;

/** A bound in ns on a time of every query, and the share of queries that must keep it (0 to 1). */
export interface QueryBound {
  readonly name: BoundName;
  readonly ns: number;
  readonly percentile: number;
}

/** Bounds that hold together: one on latency, or two on tokens. */
export interface BoundTimes {
  /** Bound on the latency; for a token model, on the time to first token. */
  readonly boundNs: number;
  /** Bound on the time per output token; absent without a token model. */
  readonly tpotNs?: number | undefined;
  /** Percentile of each bound, 0 to 1. */
  readonly percentile: number;
}

/** The bounds of Server by name; for a token model, first token first. */
export function namedBounds({ boundNs, tpotNs, percentile }: BoundTimes): readonly QueryBound[] {
  const one = (name: BoundName, ns: number): QueryBound => ({ name, ns, percentile });
  return tpotNs === undefined
    ? [one('latency', boundNs)]
    : [one('ttft', boundNs), one('tpot', tpotNs)];
}

/** Server's bounds in LoadGen's settings. */
export function boundsOfServer(settings: TestSettings): BoundTimes {
  const { useTokenLatencies: isOfTokens, serverTargetLatencyPercentile: percentile } = settings;
  const boundNs = isOfTokens ? settings.serverTtftLatencyNs : settings.serverTargetLatencyNs;
  return { boundNs, tpotNs: isOfTokens ? settings.serverTpotLatencyNs : undefined, percentile };
}

/** The bound on a time in ns; null if there is none. */
export function boundNsOn(name: BoundName, bounds: readonly QueryBound[]): number | null {
  return bounds.find((bound) => bound.name === name)?.ns ?? null;
}

/**
 * Smallest valid times: LoadGen sets a missing first token to 0, and the time per token is negative
 * below 2 tokens.
 */
const LEAST_NS: BoundedTimes = { latency: -Infinity, ttft: Number.MIN_VALUE, tpot: 0 };

/** True if a sample has every bounded time and exceeds no bound, by LoadGen's comparison. */
export function keepsBounds(bounds: readonly QueryBound[], times: BoundedTimes): boolean {
  return bounds.every(({ name, ns }) => times[name] >= LEAST_NS[name] && times[name] <= ns);
}
