import type { TestSettings } from '../settings/test-settings.ts';

/** Times of a query that may be bounded: the whole latency, or of a token model the first token and each one after it. */
export const BOUND_NAMES = ['latency', 'ttft', 'tpot'] as const;
export type BoundName = (typeof BOUND_NAMES)[number];

/** A bound on a time of every query, in ns. */
export interface QueryBound {
  readonly name: BoundName;
  readonly ns: number;
}

/** Bounds that hold together: one on the latency, or two on tokens. */
export interface BoundTimes {
  /** On the latency; of a token model on the time to the first token. */
  readonly boundNs: number;
  /** On the time per output token; absent: no token model. */
  readonly tpotNs?: number | undefined;
}

/** The bounds of Server by their names; of a token model that on the first token comes first. */
export function namedBounds({ boundNs, tpotNs }: BoundTimes): readonly QueryBound[] {
  if (tpotNs === undefined) return [{ name: 'latency', ns: boundNs }];
  return [
    { name: 'ttft', ns: boundNs },
    { name: 'tpot', ns: tpotNs },
  ];
}

/** Bounds that Server holds its queries to, by LoadGen's settings. */
export function boundsOfServer(settings: TestSettings): BoundTimes {
  return settings.useTokenLatencies
    ? { boundNs: settings.serverTtftLatencyNs, tpotNs: settings.serverTpotLatencyNs }
    : { boundNs: settings.serverTargetLatencyNs };
}
