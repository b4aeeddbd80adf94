/**
 * Whether the queue of the SUT grew all through a run, by the latencies alone.
 *
 * A load above what the SUT completes makes each query wait longer than the one before: by load / capacity - 1 seconds per second of the
 * schedule. A run that is short beside its bound can end before that passes the bound. Waiting times follow one another closely: near the
 * limit they walk at random, so that a line through them has a slope by chance, and the scatter about that line says nothing of it. So the
 * mean step between neighbouring blocks is held against the scatter of the steps themselves. A queue that comes back to rest has
 * smaller steps in the long run than that scatter lets expect, which errs on the safe side. A SUT that stood still once makes one large step,
 * and with it a large scatter.
 */

/** Blocks of a run; more would not tell more, and fewer leave the scatter of their steps uncertain. */
const BLOCKS = 20;
/** Fewer queries in a block are no mean. */
const BLOCK_QUERIES_MIN = 4;
/**
 * Means of neighbouring blocks of a random walk share half of their steps: the mean of n such steps scatters by this / n times their
 * variance.
 */
const SHARED_STEPS = 1.5;
/** Growth that is less than this share of the time is within the error of a rate. */
const GROWTH_MAX = 0.01;
/** Standard errors from which a search does not confirm a load: what it refuses by chance, it tries again a little lower. */
const DEVIATIONS_LIKELY = 1.6;
/** Standard errors from which a run is INVALID: 1 in 1,000 by chance, also where the load is just what the SUT completes. */
const DEVIATIONS_SURE = 3.6;
/** A load by this share above what the SUT completes is not to pass without a word ... */
const SHARE_TOLD = 0.05;
/** ... in more than one run of a hundred. */
const DEVIATIONS_TOLD = 2.7;

/** Seconds per second that the latency grew by: the share that the load is above what the SUT completes; negative where it fell. */
interface Growth {
  readonly share: number;
  /** Standard error of the share. */
  readonly error: number;
}

/** @param means Mean latencies of blocks of equal length, in their order, in ns. */
function growthOf(means: readonly number[], blockNs: number): Growth {
  const steps = means.slice(1).map((mean, block) => mean - (means[block] as number));
  const step = steps.reduce((sum, one) => sum + one, 0) / steps.length;
  const variance = steps.reduce((sum, one) => sum + (one - step) ** 2, 0) / (steps.length - 1);
  return {
    share: step / blockNs,
    error: Math.sqrt((SHARED_STEPS * variance) / steps.length) / blockNs,
  };
}

/**
 * How fast the latency grew over a run.
 * @param latenciesNs In the order of the queries.
 * @param scheduledPerSecond Queries per second of the schedule.
 * @returns Null where the run has too few queries.
 */
function queueGrowth(latenciesNs: Float64Array, scheduledPerSecond: number): Growth | null {
  const size = Math.floor(latenciesNs.length / BLOCKS);
  if (size < BLOCK_QUERIES_MIN) return null;
  const means = Array.from({ length: BLOCKS }, (_, block) => {
    const part = latenciesNs.subarray(block * size, (block + 1) * size);
    return part.reduce((sum, latencyNs) => sum + latencyNs, 0) / size;
  });
  return growthOf(means, (size / scheduledPerSecond) * 1e9);
}

/** Latencies that completed in a stretch of a run. */
interface Window {
  readonly sumNs: number;
  readonly count: number;
  readonly lengthNs: number;
}

/** A run while it goes on, in fewer than 80 windows of one length. */
export class GrowthWatch {
  #windows: readonly Window[] = [];
  /** Looks that the last window has, and that each of the others has. */
  #filled = 0;
  #looks = 1;

