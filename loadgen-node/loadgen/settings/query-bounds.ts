import type { TestSettings } from './test-settings.ts';

/** Times of a query that may be bounded: the whole latency, or of a token model the first token and each one after it. */
export const BOUND_NAMES = ['latency', 'ttft', 'tpot'] as const;
export type BoundName = (typeof BOUND_NAMES)[number];

/** Times of one sample in ns, NaN where it has none; {@link keepsBounds} says which ones are no times. */
export type BoundedTimes = Readonly<Record<BoundName, number>>;

/** A bound on a time of every query, in ns, which so large a share of them has to keep (0 to 1). */
export interface QueryBound {
  readonly name: BoundName;
  readonly ns: number;
  readonly percentile: number;
}

/** Bounds that hold together: one on the latency, or two on tokens. */
export interface BoundTimes {
  /** On the latency; of a token model on the time to the first token. */
  readonly boundNs: number;
  /** On the time per output token; absent: no token model. */
  readonly tpotNs?: number | undefined;
  /** 0 to 1: of each bound. */
  readonly percentile: number;
}

/** The bounds of Server by their names; of a token model that on the first token comes first. */
export function namedBounds({ boundNs, tpotNs, percentile }: BoundTimes): readonly QueryBound[] {
  const one = (name: BoundName, ns: number): QueryBound => ({ name, ns, percentile });
  return tpotNs === undefined
    ? [one('latency', boundNs)]
    : [one('ttft', boundNs), one('tpot', tpotNs)];
}

/** Bounds that Server holds its queries to, by LoadGen's settings. */
export function boundsOfServer(settings: TestSettings): BoundTimes {
  const { useTokenLatencies: isOfTokens, serverTargetLatencyPercentile: percentile } = settings;
  const boundNs = isOfTokens ? settings.serverTtftLatencyNs : settings.serverTargetLatencyNs;
  return { boundNs, tpotNs: isOfTokens ? settings.serverTpotLatencyNs : undefined, percentile };
}

/** The bound on a time in ns; null where there is none. */
export function boundNsOn(name: BoundName, bounds: readonly QueryBound[]): number | null {
  return bounds.find((bound) => bound.name === name)?.ns ?? null;
}

/** LoadGen takes a first token that did not come as 0, and the time per token is negative below 2 tokens. */
const LEAST_NS: BoundedTimes = { latency: -Infinity, ttft: Number.MIN_VALUE, tpot: 0 };

/** True where a sample has every time that is bounded, and is above no bound, which is LoadGen's comparison. */
export function keepsBounds(bounds: readonly QueryBound[], times: BoundedTimes): boolean {
  return bounds.every(({ name, ns }) => times[name] >= LEAST_NS[name] && times[name] <= ns);
}
