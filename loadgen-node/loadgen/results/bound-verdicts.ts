import { formatBeside, formatExactNs } from '../../../shared/base/text.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { Lane } from '../settings/lanes.ts';
import type { BoundName, QueryBound } from '../settings/query-bounds.ts';
import { countAbove, percentileOf } from './latency-statistics.ts';
import { ALWAYS_MET, type LaneTimes, type ValidityItem } from './measurements.ts';

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

/** Verdicts on bounds of all samples, by LoadGen's comparison: a time that no sample has is 0, and keeps every bound. */
export function judgeBounds(bounds: readonly QueryBound[], times: SortedTimes): BoundVerdict[] {
  return bounds.map((bound) => {
    const sorted = times[bound.name];
    const valueNs = percentileOf(sorted, bound.percentile);
    const [leastNs = Number.NaN] = sorted;
    const aboveCount = countAbove(sorted, bound.ns);
    return { lane: null, ...bound, valueNs, leastNs, aboveCount, isMet: valueNs <= bound.ns };
  });
}

/** What became of the samples of a lane. */
export interface LaneResult {
  readonly name: string;
  readonly completedSamples: number;
  /** Those of them that are above one of its bounds. */
  readonly lateSamples: number;
  readonly bounds: readonly BoundVerdict[];
}

/**
 * Verdicts on the bounds of a lane; without completed samples none is met.
 * @param all Times of all samples, which are its own where it is the only lane.
 * @param own Its own; undefined: it is the only one.
 * @param good Samples that keep both bounds on tokens; undefined: it has no such bounds.
 */
export function judgeLane(
  { name, bounds }: Lane,
  all: SortedTimes,
  own: LaneTimes | undefined,
  good: number | undefined,
): LaneResult {
  const lane = own === undefined ? null : name;
  const times = own === undefined ? all : sorted(own);
  const completedSamples = times.latency.length;
  const none = completedSamples === 0 && { valueNs: Number.NaN, isMet: false };
  const verdicts = judgeBounds(bounds, times).map((one) => ({ ...one, lane, ...none }));
  const late = good === undefined ? verdicts[0]?.aboveCount : completedSamples - good;
  return { name, completedSamples, lateSamples: late ?? 0, bounds: verdicts };
}

function sorted({ latency, ttft, tpot }: LaneTimes): SortedTimes {
  return {
    latency: latency.slice().sort(),
    ttft: ttft.slice().sort(),
    tpot: tpot.slice().sort(),
  };
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