  /** Takes the queries that completed since the look before. Looks are of about one length. */
  add(look: Window): void {
    const last = this.#windows.at(-1);
    const isOpen = last !== undefined && this.#filled < this.#looks;
    this.#windows = isOpen
      ? [...this.#windows.slice(0, -1), joined(last, look)]
      : [...this.#windows, look];
    this.#filled = isOpen ? this.#filled + 1 : 1;
    if (this.#windows.length < 4 * BLOCKS || this.#filled < this.#looks) return;
    this.#windows = this.#windows.flatMap((first, i, all) =>
      i % 2 === 0 ? [joined(first, all[i + 1] as Window)] : [],
    );
    this.#looks *= 2;
    this.#filled = this.#looks;
  }

  /** Share by which the load is surely above what the SUT completes; null where that is not seen. */
  sureGrowth(): number | null {
    const blocks = this.#windows.filter(({ count }) => count >= BLOCK_QUERIES_MIN);
    if (blocks.length < BLOCKS) return null;
    const lengthNs = blocks.reduce((sum, one) => sum + one.lengthNs, 0) / blocks.length;
    const growth = growthOf(
      blocks.map(({ sumNs, count }) => sumNs / count),
      lengthNs,
    );
    return isAbove(growth, DEVIATIONS_SURE) ? growth.share : null;
  }
}

/**
 * Share by which the load seems to be above what the SUT completes: enough for a search to go lower. Null where that is not seen.
 * @param scheduledPerSecond Null: there was no schedule.
 */
export function likelyGrowth(
  latenciesNs: Float64Array,
  scheduledPerSecond: number | null,
): number | null {
  if (scheduledPerSecond === null) return null;
  const growth = queueGrowth(latenciesNs, scheduledPerSecond);
  return growth !== null && isAbove(growth, DEVIATIONS_LIKELY) ? growth.share : null;
}

function isAbove({ share, error }: Growth, deviations: number): boolean {
  return share > GROWTH_MAX && share >= deviations * error;
}

function joined(first: Window, next: Window): Window {
  return {
    sumNs: first.sumNs + next.sumNs,
    count: first.count + next.count,
    lengthNs: first.lengthNs + next.lengthNs,
  };
}

/** Whether a SUT kept up with the load of a run. */
export interface KeepingUp {
  /** `grew`: surely not. `unknown`: the run is too short to tell. */
  readonly state: 'kept' | 'grew' | 'unknown';
  /** Share by which the load seems to be above what the SUT completes; null: too few queries. */
  readonly share: number | null;
  /** Queries of a run of the same kind that tell; null: too few to say, or it is known. */
  readonly queriesToTell: number | null;
}

/**
 * Judges whether the SUT kept up with a load of one rate. Of SUTs with one server that get 5 % more than they complete (M/D/1, M/M/1), at most one
 * run in a hundred is `kept`, whatever its length; from 20,000 (M/D/1) and 40,000 (M/M/1) queries on, 99 of 100 are `grew`. Of loads
 * of 95 % fewer than 1 in 1,000 are `grew`, of just what the SUT completes 4 in 1,000.
 * @param latenciesNs In the order of the queries.
 * @param scheduledNs When the last of them was due, since the start.
 */
export function keepingUp(latenciesNs: Float64Array, scheduledNs: number): KeepingUp {
  const most = latenciesNs.reduce((max, latencyNs) => Math.max(max, latencyNs), 0);
  const growth = queueGrowth(latenciesNs, latenciesNs.length / (scheduledNs / 1e9));
  const share = growth?.share ?? null;
  // All that waited in the end is a hundredth of the run at most.
  if (most <= GROWTH_MAX * scheduledNs) return { state: 'kept', share, queriesToTell: null };
  if (growth === null) return { state: 'unknown', share, queriesToTell: null };
  if (isAbove(growth, DEVIATIONS_SURE)) return { state: 'grew', share, queriesToTell: null };
  const margin = DEVIATIONS_TOLD * growth.error;
  if (growth.share + margin <= SHARE_TOLD) return { state: 'kept', share, queriesToTell: null };
  // The error falls with the square root of their number.
  const queriesToTell = Math.ceil(latenciesNs.length * (margin / SHARE_TOLD) ** 2);
  return { state: 'unknown', share, queriesToTell };
}
