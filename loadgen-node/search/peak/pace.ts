import { formatNs } from '../../../shared/base/text.ts';
import type { BoundTimes } from '../../loadgen/settings/query-bounds.ts';
import { BATCH_QUERIES_MIN } from './over-share.ts';
import type { LoadSearch, PeakProbe } from './peak-search.ts';

/**
 * How long probes have to last. A queue shows within so many bounds. Sequences of a token model that run beside one another are as many as
 * the load makes only after a few answers, and an answer lasts 10 to 100 times the bound on its first token.
 */

/** An answer counts as this many bounds: a full run lasts 50 times as long, a step of the bracket 10 times. */
const ANSWER_SHARE = 0.6;
/** An answer lasts at most this many times as long as the longest seen: the next load is at most twice the last one. */
const SLOWER_MAX = 2;

/**
 * Bounds that a full run lasts at least. A queue that starts empty and gets a share more than is completed passes the bound after bound /
 * share: a load that is 2 % too high ends such a run above the bound, whatever the growth of its queue says.
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

/** A search, with what its probes so far tell of the time that it needs. */
export interface PacedSearch extends LoadSearch {
  /** Lengths of probes are multiples of it. */
  readonly paceNs: number;
  /** How long an answer takes near the limit, at most; 0: no token model, or none was seen yet. */
  readonly answerNs: number;
}

/** The search with lengths that fit its answers; it follows from the probes alone. */
export function pacedSearch(search: LoadSearch, probes: readonly PeakProbe[]): PacedSearch {
  const { boundNs, tpotNs, kind, full } = search;
  if (tpotNs === undefined || kind !== 'rate') return { ...search, paceNs: boundNs, answerNs: 0 };
  const { atBoundNs, longestNs } = answersSeen(tpotNs, probes);
  const answerNs = Math.min(atBoundNs, SLOWER_MAX * longestNs);
  const paceNs = Math.max(boundNs, ANSWER_SHARE * answerNs);
  const paced = longEnough(search, paceNs);
  const { durationNsMax = Number.POSITIVE_INFINITY } = full;
  const minDurationNs = Math.min(paced.full.minDurationNs, durationNsMax);
  return { ...paced, paceNs, answerNs, full: { ...paced.full, minDurationNs } };
}

/** How long a search takes that has made these probes, in ns: all screenings, then the runs that confirm one load. Many end earlier. */
export function searchNs(asked: LoadSearch, probes: readonly PeakProbe[] = []): number {
  const { screeningNsMax, full } = pacedSearch(asked, probes);
  return screeningNsMax + full.runs * full.minDurationNs;
}

/**
 * How long a search still takes, in ns: what its screenings have left of their time, then the runs that confirm one load. Where
 * those have begun no screening follows.
 */
export function searchLeftNs(asked: LoadSearch, probes: readonly PeakProbe[]): number {
  const { screeningNsMax, full } = pacedSearch(asked, probes);
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const doneNs = probes.reduce((sum, { durationNs }) => sum + durationNs, 0);
  const screeningNs = fulls.length === 0 ? Math.max(0, screeningNsMax - doneNs) : 0;
  return screeningNs + Math.max(0, full.runs - fulls.length) * full.minDurationNs;
}

/** The answers of probes; full runs do not count, so that all have one length. In ns. */
function answersSeen(tpotNs: number, probes: readonly PeakProbe[]) {
  let queries = 0;
  let sumNs = 0;
  let longestNs = 0;
  for (const probe of probes) {
    const perTokenNs = medianOf(probe.tokens?.tpot);
    if (probe.kind === 'full' || perTokenNs === 0) continue;
    const generatingNs = Math.max(0, probe.meanNs - medianOf(probe.tokens?.ttft));
    longestNs = Math.max(longestNs, generatingNs);
    sumNs += (probe.queries * generatingNs * tpotNs) / perTokenNs;
    queries += probe.queries;
  }
  /** How long one takes where the time per token is at its bound, and the longest mean of a probe. */
  return { atBoundNs: queries === 0 ? 0 : sumNs / queries, longestNs };
}

