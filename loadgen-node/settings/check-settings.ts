import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import type { LibraryCounts } from './effective-settings.ts';
import { librarySizeProblems, planSizeProblems } from './plan-size.ts';
import type { TestSettings } from './test-settings.ts';

/**
 * Refuses settings that cannot be run. LoadGen runs into undefined behaviour with some of these;
 * others belong to parts of LoadGen that this engine does not have yet.
 * @throws MlperfError `ERR_CONFIG_INVALID` that lists everything that is wrong.
 */
export function checkSettings(settings: TestSettings, library: LibraryCounts): void {
  refuse([
    ...valueProblems(settings, library),
    ...unsupportedProblems(settings),
    ...planSizeProblems(settings),
  ]);
}

/** As {@link checkSettings}, for a trace: it needs less of the engine. */
export function checkTracedSettings(settings: TestSettings, library: LibraryCounts): void {
  refuse([...valueProblems(settings, library), ...planSizeProblems(settings)]);
}

/** As {@link checkSettings}, for results without a run: nothing is planned. */
export function checkSettingValues(settings: TestSettings, library: LibraryCounts): void {
  refuse(valueProblems(settings, library));
}

/** What of {@link checkSettings} can be said before the library is there. */
export function checkPlanSize(settings: TestSettings): void {
  refuse(planSizeProblems(settings));
}

function valueProblems(settings: TestSettings, library: LibraryCounts): string[] {
  const problems = [
    ...wholeNumberProblems(settings),
    ...percentileProblems(settings),
    ...libraryProblems(library),
    ...librarySizeProblems(library),
  ];
  if (!Number.isFinite(settings.serverTargetQps)) problems.push('serverTargetQps must be a number');
  if (!Number.isFinite(settings.offlineExpectedQps)) {
    problems.push('offlineExpectedQps must be a number');
  }
  if (settings.multiStreamSamplesPerQuery < 1) {
    problems.push('multiStreamSamplesPerQuery must be 1 or more');
  }
  return problems;
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) {
    throw new MlperfError('ERR_CONFIG_INVALID', `test settings: ${problems.join('; ')}`);
  }
}

const WHOLE_NUMBERS = [
  'multiStreamSamplesPerQuery',
  'serverTargetLatencyNs',
  'serverMaxAsyncQueries',
  'serverNumIssueQueryThreads',
  'minDurationMs',
  'maxDurationMs',
  'minQueryCount',
  'maxQueryCount',
  'accuracyLogSamplingTarget',
  'performanceIssueSameIndex',
  'performanceSampleCountOverride',
  'accuracySampleCountOverride',
  'serverTtftLatencyNs',
  'serverTpotLatencyNs',
  'tokenLatencyScalingFactor',
] as const satisfies readonly (keyof TestSettings)[];

function wholeNumberProblems(settings: TestSettings): string[] {
  return WHOLE_NUMBERS.filter(
    (key) => !Number.isSafeInteger(settings[key]) || settings[key] < 0,
  ).map((key) => `${key} must be a whole number of 0 or more, not ${settings[key]}`);
}

const PERCENTILES = [
  'singleStreamTargetLatencyPercentile',
  'multiStreamTargetLatencyPercentile',
  'serverTargetLatencyPercentile',
] as const satisfies readonly (keyof TestSettings)[];

function percentileProblems(settings: TestSettings): string[] {
  return PERCENTILES.filter((key) => !(settings[key] > 0 && settings[key] < 1)).map(
    (key) => `${key} must be above 0 and below 1, not ${settings[key]}`,
  );
}

function libraryProblems({ totalSampleCount, performanceSampleCount }: LibraryCounts): string[] {
  const problems: string[] = [];
  if (!(totalSampleCount >= 1)) problems.push('the sample library is empty');
  if (!(performanceSampleCount >= 1)) problems.push('the performance set of the library is empty');
  return problems;
}

/** Logical issue threads; each costs a comparison per query. */
const ISSUE_THREADS_MAX = 1024;

function unsupportedProblems(settings: TestSettings): string[] {
  const problems: string[] = [];
  if (settings.serverNumIssueQueryThreads > ISSUE_THREADS_MAX) {
    problems.push(`serverNumIssueQueryThreads must be ${ISSUE_THREADS_MAX} or less`);
  }
  if (settings.mode === 'FindPeakPerformance') problems.push(...searchProblems(settings));
  return problems;
}

/** LoadGen's search never ends with these. */
function searchProblems(settings: TestSettings): string[] {
  const problems: string[] = [];
  if (!(settings.serverFindPeakQpsBoundaryStepSize > 0)) {
    problems.push('serverFindPeakQpsBoundaryStepSize must be above 0');
  }
  const decimals = settings.serverFindPeakQpsDecimalsOfPrecision;
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 9) {
    problems.push(`serverFindPeakQpsDecimalsOfPrecision must be 0 to 9, not ${decimals}`);
  }
  return problems;
}
