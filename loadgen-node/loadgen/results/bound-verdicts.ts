import { formatBeside, formatExactNs } from '../../../shared/base/text.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { Lane } from '../settings/lanes.ts';
import type { BoundName, QueryBound } from '../settings/query-bounds.ts';
import { countAbove, percentileOf } from './latency-statistics.ts';
import { ALWAYS_MET, type LaneTimes, type ValidityItem } from './measurements.ts';

/** Verdict on one bound of a lane. */
export interface BoundVerdict extends QueryBound {
  /** Name of the lane; null if there is only one. */
  readonly lane: string | null;
  /** Time at the bound's percentile, in ns; NaN if no sample completed. */
  readonly valueNs: number;
  /** Shortest time, in ns; NaN if no sample completed. */
  readonly leastNs: number;
  /** Completed samples above the bound. */
  readonly aboveCount: number;
  readonly isMet: boolean;
}

/** Sorted times of completed samples in ns; empty if not measured. */
export type SortedTimes = Readonly<Record<BoundName, Float64Array>>;

/**
 * Verdicts on bounds over all samples, by LoadGen's comparison: without samples the time is 0, and
 * keeps every bound.
 */
export function judgeBounds(bounds: readonly QueryBound[], times: SortedTimes): BoundVerdict[] {
  return bounds.map((bound) => {
    const sorted = times[bound.name];
    const valueNs = percentileOf(sorted, bound.percentile);
    const [leastNs = Number.NaN] = sorted;
    const aboveCount = countAbove(sorted, bound.ns);
    return { lane: null, ...bound, valueNs, leastNs, aboveCount, isMet: valueNs <= bound.ns };
  });
}

/** Results of a lane's samples. */
export interface LaneResult {
  readonly name: string;
  readonly completedSamples: number;
  /** Completed samples above one of the lane's bounds. */
  readonly lateSamples: number;
  readonly bounds: readonly BoundVerdict[];
}

/**
 * Verdicts on the bounds of a lane; without completed samples none is met.
 * @param all Times of all samples; the lane's own if it is the only one.
 * @param own The lane's own times; undefined if it is the only one.
 * @param good Samples that keep both token bounds; undefined without such bounds.
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

/** Text after the percentile, by bound. */
const NEEDED: Readonly<Record<BoundName, (ns: string) => string>> = {
  latency: (ns) => `latency of ${ns} or less`,
  ttft: (ns) => `of ${ns} or less to the first token`,
  tpot: (ns) => `${ns} or less per output token`,
};

/** LoadGen's rule that all bounds hold, in its words; always met without bounds. */
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
