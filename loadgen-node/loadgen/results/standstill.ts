import { type AnswerTimes, countAtMost, waitingAtIssue } from './queue-growth.ts';

/**
 * Stretches of a run in which the SUT hardly answered while queries waited. Late samples from such
 * stretches do not show what the SUT does at this load, and a lower load would not have avoided
 * them.
 */
export interface Standstill {
  /**
   * Name of the one part of the SUT that stood still while others went on; null: the whole SUT did.
   */
  readonly part: string | null;
  readonly count: number;
  /** Total of all standstills, and the longest, in ns. */
  readonly totalNs: number;
  readonly longestNs: number;
  /**
   * Start of the longest, in ns since the start: the last response before it, or the issue of the
   * oldest query waiting in it.
   */
  readonly fromNs: number;
  /** Samples that completed during it. */
  readonly completedSamples: number;
  /**
   * Samples waiting then, or issued before the queue was back to normal; and how many of them were
   * above their bound.
   */
  readonly waitingSamples: number;
  readonly lateSamples: number;
  /** Late samples among them, by lane. */
  readonly lateOfLanes: ReadonlyMap<string, number>;
}

/** The parts of a SUT, and the number of the part that answered each query; -1 if unknown. */
export interface AnsweringParts {
  readonly names: readonly string[];
  readonly partOf: (query: number) => number;
}

const ONE_PART: AnsweringParts = { names: [], partOf: () => -1 };

/** Why samples were late: a standstill, or a long queue. */
export interface LateSamples {
  readonly standstill: Standstill | null;
  /** True if the queue was longer before late samples than before others: they waited in it. */
  readonly areBehindOthers: boolean;
}

/** Responses expected in a stretch at the mean rate; with fewer, a gap may be chance. */
const EXPECTED_MIN = 20;
/** In a standstill, at most this share came: a SUT at its limit completes at its full rate. */
const COMPLETED_SHARE_MAX = 0.25;
/** A stretch lasts this many times the usual gap between responses: batches cause gaps, too. */
const GAPS_MIN = 10;
/**
 * A stretch is LoadGen's own fault if queries due in it went out late by this share of it, on
 * average.
 */
const OWN_LAG_SHARE = 0.25;
/** A standstill of one part differs from that of the whole SUT if it is longer by this factor. */
const LONGER_BY = 2;
/** Factor by which the queue is longer before late samples if they waited in it. */
const BEHIND_OTHERS = 1.5;

/** Times of queries, which of them were late, and LoadGen's lateness, in ns. */
interface LateTimes extends AnswerTimes {
  /** Name of the lane if the query misses its bounds; null if it keeps them. */
  readonly lateIn: (query: number) => string | null;
  readonly lagsNs: Float64Array;
}

/** Finds why samples were late, in a run that has late samples. */
export function lateSamplesOf(times: LateTimes, parts: AnsweringParts = ONE_PART): LateSamples {
  const { issuedNs, latenciesNs, lateIn } = times;
  const waiting = waitingAtIssue(issuedNs, latenciesNs);
  const sums = { late: 0, lateCount: 0, other: 0, otherCount: 0 };
  waiting.forEach((count, query) => {
    const kind = lateIn(query) === null ? ('other' as const) : ('late' as const);
    sums[kind] += count;
    sums[`${kind}Count`] += 1;
  });
  const areBehindOthers =
    sums.late / sums.lateCount > (BEHIND_OTHERS * sums.other) / Math.max(1, sums.otherCount);
  return { standstill: standstillOf(times, parts), areBehindOthers };
}

/**
 * Finds a standstill of the whole SUT, and of each part: that of a part is reported if it made more
 * samples late, or was much longer.
 */
export function standstillOf(
  times: LateTimes,
  { names, partOf }: AnsweringParts = ONE_PART,
): Standstill | null {
  let found = findStandstill(times, null);
  const queriesOf = names.map((): number[] => []);
  for (let query = 0; query < times.issuedNs.length; query += 1) {
    queriesOf[partOf(query)]?.push(query);
  }
  names.forEach((name, part) => {
    const one = findStandstill(timesOfQueries(times, queriesOf[part] as number[]), name);
    if (one !== null && (found === null || isWorse(one, found))) found = one;
  });
  return found;
}

/**
 * Compares two standstills. One of the whole SUT is also one of each part, and slightly longer
 * there.
 */
function isWorse(one: Standstill, other: Standstill): boolean {
  if (one.lateSamples !== other.lateSamples) return one.lateSamples > other.lateSamples;
  return one.longestNs > LONGER_BY * other.longestNs;
}

function timesOfQueries(
  { issuedNs, latenciesNs, lagsNs, lateIn }: LateTimes,
  queries: readonly number[],
): LateTimes {
  const pick = (all: Float64Array): Float64Array =>
    new Float64Array(queries.length).map((_, i) => all[queries[i] as number] as number);
  return {
    issuedNs: pick(issuedNs),
    latenciesNs: pick(latenciesNs),
    lagsNs: pick(lagsNs),
    lateIn: (i) => lateIn(queries[i] as number),
  };
}

