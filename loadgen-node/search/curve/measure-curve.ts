import { at } from '../../../shared/base/at.ts';
import { formatNs } from '../../../shared/base/text.ts';
import { LARGE_LAG } from '../../loadgen/engine/generator-bound.ts';
import { percentileOf } from '../../loadgen/results/latency-statistics.ts';
import { likelyGrowth } from '../../loadgen/results/queue-growth.ts';
import type { BoundTimes } from '../../loadgen/settings/query-bounds.ts';
import {
  keepsBound,
  type LoadPoint,
  type LoadUnit,
  missedBounds,
} from '../../present/curve/load-point.ts';
import { clock } from '../../present/text/figure-text.ts';
import { tokenFigures } from '../peak/find-peak.ts';
import { meanOf, Z_95 } from '../peak/over-share.ts';
import { batchQueries, FILLING_ANSWERS, steadyPart } from '../peak/pace.ts';
import type { ProbeOutcome, ProbeSpec, ProbeTokens } from '../peak/peak-search.ts';
import { percentileIntervals } from '../peak/percentile-intervals.ts';
import { BacklogWatch } from '../peak/screening.ts';

/** Loads and bounds of a curve. */
export interface CurveQuest extends BoundTimes {
  readonly unit: LoadUnit;
  /** Null: rates are found by doubling. */
  readonly loads: readonly number[] | null;
  /** Duration of each point, in ns. */
  readonly durationNs: number;
  readonly minQueries: number;
  readonly rateMax: number;
  /** Share of a latency that p99 of LoadGen's own lag may reach. */
  readonly lagShareMax: number;
}

/** First rate as a share of the rate of queries sent one at a time. */
const FIRST_SHARE = 0.25;
/** Number of rates between the last that the SUT kept up with and the first that it did not. */
const BETWEEN = 3;
/** If LoadGen was late, it did not reach a rate below this share of it. */
const REACHED_SHARE = 0.8;
/** Most rates tried. */
const RATES_MAX = 24;

/**
 * The next load of a curve; null if there is none. It follows from the points alone, so an
 * interrupted curve continues exactly.
 * @param unloadedNs Mean latency of queries sent one at a time, in ns; needed to find rates by
 *   doubling.
 */
export function nextLoad(
  quest: CurveQuest,
  points: readonly LoadPoint[],
  unloadedNs: number | null,
): number | null {
  const isMeasured = (load: number): boolean => points.some((point) => point.load === load);
  if (quest.loads !== null) return quest.loads.find((load) => !isMeasured(load)) ?? null;
  if (unloadedNs === null || points.length >= RATES_MAX) return null;
  // In measured order: first by doubling, then between its last two rates.
  const end = points.findIndex((point, i) => isBroken(quest, points.slice(0, i), point));
  if (end < 0) {
    const last = points.at(-1);
    const next = last === undefined ? (FIRST_SHARE * 1e9) / unloadedNs : last.load * 2;
    return next > quest.rateMax ? null : Number(next.toPrecision(2));
  }
  const low = points[end - 1]?.load ?? 0;
  const high = at(points, end).load;
  const between = Array.from({ length: BETWEEN }, (_, i) =>
    Number((low + ((high - low) * (i + 1)) / (BETWEEN + 1)).toPrecision(3)),
  );
  return between.find((load) => !isMeasured(load)) ?? null;
}

/** True if the rate was not reached any more, or if the bound broke after rates that kept it. */
function isBroken(quest: CurveQuest, before: readonly LoadPoint[], point: LoadPoint): boolean {
  const { load, scheduledPerSecond, samplesPerSecond, isGeneratorBound } = point;
  if (point.isOverloaded || point.lostSamples > 0) return true;
  // A disturbed LoadGen may recover: it is the limit only if it does not reach the rate.
  if (isGeneratorBound) return samplesPerSecond < REACHED_SHARE * (scheduledPerSecond ?? load);
  return before.some((one) => keepsBound(quest, one)) && keepsBound(quest, point) === false;
}

/**
 * Minimum duration of a token model's point, as a multiple of the longest response so far. The
 * load's number of concurrent responses is reached only after the time of a few responses.
 */
const ANSWERS = 20;
/** A point that is shorter than this many of its mean responses is repeated with more time. */
const ANSWERS_MIN = 8;

/**
 * Planned duration of a point, in ns. @param answerNs For a token model the longest mean response
 * so far, else 0.
 */
export function pointNs(
  { unit, durationNs, minQueries }: CurveQuest,
  load: number,
  answerNs = 0,
): number {
  const leastNs = Math.max(durationNs, ANSWERS * answerNs);
  return unit === 'queries/s' ? Math.max(leastNs, (minQueries / load) * 1e9) : leastNs;
}

