import { formatNs } from '../../../shared/base/text.ts';
import type { BoundTimes } from '../../loadgen/settings/query-bounds.ts';
import { BATCH_QUERIES_MIN } from './over-share.ts';
import type { LoadSearch, PeakProbe } from './peak-search.ts';

/**
 * Necessary durations of probes. A growing queue shows within some multiples of the bound. A token
 * model needs the time of a few responses until the load's number of concurrent sequences is
 * reached, and a response lasts 10 to 100 times the first-token bound.
 */

/**
 * Unit of probe durations: the latency bound. For a token model, the unit is at least this share of
 * a response. A full run lasts 50 units, a bracket step 10.
 */
const ANSWER_SHARE = 0.6;
/**
 * A response is expected to last at most this many times the longest response seen: the next load
 * is at most twice the last one.
 */
const SLOWER_MAX = 2;

/**
 * Shortest full run, in units. With a load that is too high by some share, the latency of an
 * initially empty queue passes the bound after bound / share. A load 2 % too high thus ends such a
 * run above the bound, even if the growth of the queue is not detected.
 */
export const RUN_BOUNDS_MIN = 50;
/**
 * Shortest total of all screenings, in units: bracket steps of 10 units each, and two screenings as
 * long as a full run.
 */
const SCREENING_BOUNDS_MIN = 200;

/**
 * The search with full runs and screenings long enough for its bound, or for another unit. A search
 * at fixed intervals stays as it is, because its bound is short.
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

/** A search with the time scale that its probes show so far. */
export interface PacedSearch extends LoadSearch {
  /** Unit of probe durations. */
  readonly paceNs: number;
  /** Longest response near the limit, in ns; 0 without a token model, or without a response. */
  readonly answerNs: number;
}

/** The search with durations that fit the responses seen. They depend on the probes alone. */
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

/**
 * Duration of a search with these probes, in ns: all screenings, then the runs that confirm one
 * load. Many end earlier.
 */
export function searchNs(requested: LoadSearch, probes: readonly PeakProbe[] = []): number {
  const { screeningNsMax, full } = pacedSearch(requested, probes);
  return screeningNsMax + full.runs * full.minDurationNs;
}

/**
 * Remaining duration of a search, in ns: remaining screening time, then the runs that confirm one
 * load. After the first of those there are no more screenings.
 */
export function searchLeftNs(requested: LoadSearch, probes: readonly PeakProbe[]): number {
  const { screeningNsMax, full } = pacedSearch(requested, probes);
  const fulls = probes.filter(({ kind }) => kind === 'full');
  const doneNs = probes.reduce((sum, { durationNs }) => sum + durationNs, 0);
  const screeningNs = fulls.length === 0 ? Math.max(0, screeningNsMax - doneNs) : 0;
  return screeningNs + Math.max(0, full.runs - fulls.length) * full.minDurationNs;
}

/** Responses in probes, without full runs, so that all have the same duration. In ns. */
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
  /** Duration of a response at the bound of time per token, and the longest mean of a probe. */
  return { atBoundNs: queries === 0 ? 0 : sumNs / queries, longestNs };
}

/**
 * Text on a search's duration given its responses; undefined if no longer than planned, or if it
 * ends here.
 */
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

/**
 * Bounds, or responses, until a queue has filled, and the largest share of a probe left out for it.
 */
const FILLING_BOUNDS = 3;
const FILLING_SHARE_MAX = 0.2;
/**
 * Token model: responses and share; at its end the last responses run with decreasing concurrency.
 */
export const FILLING_ANSWERS = 2;
const FILLING_ANSWERS_SHARE_MAX = 0.4;
const EMPTYING_SHARE_MAX = 0.2;

/**
 * Concurrent responses share their steps, so they are late together: a batch must cover at least
 * this part of a response. With shorter batches, such as 32 in a bracket step, intervals are too
 * narrow if response lengths vary.
 */
const BATCH_ANSWERS = 0.3;
/** Fewest batches left. */
const BATCHES_MIN = 5;

/**
 * Fewest queries per batch, for the variance of the late share.
 * @param count Queries to divide into batches: for a short run those of {@link steadyPart}.
 * @param meanNs Mean duration of a response.
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

/** Queries of a short run after its queue has filled and, for a token model, before it empties. */
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
