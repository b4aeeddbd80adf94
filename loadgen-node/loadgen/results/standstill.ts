import {
  keepsTokenBounds,
  type RecordedColumns,
  type TokenBounds,
  tokenTimes,
} from '../recorder/recording.ts';

/**
 * The stretch of a run in which the SUT hardly answered while queries waited. Late samples that come from one such stretch say
 * nothing of what the SUT does at the load, and no lower load would have spared it.
 */
export interface Standstill {
  /** When answers stopped, and when the most samples waited, in ns since the start of the set. */
  readonly fromNs: number;
  readonly toNs: number;
  /** Samples that completed meanwhile. */
  readonly completedSamples: number;
  /** Samples above their bound that were waiting then, or came before no more than usual waited. */
  readonly lateSamples: number;
}

/** Answers that the stretch would have had at the mean rate; of fewer, chance may take most. */
const EXPECTED_MIN = 20;
/** Share of them that came at most: a SUT that is merely at its limit completes at its full rate then. */
const COMPLETED_SHARE_MAX = 0.25;
/** A stretch is LoadGen's own where queries that were due in it went out late by this share of it, in the mean. */
const OWN_LAG_SHARE = 0.25;

/**
 * Finds the stretch in which the most samples came to wait.
 * @param bounds Server's bound in ns, or those of a token model.
 * @returns Null where the SUT answered all the time, where LoadGen was late itself, and where no sample completed.
 */
export function findStandstill(
  columns: RecordedColumns,
  bounds: number | TokenBounds,
): Standstill | null {
  const issuedAt = issues(columns);
  const doneAt = completions(columns).sort();
  const endNs = doneAt.at(-1);
  if (endNs === undefined) return null;
  const { fromNs, toNs, overNs } = largestBacklog(issuedAt, doneAt);
  const completedSamples = countAtMost(doneAt, toNs) - countAtMost(doneAt, fromNs);
  const expected = ((toNs - fromNs) * doneAt.length) / endNs;
  if (expected < EXPECTED_MIN || completedSamples > COMPLETED_SHARE_MAX * expected) return null;
  if (ownLagNs(columns, fromNs, toNs) > OWN_LAG_SHARE * (toNs - fromNs)) return null;
  const isLate = lateness(columns, bounds);
  const { scheduledNs, samplesPerQuery } = columns;
  let lateSamples = 0;
  for (let sample = 0; sample < columns.queryEnd * samplesPerQuery; sample += 1) {
    if (!isLate(sample)) continue;
    const dueNs = scheduledNs[Math.floor(sample / samplesPerQuery)] as number;
    const doneNs = dueNs + (columns.latencyNs[sample] as number);
    if (dueNs <= overNs && doneNs >= fromNs) lateSamples += 1;
  }
  return { fromNs, toNs, completedSamples, lateSamples };
}

/** When samples were issued, sorted, in ns since the start. */
function issues({ queryEnd, samplesPerQuery, isIssued, issuedNs }: RecordedColumns): Float64Array {
  const atNs = new Float64Array(queryEnd * samplesPerQuery);
  let count = 0;
  for (let query = 0; query < queryEnd; query += 1) {
    if (!isIssued(query)) continue;
    atNs.fill(issuedNs[query] as number, count, count + samplesPerQuery);
    count += samplesPerQuery;
  }
  return atNs.subarray(0, count).sort();
}

/**
 * The stretch in which the most samples came to wait: from the last answer before more than usual waited, to when the most waited; `overNs`:
 * when no more than usual did again. Both inputs are sorted.
 */
function largestBacklog(issuedAt: Float64Array, doneAt: Float64Array) {
  const waiting = waitingAtIssue(issuedAt, doneAt);
  const most = waiting.reduce((max, one, i) => (one > (waiting[max] as number) ? i : max), 0);
  const usual = usualWaiting(waiting);
  let begin = most;
  while (begin > 0 && (waiting[begin] as number) > usual) begin -= 1;
  let end = most;
  while (end < waiting.length && (waiting[end] as number) > usual) end += 1;
  const beginNs = issuedAt[begin] as number;
  return {
    fromNs: doneAt[countAtMost(doneAt, beginNs) - 1] ?? beginNs,
    toNs: issuedAt[most] as number,
    overNs: issuedAt[end] ?? Number.POSITIVE_INFINITY,
  };
}

/** When samples completed, in ns since the start, in the order of the samples. */
function completions(columns: RecordedColumns): Float64Array {
  const { queryEnd, samplesPerQuery, isCompleted, latencyNs, scheduledNs } = columns;
  const doneNs = new Float64Array(queryEnd * samplesPerQuery);
  let count = 0;
  for (let sample = 0; sample < doneNs.length; sample += 1) {
    if (!isCompleted(sample)) continue;
    const dueNs = scheduledNs[Math.floor(sample / samplesPerQuery)] as number;
    doneNs[count] = dueNs + (latencyNs[sample] as number);
    count += 1;
  }
  return doneNs.subarray(0, count);
}

/** Samples that wait right after each issue. Both are sorted. */
function waitingAtIssue(issuedAt: Float64Array, doneAt: Float64Array): Float64Array {
  let done = 0;
  return issuedAt.map((ns, i) => {
    while (done < doneAt.length && (doneAt[done] as number) <= ns) done += 1;
    return i + 1 - done;
  });
}

/** Twice the lower quartile, and two more: what waits now and then, also where most of a run follows on the standstill. */
function usualWaiting(waiting: Float64Array): number {
  const sorted = waiting.slice().sort();
  return 2 * (sorted[Math.floor(sorted.length / 4)] as number) + 2;
}

/** Number of values up to a limit. */
function countAtMost(sorted: Float64Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Mean dispatch lag of the queries that were due in a stretch, in ns. */
function ownLagNs(
  { queryEnd, isIssued, scheduledNs, issuedNs }: RecordedColumns,
  fromNs: number,
  toNs: number,
): number {
  let sumNs = 0;
  let count = 0;
  for (let query = 0; query < queryEnd; query += 1) {
    const dueNs = scheduledNs[query] as number;
    if (!isIssued(query) || dueNs < fromNs || dueNs > toNs) continue;
    sumNs += (issuedNs[query] as number) - dueNs;
    count += 1;
  }
  return count === 0 ? 0 : sumNs / count;
}

/** Tells whether a completed sample is above its bound, or one of its two. */
function lateness(
  { isCompleted, latencyNs, firstTokenNs, tokenCounts }: RecordedColumns,
  bounds: number | TokenBounds,
): (sample: number) => boolean {
  if (typeof bounds === 'number') {
    return (sample) => isCompleted(sample) && (latencyNs[sample] as number) > bounds;
  }
  return (sample) =>
    isCompleted(sample) &&
    !keepsTokenBounds(
      tokenTimes(
        latencyNs[sample] as number,
        firstTokenNs?.[sample] ?? Number.NaN,
        tokenCounts?.[sample] ?? 0,
      ),
      bounds,
    );
}
