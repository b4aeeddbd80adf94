/**
 * Whether what waits at the SUT grew all through a run.
 *
 * A load above what the SUT completes leaves more and more queries waiting: by load / capacity - 1 seconds of the schedule per second. A run that is
 * short beside its bound can end before any of them passes the bound. Near the limit the number that waits walks at random, so that a line through it
 * has a slope by chance, and the scatter about that line says nothing of it. So the mean step between neighbouring blocks is held against the scatter of the
 * steps themselves. A queue that comes back to rest has smaller steps in the long run than that scatter lets expect, which errs on the safe
 * side. A SUT that stood still once makes one large step, and with it a large scatter.
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
/**
 * Until a typical answer has come, what waits grows whatever the SUT can do. A run whose typical answer takes longer than this
 * share of it is judged by latencies alone, which tell of a SUT that answers in order.
 */
const FILLING_SHARE_MAX = 0.75;
/** A run that would have to be this many times longer to tell is of another kind than these queues. */
const LONGER_MAX = 20;

/** Growth in seconds per second: the share that the load is above what the SUT completes; negative where less and less waits. */
interface Growth {
  readonly share: number;
  /** Standard error of the share. */
  readonly error: number;
}

/** @param means Means of blocks of equal length, in their order, in ns. */
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
 * How fast times grew over a run.
 * @param timesNs In the order of the queries.
 * @param perSecond Queries per second.
 * @returns Null where the run has too few queries.
 */
function growthOfTimes(timesNs: Float64Array, perSecond: number): Growth | null {
  const size = Math.floor(timesNs.length / BLOCKS);
  if (size < BLOCK_QUERIES_MIN) return null;
  const means = Array.from({ length: BLOCKS }, (_, block) => {
    const part = timesNs.subarray(block * size, (block + 1) * size);
    return part.reduce((sum, ns) => sum + ns, 0) / size;
  });
  return growthOf(means, (size / perSecond) * 1e9);
}

function isAbove({ share, error }: Growth, deviations: number): boolean {
  return share > GROWTH_MAX && share >= deviations * error;
}

/**
 * Share by which the load seems to be above what the SUT completes, by latencies: enough for a search to go lower. Null where that is not
 * seen.
 * @param latenciesNs In the order of the queries.
 * @param scheduledPerSecond Null: there was no schedule.
 */
export function likelyGrowth(
  latenciesNs: Float64Array,
  scheduledPerSecond: number | null,
): number | null {
  if (scheduledPerSecond === null) return null;
  const growth = growthOfTimes(latenciesNs, scheduledPerSecond);
  return growth !== null && isAbove(growth, DEVIATIONS_LIKELY) ? growth.share : null;
}

/** Whether a SUT kept up with the load of a run. */
export interface KeepingUp {
  /** `grew`: surely not. `unknown`: the run is too short to tell. */
  readonly state: 'kept' | 'grew' | 'unknown';
  /** Share of the load that seems to be left waiting, 1 at most; null: too few queries. */
  readonly share: number | null;
  /** Queries of a run of the same kind that tell; null: not known, or not needed. */
  readonly queriesToTell: number | null;
  /** Queries per second: due, and answered until the last one was. */
  readonly scheduledPerSecond: number;
  readonly answeredPerSecond: number;
}

/** Times of the answered queries of a run, in ns since its start. */
export interface AnswerTimes {
  /** In the order of issue; sorted. */
  readonly issuedNs: Float64Array;
  /** From the issue to the answer, in the same order: a late LoadGen is not the SUT's. */
  readonly latenciesNs: Float64Array;
}

/** True where no answer took more than a hundredth of a run: the SUT kept up, since no more than that can have waited in its end. */
export function isPrompt(longestNs: number, lastedNs: number): boolean {
  return longestNs <= GROWTH_MAX * lastedNs;
}

/**
 * Judges whether the SUT kept up with a load of one rate. Of SUTs with one server that get 5 % more than they complete (M/D/1, M/M/1), at most one
 * run in a hundred is `kept`, whatever its length; from 20,000 (M/D/1) and 45,000 (M/M/1) queries on, 99 of 100 are `grew`. Of loads
 * of 95 % fewer than 1 in 1,000 are `grew`, of just what the SUT completes 4 in 1,000.
 */
