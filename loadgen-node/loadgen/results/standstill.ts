import { type AnswerTimes, countAtMost, waitingAtIssue } from './queue-growth.ts';

/**
 * Stretches of a run in which the SUT hardly answered while queries waited. Late samples that come of them say nothing of what the
 * SUT does at the load, and no lower load would have spared them.
 */
export interface Standstill {
  readonly count: number;
  /** All of them together, and the longest, in ns; when that began, in ns since the start. */
  readonly totalNs: number;
  readonly longestNs: number;
  readonly fromNs: number;
  /** Samples that completed meanwhile. */
  readonly completedSamples: number;
  /** Samples above their bound that waited then, or came before no more than usual waited. */
  readonly lateSamples: number;
}

/** Whether late samples came when much waited. */
export interface LateSamples {
  readonly standstill: Standstill | null;
  /** More waited before the late ones than before the others: they waited in a queue. */
  readonly areBehindOthers: boolean;
}

/** Answers that a stretch would have had at the mean rate; of fewer, chance may take most. */
const EXPECTED_MIN = 20;
/** Share of them that came at most: a SUT that is merely at its limit completes at its full rate then. */
const COMPLETED_SHARE_MAX = 0.25;
/** A stretch lasts so many times as long as the SUT usually takes from answer to answer: batches make it wait, too. */
const GAPS_MIN = 10;
/** A stretch is LoadGen's own where queries that were due in it went out late by this share of it, in the mean. */
const OWN_LAG_SHARE = 0.25;
/** So many times more wait before late samples that were in a queue. */
const BEHIND_OTHERS = 1.5;

/** Times of queries, with what tells which of them were late, and how late LoadGen was, in ns. */
interface LateTimes extends AnswerTimes {
  readonly isLate: (query: number) => boolean;
  readonly lagsNs: Float64Array;
}

/** Looks for what made samples late; of a run that has some. */
export function lateSamplesOf(times: LateTimes): LateSamples {
  const { issuedNs, latenciesNs, isLate } = times;
  const waiting = waitingAtIssue(issuedNs, latenciesNs);
  const sums = { late: 0, lateCount: 0, other: 0, otherCount: 0 };
  waiting.forEach((count, query) => {
    const kind = isLate(query) ? ('late' as const) : ('other' as const);
    sums[kind] += count;
    sums[`${kind}Count`] += 1;
  });
  const areBehindOthers =
    sums.late / sums.lateCount > (BEHIND_OTHERS * sums.other) / Math.max(1, sums.otherCount);
  return { standstill: findStandstill(times, waiting), areBehindOthers };
}

function findStandstill(times: LateTimes, waiting: Float64Array): Standstill | null {
  const { issuedNs, latenciesNs, isLate } = times;
  const doneNs = issuedNs.map((ns, i) => ns + (latenciesNs[i] as number)).sort();
  const typicalGapNs = typicalGap(doneNs);
  const usual = usualWaiting(waiting);
  let found: Standstill | null = null;
  for (let begin = 0; begin < waiting.length; begin += 1) {
    if ((waiting[begin] as number) <= usual) continue;
    let end = begin;
    let most = begin;
    while (end < waiting.length && (waiting[end] as number) > usual) {
      if ((waiting[end] as number) > (waiting[most] as number)) most = end;
      end += 1;
    }
    const one = stretch({ ...times, doneNs, typicalGapNs }, { begin, most });
    if (one !== null) {
      const lateSamples = countLate(isLate, begin, end, issuedNs, latenciesNs, one.fromNs);
      found = together(found, { ...one, lateSamples });
    }
    begin = end;
  }
  return found;
}

/** The stretch in which the most came to wait between two queries; null where the SUT went on answering. */
function stretch(
  {
    issuedNs,
    lagsNs,
    doneNs,
    typicalGapNs,
  }: LateTimes & {
    readonly doneNs: Float64Array;
    readonly typicalGapNs: number;
  },
  { begin, most }: { readonly begin: number; readonly most: number },
): Omit<Standstill, 'lateSamples'> | null {
  const before = countAtMost(doneNs, issuedNs[begin] as number);
  // What comes to wait before the first answer is the filling of the SUT.
  if (before === 0) return null;
  const fromNs = doneNs[before - 1] as number;
  const toNs = issuedNs[most] as number;
  const longestNs = toNs - fromNs;
  const completedSamples = countAtMost(doneNs, toNs) - before;
  const expected = (longestNs * doneNs.length) / (doneNs.at(-1) as number);
  const isStill = expected >= EXPECTED_MIN && completedSamples <= COMPLETED_SHARE_MAX * expected;
  if (!isStill || longestNs < GAPS_MIN * typicalGapNs) return null;
  const lags = lagsNs.subarray(begin, most + 1);
  const lagNs = lags.reduce((sum, ns) => sum + ns, 0) / lags.length;
  if (lagNs > OWN_LAG_SHARE * longestNs) return null;
  return { count: 1, totalNs: longestNs, longestNs, fromNs, completedSamples };
}

/** Late samples that were issued in a stretch until no more than usual waited, or waited when it began. */
function countLate(
  isLate: (query: number) => boolean,
  begin: number,
  end: number,
  issuedNs: Float64Array,
  latenciesNs: Float64Array,
  fromNs: number,
): number {
  let late = 0;
  for (let query = 0; query < end; query += 1) {
    const waited =
      query >= begin || (issuedNs[query] as number) + (latenciesNs[query] as number) > fromNs;
    if (waited && isLate(query)) late += 1;
  }
  return late;
}

function together(first: Standstill | null, next: Standstill): Standstill {
  if (first === null) return next;
  const longer = next.longestNs > first.longestNs ? next : first;
  return {
    count: first.count + 1,
    totalNs: first.totalNs + next.totalNs,
    longestNs: longer.longestNs,
    fromNs: longer.fromNs,
    completedSamples: first.completedSamples + next.completedSamples,
    lateSamples: first.lateSamples + next.lateSamples,
  };
}

/** Time from answer to answer that half of the run consists of, or more; standstills that take less of it change nothing. */
function typicalGap(doneNs: Float64Array): number {
  const gaps = doneNs.map((ns, i) => ns - (doneNs[i - 1] ?? 0)).sort();
  const half = (doneNs.at(-1) ?? 0) / 2;
  let sum = 0;
  return (
    gaps.find((gap) => {
      sum += gap;
      return sum >= half;
    }) ?? 0
  );
}

/** Twice the lower quartile, and two more: what waits now and then, also where most of a run follows on a standstill. */
function usualWaiting(waiting: Float64Array): number {
  const sorted = waiting.slice().sort();
  return 2 * (sorted[Math.floor(sorted.length / 4)] ?? 0) + 2;
}
