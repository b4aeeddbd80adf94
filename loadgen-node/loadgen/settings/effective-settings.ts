import type { Scenario, TestMode } from '../../../shared/domain/scenario.ts';
import type { LoadgenBehaviour } from './loadgen-behaviour.ts';
import type { TestSettings } from './test-settings.ts';

/** What a run makes of the requested settings (LoadGen: test_settings_internal.h). */
export interface EffectiveSettings {
  readonly scenario: Scenario;
  readonly mode: TestMode;
  readonly samplesPerQuery: number;
  readonly targetQps: number;
  /** Server only, else 0. */
  readonly targetLatencyNs: number;
  readonly targetLatencyPercentile: number;
  readonly maxAsyncQueries: number;
  /** Duration for which queries are generated and issued; 0 in Offline. */
  readonly targetDurationMs: number;
  /** Duration that validity asks for. */
  readonly minDurationMs: number;
  readonly maxDurationMs: number;
  readonly minQueryCount: number;
  readonly maxQueryCount: number;
  readonly minSampleCount: number;
  readonly qslRngSeed: bigint;
  readonly sampleIndexRngSeed: bigint;
  readonly scheduleRngSeed: bigint;
  readonly accuracyLogRngSeed: bigint;
  readonly accuracyLogProbability: number;
  readonly accuracyLogSamplingTarget: number;
  readonly printTimestamps: boolean;
  readonly performanceIssueUnique: boolean;
  readonly performanceIssueSame: boolean;
  readonly performanceIssueSameIndex: number;
  readonly performanceSampleCount: number;
  readonly accuracySampleCount: number;
  readonly sampleConcatenatePermutation: boolean;
  /** As requested: LoadGen logs none of these as effective. */
  readonly useTokenLatencies: boolean;
  readonly serverTtftLatencyNs: number;
  readonly serverTpotLatencyNs: number;
  readonly inferTokenLatencies: boolean;
  readonly tokenLatencyScalingFactor: number;
  readonly serverCoalesceQueries: boolean;
  /** Round v0.5's MultiStream: ns between two queries; else 0. */
  readonly arrivalIntervalNs: number;
  readonly hasEarlyStopping: boolean;
  readonly findPeakDecimalsOfPrecision: number;
  readonly findPeakBoundaryStepSize: number;
  /** 1 or more; above 1 in Server only. */
  readonly issueThreadCount: number;
}

/** Counts of the sample library that the effective settings depend on. */
export interface LibraryCounts {
  readonly totalSampleCount: number;
  readonly performanceSampleCount: number;
}

/** Effective settings, and what LoadGen would log as errors while it goes on. */
export interface DerivedSettings {
  readonly effective: EffectiveSettings;
  readonly settingErrors: readonly string[];
}

/** Derives the effective settings (LoadGen: TestSettingsInternal). Pure. */
export function deriveEffectiveSettings(
  requested: TestSettings,
  library: LibraryCounts,
  loadgen: LoadgenBehaviour,
): DerivedSettings {
  const settingErrors: string[] = [];
  const byScenario = deriveByScenario(requested, settingErrors);
  const performanceSampleCount =
    requested.performanceSampleCountOverride || library.performanceSampleCount;
  const accuracyOverride = loadgen.knowsAccuracySampleCount
    ? requested.accuracySampleCountOverride
    : 0;
  const queries = deriveQueryCounts(requested, byScenario.targetQps, {
    performanceSampleCount,
    libraryPerformanceCount: library.performanceSampleCount,
  });
  if (
    requested.performanceIssueSame &&
    requested.performanceIssueSameIndex >= performanceSampleCount
  ) {
    settingErrors.push(
      'performance_issue_same_index must be below performance_sample_count. ' +
        `requested: ${requested.performanceIssueSameIndex} count: ${performanceSampleCount}`,
    );
  }
  if (requested.performanceIssueUnique && requested.performanceIssueSame) {
    settingErrors.push('performance_issue_unique and performance_issue_same exclude each other.');
  }
  const effective: EffectiveSettings = {
    scenario: requested.scenario,
    mode: requested.mode,
    ...byScenario,
    ...queries,
    minDurationMs: requested.minDurationMs,
    maxDurationMs: requested.maxDurationMs,
    maxQueryCount: requested.maxQueryCount,
    minSampleCount: queries.minQueryCount * queries.samplesPerQuery,
    qslRngSeed: requested.qslRngSeed,
    sampleIndexRngSeed: requested.sampleIndexRngSeed,
    scheduleRngSeed: requested.scheduleRngSeed,
    accuracyLogRngSeed: requested.accuracyLogRngSeed,
    accuracyLogProbability: requested.accuracyLogProbability,
    accuracyLogSamplingTarget: requested.accuracyLogSamplingTarget,
    printTimestamps: requested.printTimestamps,
    performanceIssueUnique: requested.performanceIssueUnique,
    performanceIssueSame: requested.performanceIssueSame,
    performanceIssueSameIndex: requested.performanceIssueSameIndex,
    performanceSampleCount,
    accuracySampleCount: accuracyOverride || library.totalSampleCount,
    sampleConcatenatePermutation: requested.sampleConcatenatePermutation,
    useTokenLatencies: requested.useTokenLatencies,
    serverTtftLatencyNs: requested.serverTtftLatencyNs,
    serverTpotLatencyNs: requested.serverTpotLatencyNs,
    inferTokenLatencies: requested.inferTokenLatencies,
    tokenLatencyScalingFactor: requested.tokenLatencyScalingFactor,
    serverCoalesceQueries: requested.scenario === 'Server' && requested.serverCoalesceQueries,
    arrivalIntervalNs:
      requested.scenario === 'MultiStream' && loadgen.multiStreamArrivals === 'interval'
        ? Math.trunc(requested.multiStreamExpectedLatencyNs)
        : 0,
    hasEarlyStopping: loadgen.hasEarlyStopping,
    findPeakDecimalsOfPrecision: requested.serverFindPeakQpsDecimalsOfPrecision,
    findPeakBoundaryStepSize: requested.serverFindPeakQpsBoundaryStepSize,
    issueThreadCount:
      requested.scenario === 'Server' ? Math.max(1, requested.serverNumIssueQueryThreads) : 1,
  };
  return { effective, settingErrors };
}