/** Usual number of points of a curve found by doubling. */
export const USUAL_POINTS = 10;

/** Planned duration of all points, in ns. @param answerNs As in {@link pointNs} */
export function allPointsNs(quest: CurveQuest, answerNs = 0): number {
  const { loads, durationNs } = quest;
  if (loads === null) return USUAL_POINTS * Math.max(durationNs, ANSWERS * answerNs);
  return loads.reduce((sum, load) => sum + pointNs(quest, load, answerNs), 0);
}

/**
 * Text on the duration of a curve, given its first responses; undefined if no longer than planned.
 */
export function answersNote(quest: CurveQuest, unloadedNs: number): string | undefined {
  const allNs = allPointsNs(quest, unloadedNs);
  if (quest.tpotNs === undefined || allNs <= allPointsNs(quest)) return undefined;
  const about = (ns: number): string => formatNs(Number(ns.toPrecision(3)));
  return (
    `an answer takes about ${about(unloadedNs)} without load, longer beside others: a point lasts ${ANSWERS} answers, ` +
    `${about(ANSWERS * unloadedNs)} or more, and all of them ${clock(allNs / 1e9)} min or more`
  );
}

/**
 * Longest mean response so far, for {@link pointNs}, without points whose queue grew: their
 * responses include waiting.
 */
export function longestAnswerNs(
  { tpotNs }: CurveQuest,
  points: readonly LoadPoint[],
  unloadedNs: number | null,
): number {
  if (tpotNs === undefined) return 0;
  const answers = points.filter(({ isOverloaded }) => !isOverloaded).map(({ meanNs }) => meanNs);
  return Math.max(unloadedNs ?? 0, ...answers);
}

/**
 * True if responses took so long that the load's number of concurrent responses was not reached.
 */
export function hasFewAnswers(
  { tpotNs }: CurveQuest,
  { durationNsMax = 0 }: ProbeSpec,
  { isOverloaded, lostSamples, meanNs }: LoadPoint,
): boolean {
  const isWhole = !isOverloaded && lostSamples === 0;
  return tpotNs !== undefined && isWhole && durationNsMax < ANSWERS_MIN * meanNs;
}

/** Parameters for running a point. */
export function pointSpec(
  quest: CurveQuest,
  load: number,
  number: number,
  answerNs = 0,
): { readonly spec: ProbeSpec; readonly watch: BacklogWatch } {
  const watch = new BacklogWatch(quest.boundNs);
  const durationNsMax = pointNs(quest, load, answerNs);
  const base = { kind: 'screening', load, number, durationNsMax } as const;
  if (quest.unit === 'queries at a time') return { spec: { ...base, concurrency: load }, watch };
  const isDecided: ProbeSpec['isDecided'] = (seen) => watch.look(seen);
  return { spec: { ...base, isDecided, goesOnAfterLoss: true }, watch };
}

/** Turns a run into a point of the curve. */
export function pointOf(
  quest: CurveQuest,
  { load, number }: Pick<ProbeSpec, 'load' | 'number'>,
  outcome: ProbeOutcome,
  hasBacklog: boolean,
): LoadPoint {
  const { percentile } = quest;
  const { end, samplesPerSecond, lagP99Ns } = outcome;
  const isClosedLoop = quest.unit === 'queries at a time';
  const answerNs = meanOf(outcome.latenciesNs);
  const settled = (timesNs: Float64Array) => steadyPart(timesNs, samplesPerSecond, quest, answerNs);
  const latenciesNs = settled(outcome.latenciesNs);
  const batchMin = batchQueries(latenciesNs.length, samplesPerSecond, quest, answerNs);
  const tokens = outcome.tokens && {
    perSecond: isClosedLoop
      ? outcome.tokens.perSecond
      : steadyTokens(outcome, outcome.tokens, answerNs),
    firstNs: settled(outcome.tokens.firstNs),
    perOutputNs: settled(outcome.tokens.perOutputNs),
  };
  const growth = isClosedLoop ? null : likelyGrowth(latenciesNs, outcome.scheduledPerSecond);
  // In an overloaded queue LoadGen's lag may be a small part of latency but a large part of the
  // bound.
  const ownNs = percentileOf((tokens?.firstNs ?? latenciesNs).slice().sort(), percentile);
  const isLate = isClosedLoop || lagP99Ns > quest.lagShareMax * ownNs;
  const isGeneratorBound = end.isGeneratorBound && isLate;
  // A queue that grows because LoadGen is late is LoadGen's.
  const isOverloaded = !isGeneratorBound && (hasBacklog || growth !== null);
  const mean = meanOf(latenciesNs);
  const point = {
    number,
    load,
    samplesPerSecond,
    isGeneratorBound,
    isOverloaded,
    lagP99Ns: isClosedLoop ? 0 : lagP99Ns,
    scheduledPerSecond: isClosedLoop ? null : outcome.scheduledPerSecond,
    rateInterval: isClosedLoop ? rateInterval(latenciesNs, samplesPerSecond) : null,
    queries: latenciesNs.length,
    lostSamples: end.counts.lostSamples,
    latencies: percentileIntervals(latenciesNs, percentile, batchMin),
    tokens: tokens === undefined ? null : tokenFigures(tokens, percentile, batchMin),
    goodput: outcome.goodput ?? null,
    meanNs: mean,
    durationNs: end.durationNs,
    ...(outcome.others !== undefined && { others: outcome.others }),
  };
  return {
    ...point,
    explanation: explanationOf(quest, point, outcome),
    why: whyOf(point, end, growth),
  };
}

