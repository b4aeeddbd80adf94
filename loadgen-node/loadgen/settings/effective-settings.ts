import { checkLanes, type Lane, type LaneRequest, ONE_LANE } from './lanes.ts';
import type { LoadgenBehaviour } from './loadgen-behaviour.ts';
import { boundsOfServer, namedBounds, type QueryBound } from './query-bounds.ts';
import type { TestSettings } from './test-settings.ts';

/** Counts of the sample library that the effective settings depend on. */
export interface LibraryCounts {
  readonly totalSampleCount: number;
  readonly accuracySampleCount?: number;
  readonly performanceSampleCount: number;
}

/**
 * Derives the effective settings (LoadGen: TestSettingsInternal). Pure.
 * @returns `settingErrors`: what LoadGen would log as errors and then go on.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the lanes do not divide the library
 */
export function deriveEffectiveSettings(
  requested: TestSettings,
  library: LibraryCounts,
  loadgen: LoadgenBehaviour,
  lanes: readonly LaneRequest[] = ONE_LANE,
) {
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
  const { scenario } = requested;
  const ofServer = namedBounds(boundsOfServer(requested));
  const isServer = scenario === 'Server';
  checkLanes(lanes, library.totalSampleCount);
  const whole = { first: 0, end: library.totalSampleCount };
  const effective = {
    ...requested,
    ...byScenario,
    ...queries,
    bounds: isServer ? ofServer : [],
    lanes: lanes.map(
      ({ samples = whole, bounds = ofServer, ...lane }): Lane => ({
        ...lane,
        samples,
        bounds: isServer ? bounds : [],
      }),
    ),
    minSampleCount: queries.minQueryCount * queries.samplesPerQuery,
    performanceSampleCount,
    accuracySampleCount:
      accuracyOverride || (library.accuracySampleCount ?? library.totalSampleCount),
    serverCoalesceQueries: scenario === 'Server' && requested.serverCoalesceQueries,
    /** Round v0.5's MultiStream: ns between two queries; else 0. */
    arrivalIntervalNs:
      scenario === 'MultiStream' && loadgen.multiStreamArrivals === 'interval'
        ? Math.trunc(requested.multiStreamExpectedLatencyNs)
        : 0,
    hasEarlyStopping: loadgen.hasEarlyStopping,
    /** 1 or more; above 1 in Server only. */
    issueThreadCount: scenario === 'Server' ? Math.max(1, requested.serverNumIssueQueryThreads) : 1,
  };
  return { effective, settingErrors };
}

/**
 * The requested settings, some adjusted for the run, and values derived from them (LoadGen:
 * test_settings_internal.h).
 */
export interface EffectiveSettings extends TestSettings {
  /** LoadGen's own bounds, on all queries; empty except in Server. */
  readonly bounds: readonly QueryBound[];
  /** A query's lane is that of its sample index. */
  readonly lanes: readonly Lane[];
  readonly samplesPerQuery: number;
  readonly targetQps: number;
  readonly targetDurationMs: number;
  /** 0 in scenarios without a bound. */
  readonly targetLatencyNs: number;
  readonly targetLatencyPercentile: number;
  readonly minSampleCount: number;
  readonly maxAsyncQueries: number;
  readonly performanceSampleCount: number;
  readonly accuracySampleCount: number;
  /** Round v0.5's MultiStream: ns between two queries; else 0. */
  readonly arrivalIntervalNs: number;
  readonly hasEarlyStopping: boolean;
  /** 1 or more; above 1 in Server only. */
  readonly issueThreadCount: number;
}

function deriveByScenario(requested: TestSettings, settingErrors: string[]) {
  /** Only Server has a bound. */
  const oneAtATime = { targetLatencyNs: 0, maxAsyncQueries: 1 };
  switch (requested.scenario) {
    case 'SingleStream':
      return {
        ...oneAtATime,
        targetQps: 1e9 / requested.singleStreamExpectedLatencyNs,
        targetLatencyPercentile: requested.singleStreamTargetLatencyPercentile,
      };
    case 'MultiStream':
      return {
        ...oneAtATime,
        targetQps: 1e9 / requested.multiStreamExpectedLatencyNs,
        targetLatencyPercentile: requested.multiStreamTargetLatencyPercentile,
      };
    case 'Server':
      return {
        targetQps: nonNegativeQps('server_target_qps', requested.serverTargetQps, settingErrors),
        targetLatencyNs: requested.serverTargetLatencyNs,
        targetLatencyPercentile: requested.serverTargetLatencyPercentile,
        maxAsyncQueries: requested.serverMaxAsyncQueries,
      };
    case 'Offline': {
      const { offlineExpectedQps } = requested;
      return {
        ...oneAtATime,
        targetQps: nonNegativeQps('offline_expected_qps', offlineExpectedQps, settingErrors),
        targetLatencyPercentile: 0.99,
      };
    }
  }
}

function nonNegativeQps(key: string, requestedQps: number, settingErrors: string[]): number {
  if (requestedQps >= 0) return requestedQps;
  settingErrors.push(`Invalid value for ${key} requested. requested: ${requestedQps} using: 1`);
  return 1;
}

/** Offline derives the size of its one query from the requested duration and the minimum count. */
function deriveQueryCounts(
  requested: TestSettings,
  targetQps: number,
  counts: { readonly performanceSampleCount: number; readonly libraryPerformanceCount: number },
) {
  const targetDurationMs = requested.minDurationMs;
  if (requested.scenario === 'Offline') {
    const expectedSamples = Math.trunc(1.1 * (targetDurationMs / 1000) * targetQps);
    return {
      samplesPerQuery: requested.performanceIssueUnique
        ? counts.performanceSampleCount
        : Math.max(requested.minQueryCount, expectedSamples),
      minQueryCount: 1,
      // Generating and issuing use this duration; validity uses `minDurationMs`.
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
    // LoadGen uses the library's count, not the override, and adds a whole set even to a whole
    // multiple.
    const setSize = counts.libraryPerformanceCount;
    const minQueryCount = leastQueries + setSize - (leastQueries % setSize);
    return { samplesPerQuery: 1, minQueryCount, targetDurationMs };
  }
  return { samplesPerQuery: 1, minQueryCount: requested.minQueryCount, targetDurationMs };
}