/** @param part Name of the part with these times; null: the whole SUT. */
function findStandstill(times: LateTimes, part: string | null): Standstill | null {
  const { issuedNs, latenciesNs } = times;
  const waiting = waitingAtIssue(issuedNs, latenciesNs);
  const doneNs = issuedNs.map((ns, i) => ns + (latenciesNs[i] as number)).sort();
  const typicalGapNs = typicalGap(doneNs);
  // A part that stands still gets few new queries: others, which answer, get them.
  const usual = usualWaiting(waiting) - (part === null ? 0 : 2);
  let found: Standstill | null = null;
  let oldest = 0;
  for (let begin = 0; begin < waiting.length; begin += 1) {
    if ((waiting[begin] as number) <= usual) continue;
    let end = begin;
    let most = begin;
    while (end < waiting.length && (waiting[end] as number) > usual) {
      if ((waiting[end] as number) > (waiting[most] as number)) most = end;
      end += 1;
    }
    while (!isWaiting(times, oldest, issuedNs[begin] as number)) oldest += 1;
    const one = stretch({ ...times, doneNs, typicalGapNs }, { oldest, begin, most });
    if (one !== null) {
      const counts = countWaiting(times, { oldest, begin, end }, one.fromNs);
      found = together(found, { ...one, ...counts, part });
    }
    begin = end;
  }
  return found;
}

function isWaiting({ issuedNs, latenciesNs }: AnswerTimes, query: number, atNs: number): boolean {
  return (issuedNs[query] as number) + (latenciesNs[query] as number) > atNs;
}

/**
 * The stretch, between two queries and until the next response, in which most queries queued up;
 * null if the SUT went on answering.
 */
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
  {
    oldest,
    begin,
    most,
  }: { readonly oldest: number; readonly begin: number; readonly most: number },
): Omit<Standstill, 'part' | keyof WaitingCounts> | null {
  const before = countAtMost(doneNs, issuedNs[begin] as number);
  // Queries before the first response only fill the SUT.
  if (before === 0) return null;
  // Before the query came, there was nothing to answer.
  const fromNs = Math.max(doneNs[before - 1] as number, issuedNs[oldest] as number);
  const doneCount = countAtMost(doneNs, issuedNs[most] as number);
  // Always found: waiting queries complete later.
  const longestNs = (doneNs[doneCount] as number) - fromNs;
  const completedSamples = doneCount - before;
  const expected = (longestNs * doneNs.length) / (doneNs.at(-1) as number);
  const isStill = expected >= EXPECTED_MIN && completedSamples <= COMPLETED_SHARE_MAX * expected;
  if (!isStill || longestNs < GAPS_MIN * typicalGapNs) return null;
  const lags = lagsNs.subarray(begin, most + 1);
  const lagNs = lags.reduce((sum, ns) => sum + ns, 0) / lags.length;
  if (lagNs > OWN_LAG_SHARE * longestNs) return null;
  return { count: 1, totalNs: longestNs, longestNs, fromNs, completedSamples };
}

type WaitingCounts = Pick<Standstill, 'waitingSamples' | 'lateSamples' | 'lateOfLanes'>;

/**
 * Counts samples waiting at the start of a stretch, or issued from then until the queue was back to
 * normal.
 */
function countWaiting(
  times: LateTimes,
  { oldest, begin, end }: { readonly oldest: number; readonly begin: number; readonly end: number },
  fromNs: number,
): WaitingCounts {
  let waitingSamples = 0;
  let lateSamples = 0;
  const lateOfLanes = new Map<string, number>();
  for (let query = oldest; query < end; query += 1) {
    if (query < begin && !isWaiting(times, query, fromNs)) continue;
    waitingSamples += 1;
    const lane = times.lateIn(query);
    if (lane === null) continue;
    lateSamples += 1;
    lateOfLanes.set(lane, (lateOfLanes.get(lane) ?? 0) + 1);
  }
  return { waitingSamples, lateSamples, lateOfLanes };
}

function together(first: Standstill | null, next: Standstill): Standstill {
  if (first === null) return next;
  const longer = next.longestNs > first.longestNs ? next : first;
  const lateOfLanes = new Map(first.lateOfLanes);
  for (const [lane, count] of next.lateOfLanes) {
    lateOfLanes.set(lane, (lateOfLanes.get(lane) ?? 0) + count);
  }
  return {
    part: first.part,
    count: first.count + 1,
    totalNs: first.totalNs + next.totalNs,
    longestNs: longer.longestNs,
    fromNs: longer.fromNs,
    completedSamples: first.completedSamples + next.completedSamples,
    waitingSamples: first.waitingSamples + next.waitingSamples,
    lateSamples: first.lateSamples + next.lateSamples,
    lateOfLanes,
  };
}

/**
 * Gap between responses such that at least half of the run consists of gaps up to this length;
 * standstills of less than half the run do not change it.
 */
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

/**
 * Usual queue length: twice the lower quartile plus two, valid even if most of a run follows a
 * standstill.
 */
function usualWaiting(waiting: Float64Array): number {
  const sorted = waiting.slice().sort();
  return 2 * (sorted[Math.floor(sorted.length / 4)] ?? 0) + 2;
}
