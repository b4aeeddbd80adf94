import { type AnswerTimes, countAtMost, waitingAtIssue } from './queue-growth.ts';

/**
 * Stretches of a run in which the SUT hardly answered while queries waited. Late samples that come of them say nothing of what the
 * SUT does at the load, and no lower load would have spared them.
 */
export interface Standstill {
  /** Name of the only part of the SUT that stood still, while others went on; null: the SUT as a whole did. */
  readonly part: string | null;
  readonly count: number;
  /** All of them together, and the longest, in ns. */
  readonly totalNs: number;
  readonly longestNs: number;
  /** When the longest began, in ns since the start: with the answer before it, or with the issue of the oldest query that waited in it. */
  readonly fromNs: number;
  /** Samples that completed meanwhile. */
  readonly completedSamples: number;
  /** Samples that waited then, or came before no more than usual waited; and those of them that were above their bound. */
  readonly waitingSamples: number;
  readonly lateSamples: number;
  /** The late ones by the name of their lane. */
  readonly lateOfLanes: ReadonlyMap<string, number>;
}

/** The parts of a SUT, and the number of the one that answered a query; a part that nobody knows is -1. */
export interface AnsweringParts {
  readonly names: readonly string[];
  readonly partOf: (query: number) => number;
}

const ONE_PART: AnsweringParts = { names: [], partOf: () => -1 };

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
/** A standstill of a part is another one than that of the whole SUT if it is longer by this factor. */
const LONGER_BY = 2;
/** So many times more wait before late samples that were in a queue. */
const BEHIND_OTHERS = 1.5;

/** Times of queries, with what tells which of them were late, and how late LoadGen was, in ns. */
interface LateTimes extends AnswerTimes {
  /** Name of the lane whose bounds a query does not keep; null: it keeps those of its lane. */
  readonly lateIn: (query: number) => string | null;
  readonly lagsNs: Float64Array;
}

/** Looks for what made samples late; of a run that has some. */
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

/** Looks for a standstill of the whole SUT, and of each part: one of a part is told where more was late by it, or where it was so much longer. */
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

/** A standstill of the whole SUT is one of each part, too, and is a little longer there. */
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

/** @param part Name of the part whose times these are; null: of the whole SUT. */
function findStandstill(times: LateTimes, part: string | null): Standstill | null {
  const { issuedNs, latenciesNs } = times;
  const waiting = waitingAtIssue(issuedNs, latenciesNs);
  const doneNs = issuedNs.map((ns, i) => ns + (latenciesNs[i] as number)).sort();
  const typicalGapNs = typicalGap(doneNs);
  // Few come to wait at a part that stands still: others, which answer, get the queries.
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

/** The stretch in which the most came to wait between two queries, until the next answer; null where the SUT went on answering. */
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
  // What comes to wait before the first answer is the filling of the SUT.
  if (before === 0) return null;
  // Until a query came there was nothing to answer.
  const fromNs = Math.max(doneNs[before - 1] as number, issuedNs[oldest] as number);
  const doneCount = countAtMost(doneNs, issuedNs[most] as number);
  // There is one: what waits completes later.
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

/** Samples that were issued in a stretch until no more than usual waited, or waited when it began. */
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
