import { formatBeside, formatExactNs } from '../../../shared/base/text.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { BoundName, QueryBound } from '../settings/query-bounds.ts';
import { countAbove, percentileOf } from './latency-statistics.ts';
import { ALWAYS_MET, type ValidityItem } from './measurements.ts';

/** Whether the samples of a lane keep one of its bounds. */
export interface BoundVerdict extends QueryBound {
  /** Name of the lane; null where there is one. */
  readonly lane: string | null;
  /** The time at the bound's percentile, in ns; NaN where no sample completed. */
  readonly valueNs: number;
  /** The shortest time, as above. */
  readonly leastNs: number;
  /** Completed samples above the bound. */
  readonly aboveCount: number;
  readonly isMet: boolean;
}

/** Times of completed samples in ns, sorted; empty where they are not measured. */
export type SortedTimes = Readonly<Record<BoundName, Float64Array>>;

/** Verdicts on bounds, by LoadGen's comparison; without completed samples none is met. */
export function judgeBounds(
  lane: string | null,
  bounds: readonly QueryBound[],
  times: SortedTimes,
): BoundVerdict[] {
  return bounds.map((bound) => {
    const sorted = times[bound.name];
    const valueNs = sorted.length === 0 ? Number.NaN : percentileOf(sorted, bound.percentile);
    const aboveCount = countAbove(sorted, bound.ns);
    const leastNs = sorted[0] ?? Number.NaN;
    return { lane, ...bound, valueNs, leastNs, aboveCount, isMet: valueNs <= bound.ns };
  });
}

/** LoadGen's rule on the bounds of its settings. A time that no sample has is 0 there, and keeps every bound. */
export function loadgenRule(bounds: readonly QueryBound[], times: SortedTimes): ValidityItem {
  return performanceRule(
    judgeBounds(null, bounds, times).map((one) =>
      Number.isNaN(one.valueNs) ? { ...one, valueNs: 0, isMet: true } : one,
    ),
  );
}

/** Behind the percentile. */
const NEEDED: Readonly<Record<BoundName, (ns: string) => string>> = {
  latency: (ns) => `latency of ${ns} or less`,
  ttft: (ns) => `of ${ns} or less to the first token`,
  tpot: (ns) => `${ns} or less per output token`,
};

/** The rule on bounds that hold together, in LoadGen's words; always met where there are none. */
export function performanceRule(verdicts: readonly BoundVerdict[]): ValidityItem {
  const [first] = verdicts;
  if (first === undefined) return ALWAYS_MET;
  const needed = verdicts.map(({ name, ns }) => NEEDED[name](formatExactNs(ns))).join(' and ');
  const advice = verdicts
    .filter(({ isMet }) => !isMet)
    .map(({ name }) => `${name === 'latency' ? '' : `${name.toUpperCase()} constrain not met: `}`)
    .map((what) => `${what}Reduce target QPS to improve latency.`);
  return {
    isMet: advice.length === 0,
    needed: `${percentileLabel(first.percentile, 2)}th percentile ${needed}`,
    seen: verdicts.map(seenText).join(' and '),
    recommendation: advice.join('\n * '),
  };
}

function seenText({ valueNs, ns }: BoundVerdict): string {
  return Number.isNaN(valueNs) ? 'none completed' : formatBeside(valueNs, ns);
}
