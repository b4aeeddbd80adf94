import { counted, formatBeside, formatExactNs, formatNs } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { boundsOfLanes } from '../settings/lanes.ts';
import { boundsOfServer, namedBounds } from '../settings/query-bounds.ts';
import { judgeBounds, judgeLane, type LaneResult, performanceRule } from './bound-verdicts.ts';
import { type EarlyStopping, earlyStoppingOf, NO_EARLY_STOPPING } from './early-stopping.ts';
import {
  countAbove,
  type LatencyStatistics,
  latencyStatistics,
  percentileOf,
} from './latency-statistics.ts';
import type { Measurements, ValidityItem } from './measurements.ts';
import { summarizeTokens, type TokenSummary } from './token-summary.ts';

/**
 * Turns measurements into results and LoadGen's verdict (LoadGen: results.cc). Pure, except that it
 * sorts the latencies in place: copies would double the memory of a long run. Lost samples are in
 * no figure: they have no latency and are not throughput.
 * @param labelDecimals Decimals of the target percentile in early stopping's texts.
 */
export function summarize(
  measured: Measurements,
  settings: EffectiveSettings,
  labelDecimals: 0 | 1,
): PerformanceSummary {
  const samplesNs = measured.sampleLatenciesNs.sort();
  const queriesNs = measured.queryLatenciesNs.sort();
  const isMultiStream = settings.scenario === 'MultiStream';
  const percentile = settings.targetLatencyPercentile;
  const targetNs = percentileOf(isMultiStream ? queriesNs : samplesNs, percentile);
  const sampleLatency = latencyStatistics(samplesNs);
  const shared = { settings, labelDecimals, queryCount: measured.queryCount };
  const tokens =
    measured.tokens === null
      ? null
      : summarizeTokens({
          ...shared,
          measured,
          tokens: measured.tokens,
          meanLatencyNs: sampleLatency.meanNs,
          queriesNs,
        });
  const earlyStopping =
    tokens !== null
      ? tokens.summary.earlyStopping
      : settings.hasEarlyStopping
        ? earlyStoppingOf({ ...shared, queriesNs }, samplesNs, settings.targetLatencyNs)
        : NO_EARLY_STOPPING;
  const arrivals = measured.intervalsTaken
    ? summarizeArrivals(measured.intervalsTaken, settings)
    : null;
  const { scenario } = settings;
  const none = new Float64Array(0);
  const times = { latency: samplesNs, ttft: none, tpot: none, ...tokens?.times };
  // LoadGen's own bounds are those of its settings, on tokens if these are set.
  const own = namedBounds(boundsOfServer({ ...settings, useTokenLatencies: tokens !== null }));
  const ofLoadgen = performanceRule(judgeBounds(scenario === 'Server' ? own : [], times));
  const validity = {
    minDuration: evaluateMinDuration(measured, settings),
    minQueries: evaluateMinQueries(measured, settings),
    performance: (tokens === null && arrivals?.bound) || ofLoadgen,
    earlyStopping,
  };
  const rates = {
    ...runRates(scenario, { ...measured, completedSamples: samplesNs.length }),
    withoutOverhead: scenario === 'SingleStream' ? 1 / (sampleLatency.meanNs / 1e9) : 0,
  };
  const lanes = settings.lanes.map((lane, i) =>
    judgeLane(lane, times, measured.ofLanes?.[i], tokens?.goodOfLanes?.[i]?.samples),
  );
  return {
    scenario,
    queryCount: measured.queryCount,
    completedSampleCount: samplesNs.length,
    sampleLatency,
    queryLatency: isMultiStream ? latencyStatistics(queriesNs) : null,
    target: { percentile, valueNs: targetNs },
    lanes,
    keepsBounds: [validity.performance, ...boundsOfLanes(lanes)].every(({ isMet }) => isMet),
    overlatencyCount: scenario === 'Server' ? countAbove(samplesNs, settings.targetLatencyNs) : 0,
    rates,
    answeredPerSecond:
      scenario === 'Server' ? answeredRate(samplesNs.length, measured.lastDoneS) : 0,
    tokens: tokens?.summary ?? null,
    arrivals: arrivals?.summary ?? null,
    inferredTokensPerSecond: inferTokens(rates.completed, settings),
    validity,
    isValid: Object.values(validity).every(({ isMet }) => isMet),
  };
}