/** Split texts for the bounds that the point misses; for all bounds if it misses none. */
function explanationOf(
  quest: CurveQuest,
  point: Pick<LoadPoint, 'latencies' | 'tokens'>,
  { explanation, explanations = {} }: ProbeOutcome,
): string | null {
  const missed = missedBounds(quest, point).flatMap(({ name }) => explanations[name] ?? []);
  return missed.length === 0 ? (explanation ?? null) : missed.join(' ');
}

/**
 * Tokens per second from the time when the load's number of concurrent responses is reached to the
 * last arrival. A response's tokens are assumed evenly spread from its first token to its end, and
 * its arrival at its scheduled time.
 */
function steadyTokens(
  { latenciesNs, scheduledPerSecond }: ProbeOutcome,
  { firstNs, perOutputNs, perSecond }: ProbeTokens,
  answerNs: number,
): number {
  if (scheduledPerSecond === null) return perSecond;
  const betweenNs = 1e9 / scheduledPerSecond;
  const toNs = latenciesNs.length * betweenNs;
  const fromNs = FILLING_ANSWERS * answerNs;
  if (fromNs >= toNs) return perSecond;
  let tokens = 0;
  latenciesNs.forEach((latencyNs, i) => {
    const generatingNs = latencyNs - (firstNs[i] as number);
    const perTokenNs = perOutputNs[i] as number;
    if (!(generatingNs > 0 && perTokenNs > 0)) return;
    const endNs = i * betweenNs + latencyNs;
    const beginNs = endNs - generatingNs;
    const insideNs = Math.max(0, Math.min(endNs, toNs) - Math.max(beginNs, fromNs));
    tokens += (generatingNs / perTokenNs + 1) * (insideNs / generatingNs);
  });
  return (tokens / (toNs - fromNs)) * 1e9;
}

/**
 * Interval of a closed loop's rate. Each query is followed by the next, so throughput is
 * concurrency / mean latency (Little's law), and as uncertain as that mean: from batch means.
 */
function rateInterval(latenciesNs: Float64Array, samplesPerSecond: number) {
  const count = latenciesNs.length;
  if (count < MEAN_QUERIES_MIN) return null;
  const mean = meanOf(latenciesNs);
  const size = Math.ceil(count / MEAN_BATCHES);
  const means: number[] = [];
  for (let begin = 0; begin + size <= count; begin += size) {
    means.push(meanOf(latenciesNs.subarray(begin, begin + size)));
  }
  const variance = means.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (means.length - 1);
  const share = (Z_95 * Math.sqrt(variance / means.length)) / mean;
  return { low: samplesPerSecond / (1 + share), high: samplesPerSecond / Math.max(1 - share, 0.1) };
}

const MEAN_BATCHES = 32;
/** Fewest queries for useful batch means. */
const MEAN_QUERIES_MIN = 128;

function whyOf(
  point: Pick<LoadPoint, 'isGeneratorBound' | 'isOverloaded' | 'lostSamples' | 'lagP99Ns'>,
  { generatorBoundReason, counts, faultText }: ProbeOutcome['end'],
  growth: number | null,
): string {
  const { isGeneratorBound, isOverloaded, lostSamples, lagP99Ns } = point;
  if (lostSamples > 0) {
    const first = faultText === null ? '' : ` (first: ${faultText})`;
    return `${lostSamples} of ${counts.issuedSamples} samples lost${first}`;
  }
  if (isGeneratorBound) {
    const isLag = generatorBoundReason === '' || generatorBoundReason.startsWith(LARGE_LAG);
    const reason = isLag ? `p99 of its lag is ${formatNs(lagP99Ns)}` : generatorBoundReason;
    return `LoadGen was the limit: ${reason}`;
  }
  if (!isOverloaded) return '';
  const excess = growth === null ? '' : ` by ${formatNs(Math.round(growth * 1e9))} a second`;
  return `not kept up with: the queue grew${excess}`;
}
