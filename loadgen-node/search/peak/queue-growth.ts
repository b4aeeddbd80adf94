import type { LoadSearch } from './peak-search.ts';

/**
 * Whether the queue grew all through a run.
 *
 * A load above what the SUT completes makes each query wait longer than the one before: by load / capacity - 1 seconds per second of the
 * schedule. A run that is short beside its bound can end before that passes the bound. So the slope of the latency over the run is
 * tested. Latencies of a queue follow one another closely, and the regression error of single queries would be far too small: the
 * slope is fitted through the means of blocks, with the error that the blocks leave.
 */

/** Blocks of a run; more would follow one another too closely. */
const BLOCKS = 10;
/** Fewer queries in a block are no mean. */
const BLOCK_QUERIES_MIN = 4;
/**
 * A load that is further than this above what the SUT completes is not confirmed. Less is within
 * the error of a peak.
 */
const GROWTH_MAX = 0.01;
/**
 * Standard errors of the slope that it has to be above 0: 1 % one-sided with 8 degrees of freedom
 * is 2.9.
 */
const DEVIATIONS_MIN = 3;
/**
 * Bounds that a full run lasts at least. A queue that starts empty and gets a share more than is completed passes the bound after bound /
 * share: a load that is 2 % too high ends such a run above the bound, whatever the slope says.
 */
export const RUN_BOUNDS_MIN = 50;
/**
 * Bounds that the screenings together last at least: the steps of the bracket, of 10 bounds each,
 * and two that are as long as a full run.
 */
const SCREENING_BOUNDS_MIN = 200;

/**
 * The search with full runs and screenings that are long enough for its bound, or another pace. In fixed intervals
 * the bound is short: no change.
 */
export function longEnough(search: LoadSearch, paceNs = search.boundNs): LoadSearch {
  const { kind, screeningNsMax, full } = search;
  if (kind !== 'rate') return search;
  return {
    ...search,
    screeningNsMax: Math.max(screeningNsMax, SCREENING_BOUNDS_MIN * paceNs),
    full: { ...full, minDurationNs: Math.max(full.minDurationNs, RUN_BOUNDS_MIN * paceNs) },
  };
}

/**
 * Fits the slope of the latency over a run.
 * @param latenciesNs In the order of the queries.
 * @param scheduledPerSecond Queries per second of the schedule.
 * @returns Undefined where the run has too few queries.
 */
export function queueGrowth(latenciesNs: Float64Array, scheduledPerSecond: number) {
  const size = Math.floor(latenciesNs.length / BLOCKS);
  if (size < BLOCK_QUERIES_MIN) return undefined;
  const means = Array.from({ length: BLOCKS }, (_, block) => {
    const part = latenciesNs.subarray(block * size, (block + 1) * size);
    return part.reduce((sum, latencyNs) => sum + latencyNs, 0) / size;
  });
  const middle = (BLOCKS - 1) / 2;
  const mean = means.reduce((sum, one) => sum + one, 0) / BLOCKS;
  const squares = means.reduce((sum, _, block) => sum + (block - middle) ** 2, 0);
  const slope = means.reduce((sum, one, block) => sum + (block - middle) * one, 0) / squares;
  const rest = means.reduce(
    (sum, one, block) => sum + (one - mean - slope * (block - middle)) ** 2,
    0,
  );
  const error = Math.sqrt(rest / (BLOCKS - 2) / squares);
  const blockNs = (size / scheduledPerSecond) * 1e9;
  return {
    /**
     * Slope of the latency, in seconds per second: the share that the load is above what the SUT
     * completes. Negative where it falls.
     */
    share: slope / blockNs,
    /** The slope as a multiple of its standard error. */
    deviations: slope === 0 ? 0 : slope / Math.max(error, Number.MIN_VALUE),
  };
}

/** True where the load was surely more than 1 % above what the SUT completes. */
export function growsAllThrough({
  share,
  deviations,
}: NonNullable<ReturnType<typeof queueGrowth>>): boolean {
  return share > GROWTH_MAX && deviations >= DEVIATIONS_MIN;
}