export function keepingUp({ issuedNs, latenciesNs }: AnswerTimes): KeepingUp {
  const lastedNs = issuedNs.at(-1) ?? 0;
  const sorted = latenciesNs.slice().sort();
  const endNs = issuedNs.reduce((end, ns, i) => Math.max(end, ns + (latenciesNs[i] as number)), 0);
  // As LoadGen counts them, the one and the other.
  const scheduledPerSecond = (issuedNs.length - 1) / (lastedNs / 1e9);
  const answeredPerSecond = (issuedNs.length - 1) / (endNs / 1e9);
  const judged = (
    state: KeepingUp['state'],
    share: number | null,
    queriesToTell = 0,
  ): KeepingUp => ({
    state,
    share,
    scheduledPerSecond,
    answeredPerSecond,
    queriesToTell: queriesToTell > 0 ? queriesToTell : null,
  });
  const typicalNs = sorted[Math.floor(sorted.length / 2)] ?? 0;
  if (typicalNs > FILLING_SHARE_MAX * lastedNs) {
    const growth = growthOfTimes(latenciesNs, scheduledPerSecond);
    const hasGrown = growth !== null && isAbove(growth, DEVIATIONS_SURE);
    return judged(hasGrown ? 'grew' : 'unknown', growth && waitingShare(growth.share));
  }
  const from = countAtMost(issuedNs, typicalNs);
  const waitingNs = waitingAtIssue(issuedNs, latenciesNs)
    .subarray(from)
    .map((count) => (count / scheduledPerSecond) * 1e9);
  const growth = growthOfTimes(waitingNs, scheduledPerSecond);
  if (growth === null) return judged('unknown', null);
  if (isAbove(growth, DEVIATIONS_SURE)) return judged('grew', growth.share);
  const margin = DEVIATIONS_TOLD * growth.error;
  if (growth.share + margin <= SHARE_TOLD) return judged('kept', growth.share);
  // The error falls with the square root of their number.
  const longer = (margin / SHARE_TOLD) ** 2;
  const needed = longer > LONGER_MAX ? 0 : Math.ceil(issuedNs.length * longer);
  return judged('unknown', growth.share, needed);
}

/** Share of the load that is left waiting, from the seconds per second by which latencies grow: load / capacity - 1. */
function waitingShare(latencyGrowth: number): number {
  return latencyGrowth / Math.max(1 + latencyGrowth, GROWTH_MAX);
}

/** Queries that wait right after each issue, in the order of issue. */
export function waitingAtIssue(issuedNs: Float64Array, latenciesNs: Float64Array): Float64Array {
  const doneNs = issuedNs.map((ns, i) => ns + (latenciesNs[i] as number)).sort();
  let done = 0;
  return issuedNs.map((ns, i) => {
    while (done < doneNs.length && (doneNs[done] as number) <= ns) done += 1;
    return i + 1 - done;
  });
}

/** Number of values up to a limit. */
export function countAtMost(sorted: Float64Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Queries that waited in a stretch of a run. */
interface Window {
  /** Queries times ns. */
  readonly waiting: number;
  readonly lengthNs: number;
}

/** A run while queries are issued, in fewer than 80 windows of one length. */
export class GrowthWatch {
  #windows: readonly Window[] = [];
  /** Looks that the last window has, and that each of the others has. */
  #filled = 0;
  #looks = 1;

  /** Takes how many queries wait at a look, and the time since the look before. Looks are of about one length. */
  add(waiting: number, lengthNs: number): void {
    const look = { waiting: waiting * lengthNs, lengthNs };
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

  /**
   * Share by which the load is surely above what the SUT completes; null where that is not seen.
   * @param perSecond Queries per second.
   * @param typicalNs How long a typical answer took so far.
   */
  sureGrowth(perSecond: number, typicalNs: number): number | null {
    const lengthNs = this.#windows[0]?.lengthNs ?? 1;
    const lastedNs = this.#windows.reduce((sum, one) => sum + one.lengthNs, 0);
    const blocks = this.#windows.slice(Math.ceil(typicalNs / lengthNs));
    if (blocks.length < BLOCKS || typicalNs > FILLING_SHARE_MAX * lastedNs) return null;
    const means = blocks.map((one) => (one.waiting / one.lengthNs / perSecond) * 1e9);
    const growth = growthOf(means, lengthNs);
    return isAbove(growth, DEVIATIONS_SURE) ? growth.share : null;
  }
}

function joined(first: Window, next: Window): Window {
  return {
    waiting: first.waiting + next.waiting,
    lengthNs: first.lengthNs + next.lengthNs,
  };
}
