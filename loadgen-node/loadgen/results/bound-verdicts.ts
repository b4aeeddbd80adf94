import { formatBeside, formatExactNs } from '../../../shared/base/text.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { Lane } from '../settings/lanes.ts';
import type { BoundName, QueryBound } from '../settings/query-bounds.ts';
import { countAbove, percentileOf } from './latency-statistics.ts';
import { ALWAYS_MET, type ValidityItem } from './measurements.ts';

/** Whether the samples of a lane keep one of its bounds. */
export interface BoundVerdict extends QueryBound {
  /** Name of the lane. */
  readonly lane: string;
  /** The time at the bound's percentile, in ns. */
  readonly valueNs: number;
  /** Completed samples above the bound. */
  readonly aboveCount: number;
  readonly isMet: boolean;
}

/** Times of completed samples in ns, sorted; empty where they are not measured. */
export type SortedTimes = Readonly<Record<BoundName, Float64Array>>;

/** Verdicts on the bounds of a lane, by LoadGen's comparison. */
export function judgeBounds(
  { name: lane, bounds }: Pick<Lane, 'name' | 'bounds'>,
  times: SortedTimes,
): BoundVerdict[] {
  return bounds.map((bound) => {
    const valueNs = percentileOf(times[bound.name], bound.percentile);
    const aboveCount = countAbove(times[bound.name], bound.ns);
    return { lane, ...bound, valueNs, aboveCount, isMet: valueNs <= bound.ns };
  });
}

/** Behind the percentile. */
const NEEDED: Readonly<Record<BoundName, (ns: string) => string>> = {
  latency: (ns) => `latency of ${ns} or less`,
  ttft: (ns) => `of ${ns} or less to the first token`,
  tpot: (ns) => `${ns} or less per output token`,
};

/** LoadGen's rule on the bounds of Server, in its words; always met where there are none. */
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
    seen: verdicts.map(({ valueNs, ns }) => formatBeside(valueNs, ns)).join(' and '),
    recommendation: advice.join('\n * '),
  };
}
