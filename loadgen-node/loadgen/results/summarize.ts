import { formatExactNs } from '../../../shared/base/text.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';
import { formatGeneral, percentileLabel } from '../base/number-format.ts';
import type { RecordedTokens } from '../recorder/recording.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { earlyStoppingOf, NO_EARLY_STOPPING } from './early-stopping.ts';
import { countAbove, latencyStatistics, percentileOf } from './latency-statistics.ts';
import {
  type PerformanceSummary,
  type RunRates,
  summarizeArrivals,
} from './performance-summary.ts';
import {
  ALWAYS_MET,
  joinEarlyStopping,
  summarizeTokens,
  type ValidityItem,
} from './token-summary.ts';

/** What was measured in a performance run. */
export interface Measurements {
  /** Counted one by one, coalesced or not. */
  readonly queryCount: number;
  /** Latencies of the completed samples in ns, any order. */
  readonly sampleLatenciesNs: Float64Array;
  /** MultiStream: latencies of the completed queries in ns, any order; else empty. */
  readonly queryLatenciesNs: Float64Array;
  /** Latest completion of a sample after its schedule, in s. */
  readonly maxLatencyS: number;
  /** The query that was issued last, in s since the start. It need not be the last to complete. */
  readonly finalQuery: {
    readonly scheduledS: number;
    readonly issuedS: number;
    readonly allDoneS: number;
  };
  /** Token models only. */
  readonly tokens: RecordedTokens | null;
  /** Queries in fixed intervals (round v0.5): those that each query took; else null or absent. */
  readonly intervalsTaken?: Float64Array | null;
}

/**
 * Turns measurements into results and LoadGen's verdict (LoadGen: results.cc). Pure, but that the
 * latencies are sorted where they lie: copies would double the memory of a long run.
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
          tokens: measured.tokens,
          sampleCount: samplesNs.length,
          meanLatencyNs: sampleLatency.meanNs,
          maxLatencyS: measured.maxLatencyS,
          finalIssuedS: measured.finalQuery.issuedS,
          finalDoneS: measured.finalQuery.allDoneS,
          queriesNs,
        });
  const earlyStopping =
    tokens !== null
      ? joinEarlyStopping(tokens.summary)
      : settings.hasEarlyStopping
        ? earlyStoppingOf({ ...shared, queriesNs }, samplesNs, settings.targetLatencyNs)
        : NO_EARLY_STOPPING;
  const arrivals = measured.intervalsTaken
    ? summarizeArrivals(measured.intervalsTaken, settings)
    : null;
  const validity = {
    minDuration: evaluateMinDuration(measured, settings),
    minQueries: evaluateMinQueries(measured, settings),
    performance: tokens?.bounds ?? arrivals?.bound ?? evaluateLatencyBound(targetNs, settings),
    earlyStopping,
  };
  const { scenario } = settings;
  const rates = {
    ...runRates(scenario, { ...measured, completedSamples: samplesNs.length }),
    withoutOverhead: scenario === 'SingleStream' ? 1 / (sampleLatency.meanNs / 1e9) : 0,
  };
  return {
    scenario: settings.scenario,
    queryCount: measured.queryCount,
    completedSampleCount: samplesNs.length,
    sampleLatency,
    queryLatency: isMultiStream ? latencyStatistics(queriesNs) : null,
    target: { percentile, valueNs: targetNs },
    overlatencyCount:
      settings.scenario === 'Server' ? countAbove(samplesNs, settings.targetLatencyNs) : 0,
    rates,
    tokens: tokens?.summary ?? null,
    arrivals: arrivals?.summary ?? null,
    inferredTokensPerSecond: inferTokens(rates, settings),
    validity,
    isValid:
      validity.minDuration.isMet &&
      validity.minQueries.isMet &&
      validity.performance.isMet &&
      earlyStopping.isMet,
  };
}

/** What LoadGen's rates are made of. */
export interface RateInput {
  readonly completedSamples: number;
  readonly maxLatencyS: number;
  readonly finalQuery: Measurements['finalQuery'];
}

/** LoadGen's rates per second; that of a scenario which does not know it is 0. Below 0 or not finite where nothing completed. */
export function runRates(
  scenario: Scenario,
  { completedSamples: count, maxLatencyS, finalQuery }: RateInput,
): Omit<RunRates, 'withoutOverhead'> {
  const { scheduledS, issuedS, allDoneS } = finalQuery;
  const isServer = scenario === 'Server';
  const offlineRate = scenario === 'Offline' ? count / maxLatencyS : 0;
  return {
    withOverhead: scenario === 'SingleStream' ? (count - 1) / issuedS : 0,
    scheduled: isServer ? (count - 1) / scheduledS : 0,
    completed: isServer ? (count - 1) / allDoneS : offlineRate,
  };
}

function inferTokens(
  { completed }: RunRates,
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
    needed: `${formatGeneral(neededS)} s`,
    seen: `${formatGeneral(seenS)} s`,
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
  const sampleCount = measured.sampleLatenciesNs.length;
  const isMet =
    measured.queryCount >= settings.minQueryCount && sampleCount >= settings.minSampleCount;
  return {
    isMet,
    needed: `${settings.minQueryCount} queries, ${settings.minSampleCount} samples`,
    seen: `${measured.queryCount} queries, ${sampleCount} samples`,
    recommendation: isMet
      ? ''
      : 'The test exited early, before enough queries were issued.\n' +
        'See the detailed log for why this may have occurred.',
  };
}

function evaluateLatencyBound(targetNs: number, settings: EffectiveSettings): ValidityItem {
  if (settings.scenario !== 'Server') {
    return ALWAYS_MET;
  }
  const isMet = targetNs <= settings.targetLatencyNs;
  return {
    isMet,
    needed:
      `${percentileLabel(settings.targetLatencyPercentile, 2)}th percentile latency of ` +
      `${formatExactNs(settings.targetLatencyNs)} or less`,
    seen: formatExactNs(targetNs),
    recommendation: isMet ? '' : 'Reduce target QPS to improve latency.',
  };
}
