import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatUint64 } from '../base/number-format.ts';
import type { LibraryCounts } from './effective-settings.ts';
import { librarySizeProblems, planSizeProblems } from './plan-size.ts';
import { SETTINGS_FIELDS, type TestSettings } from './test-settings.ts';

/**
 * Refuses settings that cannot be run. Some of these cause undefined behaviour in LoadGen; others
 * need parts of LoadGen that this engine lacks.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every problem.
 */
export function checkSettings(settings: TestSettings, library: LibraryCounts): void {
  refuse([
    ...valueProblems(settings, library),
    ...unsupportedProblems(settings),
    ...planSizeProblems(settings),
  ]);
}

/** {@link checkSettings} for a trace, which needs less of the engine. */
export function checkTracedSettings(settings: TestSettings, library: LibraryCounts): void {
  refuse([...valueProblems(settings, library), ...planSizeProblems(settings)]);
}

/** {@link checkSettings} for results without a run or plan. */
export function checkSettingValues(settings: TestSettings, library: LibraryCounts): void {
  refuse(valueProblems(settings, library));
}

/** The part of {@link checkSettings} that needs no library. */
export function checkPlanSize(settings: TestSettings): void {
  refuse(planSizeProblems(settings));
}

function valueProblems(settings: TestSettings, library: LibraryCounts): string[] {
  return [
    ...wholeNumberProblems(settings),
    ...scenarioProblems(settings),
    ...libraryProblems(library),
    ...librarySizeProblems(library),
  ];
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) {
    throw configInvalid(`test settings: ${problems.join('; ')}`);
  }
}

/** Counts and times; a search's decimals have their own rule. */
const WHOLE_NUMBERS = SETTINGS_FIELDS.filter(
  ({ type, field }) => type === 'u64' || field === 'serverMaxAsyncQueries',
).map(({ field }) => field);

/** Up to 2^64 - 1, held as 2^64: users write it (or -1) for "no limit". */
function wholeNumberProblems(settings: TestSettings): string[] {
  return WHOLE_NUMBERS.filter((key) => {
    const value = Number(settings[key]);
    return !Number.isInteger(value) || value < 0 || value > 2 ** 64;
  }).map((key) => `${key} must be a whole number from 0 to 2^64 - 1, not ${settings[key]}`);
}

/** Checks only the settings of the scenario that is run, as LoadGen does. */
function scenarioProblems(settings: TestSettings): string[] {
  switch (settings.scenario) {
    case 'SingleStream':
      return percentileProblems(settings, 'singleStreamTargetLatencyPercentile');
    case 'MultiStream':
      return [
        ...percentileProblems(settings, 'multiStreamTargetLatencyPercentile'),
        ...(settings.multiStreamSamplesPerQuery < 1
          ? ['multiStreamSamplesPerQuery must be 1 or more']
          : []),
      ];
    case 'Server':
      return [
        ...percentileProblems(settings, 'serverTargetLatencyPercentile'),
        ...(Number.isFinite(settings.serverTargetQps) ? [] : ['serverTargetQps must be a number']),
      ];
    case 'Offline':
      return Number.isFinite(settings.offlineExpectedQps)
        ? []
        : ['offlineExpectedQps must be a number'];
  }
}

function percentileProblems(
  settings: TestSettings,
  key:
    | 'singleStreamTargetLatencyPercentile'
    | 'multiStreamTargetLatencyPercentile'
    | 'serverTargetLatencyPercentile',
): string[] {
  if (settings[key] > 0 && settings[key] < 1) return [];
  return [`${key} must be above 0 and below 1, not ${settings[key]}`];
}

function libraryProblems({ totalSampleCount, performanceSampleCount }: LibraryCounts): string[] {
  const problems: string[] = [];
  if (!(totalSampleCount >= 1)) problems.push('the sample library is empty');
  if (!(performanceSampleCount >= 1)) problems.push('the performance set of the library is empty');
  return problems;
}

/** Most logical issue threads; each costs a comparison per query. */
const ISSUE_THREADS_MAX = 1024;

function unsupportedProblems(settings: TestSettings): string[] {
  const problems: string[] = [];
  if (settings.serverNumIssueQueryThreads > ISSUE_THREADS_MAX) {
    problems.push(`serverNumIssueQueryThreads must be ${ISSUE_THREADS_MAX} or less`);
  }
  for (const key of TIMES) {
    if (Number.isSafeInteger(settings[key])) continue;
    problems.push(
      `${key} is ${formatUint64(settings[key])}: LoadGen keeps times as signed 64-bit ns, where this is a ` +
        `negative one; ${key === 'maxDurationMs' ? '0 is no limit' : 'set a shorter time'}`,
    );
  }
  if (settings.mode === 'FindPeakPerformance') problems.push(...searchProblems(settings));
  return problems;
}

const TIMES = [
  'minDurationMs',
  'maxDurationMs',
  'serverTargetLatencyNs',
  'serverTtftLatencyNs',
  'serverTpotLatencyNs',
] as const satisfies readonly (keyof TestSettings)[];

/** Refuses settings with which LoadGen's search never ends. */
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