/** Figures of a performance run and LoadGen's verdict: a plain value. */
export interface PerformanceSummary {
  readonly scenario: Scenario;
  readonly queryCount: number;
  readonly completedSampleCount: number;
  readonly sampleLatency: LatencyStatistics;
  /** MultiStream: latency of whole queries; else null. */
  readonly queryLatency: LatencyStatistics | null;
  /** Percentile of the scenario, 0 to 1, and the value at it (MultiStream: of queries). */
  readonly target: { readonly percentile: number; readonly valueNs: number };
  readonly lanes: readonly LaneResult[];
  /**
   * True if LoadGen's rule on its settings' bounds is met, and the bounds of all lanes are kept.
   */
  readonly keepsBounds: boolean;
  /** Server: samples above the latency bound; else 0. */
  readonly overlatencyCount: number;
  readonly rates: PerformanceRates;
  /** Server: {@link answeredRate}; elsewhere 0. */
  readonly answeredPerSecond: number;
  /** Token models: token results; else null. */
  readonly tokens: TokenSummary | null;
  /** Queries at fixed intervals (round v0.5's MultiStream): use of the intervals; else null. */
  readonly arrivals: IntervalsTaken | null;
  /** Tokens per second from a fixed number of tokens per sample (Server and Offline); else null. */
  readonly inferredTokensPerSecond: number | null;
  readonly validity: {
    readonly minDuration: ValidityItem;
    readonly minQueries: ValidityItem;
    /** Server: the latency bound at its percentile, or the token bounds. Always met elsewhere. */
    readonly performance: ValidityItem;
    readonly earlyStopping: EarlyStopping;
  };
  /** True if all four rules of LoadGen are met. */
  readonly isValid: boolean;
}

/** Rates up to the final query, per second; 0 for rates that the scenario lacks. */
export interface RunRates {
  /** SingleStream: queries per second, including LoadGen's own time. */
  readonly withOverhead: number;
  /** Server: samples per second by the schedule. */
  readonly scheduled: number;
  /** Server: completed samples per second. Offline: samples per second. */
  readonly completed: number;
}

interface PerformanceRates extends RunRates {
  /** SingleStream: queries per second from the mean latency alone. */
  readonly withoutOverhead: number;
}

/** Fixed intervals of a run, and the number skipped. */
export interface IntervalsTaken {
  readonly intervalNs: number;
  /** The round's metric: the largest count for which a run is valid. */
  readonly samplesPerQuery: number;
  /** Intervals in which no query could go out. */
  readonly skippedIntervals: number;
  /** Queries that caused a skipped interval. */
  readonly skippingQueries: number;
  /** Intervals that a query at the target percentile took; a run is valid with fewer than 2. */
  readonly targetIntervals: number;
}

/** Input of LoadGen's rates. */
export interface RateInput {
  readonly completedSamples: number;
  readonly maxLatencyS: number;
  readonly finalQuery: Measurements['finalQuery'];
}

/**
 * LoadGen's rates per second; 0 for rates that the scenario lacks. Negative or not finite if no
 * sample completed.
 */
export function runRates(
  scenario: Scenario,
  { completedSamples: count, maxLatencyS, finalQuery }: RateInput,
): RunRates {
  const { scheduledS, issuedS, allDoneS } = finalQuery;
  const isServer = scenario === 'Server';
  const offlineRate = scenario === 'Offline' ? count / maxLatencyS : 0;
  return {
    withOverhead: scenario === 'SingleStream' ? (count - 1) / issuedS : 0,
    scheduled: isServer ? (count - 1) / scheduledS : 0,
    completed: isServer ? (count - 1) / allDoneS : offlineRate,
  };
}

/**
 * Completed samples per second until the last completion; not a rate of LoadGen's. Like LoadGen's
 * scheduled rate it omits the first sample, so a SUT that answers everything does not exceed the
 * schedule.
 * @param count Completed samples.
 * @returns NaN if at most one sample completed: that is no rate.
 */
