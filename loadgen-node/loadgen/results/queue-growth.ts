/**
 * Detects whether the queue at the SUT grew all through a run.
 *
 * A load above the SUT's capacity makes the queue grow by load / capacity - 1 seconds per second of
 * schedule. A run that is short compared with its bound can end before any query exceeds the bound.
 * Near capacity the queue length is a random walk: a fitted line has a random slope, and the
 * scatter around it is no measure of the slope's error. So the mean step between neighbouring
 * blocks is compared with the scatter of the steps themselves. A queue that returns to rest has
 * smaller long-term steps than that scatter predicts, which errs on the safe side. A SUT that stood
 * still once makes one large step, and so a large scatter.
 */

/** Blocks per run; more add no information, fewer leave the scatter of the steps uncertain. */
const BLOCKS = 20;
/** Fewer queries per block do not give a useful mean. */
const BLOCK_QUERIES_MIN = 4;
/**
 * Means of neighbouring blocks of a random walk share half of their steps: the mean of n such steps
 * has this / n times their variance.
 */
const SHARED_STEPS = 1.5;
/** Growth below this share of the time is within the error of a rate. */
const GROWTH_MAX = 0.01;
/**
 * Standard errors from which a search does not confirm a load; a load refused by chance is tried
 * again slightly lower.
 */
const DEVIATIONS_LIKELY = 1.6;
/**
 * Standard errors from which a run is INVALID: 1 in 1,000 by chance, even at exactly the SUT's
 * capacity.
 */
const DEVIATIONS_SURE = 3.6;
/** A load this far above the SUT's capacity must be reported ... */
const SHARE_TOLD = 0.05;
/** ... in at least 99 of 100 runs. */
const DEVIATIONS_TOLD = 2.7;
/**
 * Until a typical response has come, the queue grows whatever the SUT can do. If a typical response
 * takes longer than this share of the run, only latencies are judged, which is valid for a SUT that
 * answers in order.
 */
const FILLING_SHARE_MAX = 0.75;
/** If a run had to be this many times longer for a decision, this test does not suit its queue. */
const LONGER_MAX = 20;

/**
 * Growth in seconds per second: the share by which the load exceeds the SUT's capacity; negative if
 * the queue shrinks.
 */
interface Growth {
  readonly share: number;
  /** Standard error of the share. */
  readonly error: number;
}

/** @param means Means of consecutive blocks of equal length, in ns. */
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
 * Growth of times over a run.
 * @param timesNs In query order.
 * @param perSecond Queries per second.
 * @returns Null if the run has too few queries.
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
 * Share by which the load seems to exceed the SUT's capacity, from latencies; enough for a search
 * to go lower. Null if no growth is seen.
 * @param latenciesNs In query order.
 * @param scheduledPerSecond Null without a schedule.
 */
export function likelyGrowth(
  latenciesNs: Float64Array,
  scheduledPerSecond: number | null,
): number | null {
  if (scheduledPerSecond === null) return null;
  const growth = growthOfTimes(latenciesNs, scheduledPerSecond);
  return growth !== null && isAbove(growth, DEVIATIONS_LIKELY) ? growth.share : null;
}

/** Judgement whether a SUT kept up with the load of a run. */
export interface KeepingUp {
  /** `grew`: certainly not. `unknown`: the run is too short to decide. */
  readonly state: 'kept' | 'grew' | 'unknown';
  /** Share of the load that seems to remain queued, at most 1; null with too few queries. */
  readonly share: number | null;
  /** Queries that a similar run needs for a decision; null if unknown or not needed. */
  readonly queriesToTell: number | null;
  /** Queries per second: due, and answered (until the last response). */
  readonly scheduledPerSecond: number;
  readonly answeredPerSecond: number;
}

/** Times of the answered queries of a run, in ns since its start. */
export interface AnswerTimes {
  /** In order of issue, so sorted. */
  readonly issuedNs: Float64Array;
  /** From issue to response, in the same order: LoadGen's lateness is not the SUT's. */
  readonly latenciesNs: Float64Array;
}

/**
 * True if no response took more than a hundredth of the run: the SUT kept up, since no more than
 * that can have been queued at the end.
 */
export function isPrompt(longestNs: number, lastedNs: number): boolean {
  return longestNs <= GROWTH_MAX * lastedNs;
}

/**
 * Judges whether the SUT kept up with a load of one rate. For single-server SUTs that get 5 % more
 * than their capacity (M/D/1, M/M/1), at most one run in a hundred is `kept`, at any length; from
 * 20,000 (M/D/1) and 45,000 (M/M/1) queries on, 99 of 100 are `grew`. At 95 % of capacity fewer
 * than 1 in 1,000 are `grew`; at exactly capacity, 4 in 1,000.
 */
export function keepingUp({ issuedNs, latenciesNs }: AnswerTimes): KeepingUp {
  const lastedNs = issuedNs.at(-1) ?? 0;
  const sorted = latenciesNs.slice().sort();
  const endNs = issuedNs.reduce((end, ns, i) => Math.max(end, ns + (latenciesNs[i] as number)), 0);
  // Both rates as LoadGen counts them.
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
  // The error falls with the square root of the number of queries.
  const longer = (margin / SHARE_TOLD) ** 2;
  const needed = longer > LONGER_MAX ? 0 : Math.ceil(issuedNs.length * longer);
  return judged('unknown', growth.share, needed);
}

/**
 * Share of the load that remains queued, from the growth of latencies in seconds per second: load /
 * capacity - 1.
 */
function waitingShare(latencyGrowth: number): number {
  return latencyGrowth / Math.max(1 + latencyGrowth, GROWTH_MAX);
}

/** Number of waiting queries right after each issue, in order of issue. */
export function waitingAtIssue(issuedNs: Float64Array, latenciesNs: Float64Array): Float64Array {
  const doneNs = issuedNs.map((ns, i) => ns + (latenciesNs[i] as number)).sort();
  let done = 0;
  return issuedNs.map((ns, i) => {
    while (done < doneNs.length && (doneNs[done] as number) <= ns) done += 1;
    return i + 1 - done;
  });
}

/** Number of values that are at most `limit`. */
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

/** Waiting queries in one time window of a run. */
interface Window {
  /** Waiting queries times ns. */
  readonly waiting: number;
  readonly lengthNs: number;
}

/** Queue growth while a run is issued, in fewer than 80 windows of equal length. */
export class GrowthWatch {
  #windows: readonly Window[] = [];
  /** Looks in the last window, and in each of the others. */
  #filled = 0;
  #looks = 1;

  /**
   * Adds the number of waiting queries at a look, and the time since the last look. Looks are about
   * equally spaced.
   */
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
   * Share by which the load certainly exceeds the SUT's capacity; null if no growth is seen.
   * @param perSecond Queries per second.
   * @param typicalNs Typical response time so far.
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