type ScenarioPart = Pick<
  EffectiveSettings,
  'targetQps' | 'targetLatencyNs' | 'targetLatencyPercentile' | 'maxAsyncQueries'
>;

function deriveByScenario(requested: TestSettings, settingErrors: string[]): ScenarioPart {
  switch (requested.scenario) {
    case 'SingleStream':
      return {
        targetQps: 1e9 / requested.singleStreamExpectedLatencyNs,
        targetLatencyNs: 0,
        targetLatencyPercentile: requested.singleStreamTargetLatencyPercentile,
        maxAsyncQueries: 1,
      };
    case 'MultiStream':
      return {
        targetQps: 1e9 / requested.multiStreamExpectedLatencyNs,
        targetLatencyNs: 0,
        targetLatencyPercentile: requested.multiStreamTargetLatencyPercentile,
        maxAsyncQueries: 1,
      };
    case 'Server':
      return {
        targetQps: nonNegativeQps('server_target_qps', requested.serverTargetQps, settingErrors),
        targetLatencyNs: requested.serverTargetLatencyNs,
        targetLatencyPercentile: requested.serverTargetLatencyPercentile,
        maxAsyncQueries: requested.serverMaxAsyncQueries,
      };
    case 'Offline':
      return {
        targetQps: nonNegativeQps(
          'offline_expected_qps',
          requested.offlineExpectedQps,
          settingErrors,
        ),
        targetLatencyNs: 0,
        targetLatencyPercentile: 0.99,
        maxAsyncQueries: 1,
      };
  }
}

function nonNegativeQps(key: string, requestedQps: number, settingErrors: string[]): number {
  if (requestedQps >= 0) return requestedQps;
  settingErrors.push(`Invalid value for ${key} requested. requested: ${requestedQps} using: 1`);
  return 1;
}

type QueryPart = Pick<EffectiveSettings, 'samplesPerQuery' | 'minQueryCount' | 'targetDurationMs'>;

/** Offline turns the wanted duration and the least count into the size of its one query. */
function deriveQueryCounts(
  requested: TestSettings,
  targetQps: number,
  counts: { readonly performanceSampleCount: number; readonly libraryPerformanceCount: number },
): QueryPart {
  const targetDurationMs = requested.minDurationMs;
  if (requested.scenario === 'Offline') {
    const expectedSamples = Math.trunc(1.1 * (targetDurationMs / 1000) * targetQps);
    return {
      samplesPerQuery: requested.performanceIssueUnique
        ? counts.performanceSampleCount
        : Math.max(requested.minQueryCount, expectedSamples),
      minQueryCount: 1,
      targetDurationMs: 0,
    };
  }
  if (requested.scenario === 'MultiStream') {
    const samplesPerQuery = requested.multiStreamSamplesPerQuery;
    return { samplesPerQuery, minQueryCount: requested.minQueryCount, targetDurationMs };
  }
  if (requested.scenario === 'SingleStream' && requested.sampleConcatenatePermutation) {
    const expectedQueries = Math.trunc(2 * (targetDurationMs / 1000) * targetQps);
    const leastQueries = Math.max(requested.minQueryCount, expectedQueries);
    // LoadGen takes the library's count, not the override, and adds a whole set to a whole multiple.
    const setSize = counts.libraryPerformanceCount;
    const minQueryCount = leastQueries + setSize - (leastQueries % setSize);
    return { samplesPerQuery: 1, minQueryCount, targetDurationMs };
  }
  return { samplesPerQuery: 1, minQueryCount: requested.minQueryCount, targetDurationMs };
}