export function answeredRate(count: number, lastDoneS: number): number {
  return count > 1 ? (count - 1) / lastDoneS : Number.NaN;
}

/**
 * Counts and judges skipped intervals (v0.5: at most 1 % of the queries may cause one; LoadGen
 * v0.7's rule: at the target percentile a query takes less than 2 intervals). Pure.
 * @param intervals By query: intervals until the next query was due.
 */
function summarizeArrivals(intervals: Float64Array, settings: EffectiveSettings) {
  let skippedIntervals = 0;
  let skippingQueries = 0;
  for (const taken of intervals) {
    if (taken < 2) continue;
    skippedIntervals += taken - 1;
    skippingQueries += 1;
  }
  const targetIntervals = percentileOf(intervals.slice().sort(), settings.targetLatencyPercentile);
  const isMet = targetIntervals < 2;
  const label = percentileLabel(settings.targetLatencyPercentile, 2);
  return {
    summary: {
      intervalNs: settings.arrivalIntervalNs,
      samplesPerQuery: settings.samplesPerQuery,
      skippedIntervals,
      skippingQueries,
      targetIntervals,
    },
    bound: {
      isMet,
      needed: `less than 2 intervals of ${formatExactNs(settings.arrivalIntervalNs)} at the ${label}th percentile`,
      seen: `${targetIntervals} intervals (${skippingQueries} of ${intervals.length} queries caused a skip)`,
      recommendation: isMet ? '' : 'Reduce samples per query to improve latency.',
    },
  };
}

function inferTokens(
  completed: number,
  { inferTokenLatencies, tokenLatencyScalingFactor, scenario }: EffectiveSettings,
): number | null {
  const isOpen = scenario === 'Server' || scenario === 'Offline';
  return inferTokenLatencies && isOpen ? tokenLatencyScalingFactor * completed : null;
}

function evaluateMinDuration(measured: Measurements, settings: EffectiveSettings): ValidityItem {
  const neededS = settings.minDurationMs / 1000;
  const { seenS, advice } = durationByScenario(measured, settings);
  const isMet = seenS >= neededS;
  return {
    isMet,
    needed: formatNs(neededS * 1e9),
    seen: formatBeside(Math.round(seenS * 1e9), neededS * 1e9),
    recommendation: isMet ? '' : advice,
  };
}

function durationByScenario(
  { finalQuery, maxLatencyS }: Measurements,
  { scenario }: EffectiveSettings,
): { seenS: number; advice: string } {
  if (scenario === 'Offline') {
    return {
      seenS: maxLatencyS,
      advice: 'Increase expected QPS so the loadgen pre-generates a larger (coalesced) query.',
    };
  }
  if (scenario === 'Server') {
    return {
      seenS: finalQuery.scheduledS,
      advice: 'Increase the target QPS so the loadgen pre-generates more queries.',
    };
  }
  return {
    seenS: finalQuery.issuedS,
    advice: 'Decrease the expected latency so the loadgen pre-generates more queries.',
  };
}

function evaluateMinQueries(measured: Measurements, settings: EffectiveSettings): ValidityItem {
  const { scenario, minQueryCount, minSampleCount } = settings;
  const { queryCount } = measured;
  const sampleCount = measured.sampleLatenciesNs.length;
  const isMet = queryCount >= minQueryCount && sampleCount >= minSampleCount;
  // Offline's one query has all samples; where each query has one sample, both counts are equal.
  const isOfSamples = scenario === 'Offline';
  const isOfBoth = !isOfSamples && (sampleCount !== queryCount || minSampleCount !== minQueryCount);
  const inWords = (queries: number, samples: number): string =>
    [
      ...(isOfSamples ? [] : [counted(queries, 'query', 'queries')]),
      ...(isOfSamples || isOfBoth ? [counted(samples, 'sample')] : []),
    ].join(', ');
  return {
    isMet,
    needed: inWords(minQueryCount, minSampleCount),
    seen: inWords(queryCount, sampleCount),
    recommendation: isMet
      ? ''
      : 'The test exited early, before enough queries were issued.\n' +
        'See the detailed log for why this may have occurred.',
  };
}