/** How long a search takes by its answers, in words; undefined: no longer than planned, or it ends here. */
export function answersNote(search: LoadSearch, unloaded: PeakProbe): string | undefined {
  if (unloaded.verdict === 'misses' || unloaded.verdict === 'lost') return undefined;
  const { tpotNs = 0, full, screeningNsMax } = search;
  const { atBoundNs, longestNs } = answersSeen(tpotNs, [unloaded]);
  const paced = longEnough(search, ANSWER_SHARE * atBoundNs);
  const isLonger =
    paced.full.minDurationNs > full.minDurationNs || paced.screeningNsMax > screeningNsMax;
  if (!isLonger) return undefined;
  const runsNs = Math.min(paced.full.minDurationNs, full.durationNsMax ?? Number.POSITIVE_INFINITY);
  const runs = full.runs === 0 ? '' : `, and a full run ${timeOf(runsNs)}`;
  const all =
    full.runs === 0 ? '' : `, ${timeOf(paced.screeningNsMax + full.runs * runsNs)} in all`;
  return (
    `an answer takes about ${timeOf(longestNs)} without load and ${timeOf(atBoundNs)} at TPOT ${formatNs(tpotNs)}: only after several of them ` +
    `do as many run at once as a load makes. So screenings may take ${timeOf(paced.screeningNsMax)} together${runs}${all}, less where answers stay faster`
  );
}

function timeOf(ns: number): string {
  return formatNs(Number(ns.toPrecision(3)));
}

function medianOf(figures: NonNullable<PeakProbe['tokens']>['tpot'] | undefined): number {
  return figures?.find(({ percentile }) => percentile === 0.5)?.valueNs ?? 0;
}

/** Bounds, or answers, that pass until a queue has filled, and the largest share of a probe that is left out for it. */
const FILLING_BOUNDS = 3;
const FILLING_SHARE_MAX = 0.2;
/** Of a token model: answers, and the share; at its end the last ones run beside fewer and fewer. */
export const FILLING_ANSWERS = 2;
const FILLING_ANSWERS_SHARE_MAX = 0.4;
const EMPTYING_SHARE_MAX = 0.2;

/**
 * Answers that generate at once share their steps, so that they are late together: a batch of their queries has those of so much of an
 * answer at least. With shorter ones, as 32 batches of a step of the bracket would be, intervals are too narrow where lengths of answers vary.
 */
const BATCH_ANSWERS = 0.3;
/** But so many batches are left. */
const BATCHES_MIN = 5;

/**
 * Queries of a batch at least, for the variance of the share that is late.
 * @param count Queries that are cut into batches: those of {@link steadyPart} of a short run.
 * @param meanNs Of an answer.
 */
export function batchQueries(
  count: number,
  perSecond: number,
  { tpotNs }: Pick<BoundTimes, 'tpotNs'>,
  meanNs: number,
): number {
  if (tpotNs === undefined) return BATCH_QUERIES_MIN;
  const ofAnswers = Math.ceil((perSecond * meanNs * BATCH_ANSWERS) / 1e9);
  const most = Math.ceil(count / BATCHES_MIN);
  return Math.max(BATCH_QUERIES_MIN, Math.min(ofAnswers, most));
}

/** The queries of a short run between those in which its queue, which starts empty, fills and those of a token model in which it empties. */
export function steadyPart(
  timesNs: Float64Array,
  perSecond: number,
  { boundNs, tpotNs }: BoundTimes,
  meanNs: number,
): Float64Array {
  const count = timesNs.length;
  const within = (ns: number, share: number): number =>
    Math.floor(Math.min((perSecond * ns) / 1e9, count * share));
  if (tpotNs === undefined) {
    return timesNs.subarray(within(boundNs * FILLING_BOUNDS, FILLING_SHARE_MAX));
  }
  const fillingNs = Math.max(boundNs * FILLING_BOUNDS, meanNs * FILLING_ANSWERS);
  return timesNs.subarray(
    within(fillingNs, FILLING_ANSWERS_SHARE_MAX),
    count - within(meanNs, EMPTYING_SHARE_MAX),
  );
}
