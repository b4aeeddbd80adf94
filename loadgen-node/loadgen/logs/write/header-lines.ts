import { packageVersion } from '../../../../shared/base/files/package-files.ts';
import { firstOf } from '../../../../shared/base/text.ts';
import type { QuerySampleLibrary } from '../../../../shared/domain/system-under-test.ts';
import type { EffectiveSettings } from '../../settings/effective-settings.ts';
import type { ConfigEvent } from '../../settings/from-config.ts';
import type { LoadgenBehaviour } from '../../settings/loadgen-behaviour.ts';
import {
  loadgenName,
  SETTINGS_FIELDS,
  type SettingsField,
  type TestSettings,
} from '../../settings/test-settings.ts';
import type { DetailLog } from './detail-log.ts';

/** Check of the program's own files against the manifest of its build. */
export interface SelfCheck {
  readonly version: string;
  /** SHA-256 over the sorted list of files and hashes: one value for the whole program. */
  readonly hash: string;
  /** `no-manifest`: there is no list to compare with. */
  readonly state: 'unmodified' | 'modified' | 'no-manifest';
  /**
   * Files that are changed, missing or not in the manifest; all of them if the manifest is damaged.
   */
  readonly differingFiles: readonly string[];
  /** SHA-256 of each file in hex, by path with `/`. */
  readonly files: Readonly<Record<string, string>>;
}

/** Values of the first lines of a detail log. */
interface TestHeader {
  /** Date and time of the test, UTC. */
  readonly datetime: string;
  readonly sutName: string;
  readonly sutNameDurationNs: number;
  readonly qsl: Pick<QuerySampleLibrary, 'name' | 'totalSampleCount' | 'performanceSampleCount'>;
  /** Check of the program's own files; undefined if it was not made. */
  readonly selfCheck: SelfCheck | undefined;
}

/**
 * Writes the first lines of the detail log. LoadGen states its build there; this LoadGen states
 * what it is and which LoadGen's behaviour it follows.
 */
export function writeHeader(log: DetailLog, header: TestHeader, loadgen: LoadgenBehaviour): void {
  log.text(
    'loadgen_version',
    `longhaul ${packageVersion()} (LoadGen ${loadgen.version} behaviour)`,
  );
  for (const key of [
    'loadgen_build_date_local',
    'loadgen_build_date_utc',
    'loadgen_git_commit_date',
    'loadgen_git_log_message',
    'loadgen_git_status_message',
  ]) {
    log.text(key, 'NA');
  }
  log.map('loadgen_file_sha1', {});
  log.text('longhaul_rng_library', loadgen.rngLibrary);
  if (header.selfCheck !== undefined) writeSelfCheck(log, header.selfCheck);
  log.text('test_datetime', header.datetime);
  log.text('sut_name', header.sutName);
  log.integer('get_sut_name_duration_ns', header.sutNameDurationNs);
  log.text('qsl_name', header.qsl.name);
  log.integer('qsl_reported_total_count', header.qsl.totalSampleCount);
  log.integer('qsl_reported_performance_count', header.qsl.performanceSampleCount);
}

/** Differing files listed by name; further ones are only counted. */
const NAMED_FILES_MAX = 20;

function writeSelfCheck(log: DetailLog, { hash, state, differingFiles }: SelfCheck): void {
  log.text('longhaul_files_sha256', hash);
  log.text('longhaul_files_state', state);
  if (state === 'modified') {
    log.text('longhaul_files_differing', firstOf(differingFiles, NAMED_FILES_MAX));
  }
}

/** Settings that LoadGen logs both as requested and as effective, in its order. */
const LENGTHS = ['minDurationMs', 'maxDurationMs', 'minQueryCount', 'maxQueryCount'] as const;
const CHOICES = [
  'qslRngSeed',
  'sampleIndexRngSeed',
  'scheduleRngSeed',
  'accuracyLogRngSeed',
  'accuracyLogProbability',
  'accuracyLogSamplingTarget',
  'printTimestamps',
  'performanceIssueUnique',
  'performanceIssueSame',
  'performanceIssueSameIndex',
] as const;

/** Settings that LoadGen logs as requested whatever the scenario, in its order. */
const REQUESTED = [
  ...LENGTHS,
  ...CHOICES,
  'performanceSampleCountOverride',
  'accuracySampleCountOverride',
  'sampleConcatenatePermutation',
] as const;

/** Settings that LoadGen logs for one scenario only. */
const REQUESTED_OF_SCENARIO = {
  SingleStream: ['singleStreamExpectedLatencyNs', 'singleStreamTargetLatencyPercentile'],
  MultiStream: [
    'multiStreamExpectedLatencyNs',
    'multiStreamTargetLatencyPercentile',
    'multiStreamSamplesPerQuery',
  ],
  Server: [
    'serverTargetQps',
    'serverTargetLatencyNs',
    'serverTargetLatencyPercentile',
    'serverCoalesceQueries',
    'serverFindPeakQpsDecimalsOfPrecision',
    'serverFindPeakQpsBoundaryStepSize',
    'serverMaxAsyncQueries',
    'serverNumIssueQueryThreads',
  ],
  Offline: ['offlineExpectedQps'],
} as const;

const TOKENS = ['serverTtftLatencyNs', 'serverTpotLatencyNs'] as const;

/** Writes the `requested_*` lines (LoadGen: LogRequestedTestSettings). */
export function writeRequestedSettings(
  log: DetailLog,
  settings: TestSettings,
  loadgen: LoadgenBehaviour,
): void {
  const { scenario, mode, useTokenLatencies } = settings;
  log.text('requested_scenario', scenario);
  log.text('requested_test_mode', mode);
  const fields: (keyof TestSettings)[] = [...REQUESTED_OF_SCENARIO[scenario], ...REQUESTED];
  if (useTokenLatencies) fields.push('useTokenLatencies');
  if (useTokenLatencies && scenario !== 'Offline') fields.push(...TOKENS);
  for (const field of fields) {
    if (field === 'accuracySampleCountOverride' && !loadgen.knowsAccuracySampleCount) continue;
    const { name, type } = FIELDS.get(field) as SettingsField;
    writeSetting(log, `requested_${name}`, settings[field], type === 'double');
  }
}

/** Settings that LoadGen logs as effective, in its order. */
const EFFECTIVE = [
  'samplesPerQuery',
  'targetQps',
  'targetLatencyNs',
  'targetLatencyPercentile',
  'maxAsyncQueries',
  'targetDurationMs',
  ...LENGTHS,
  'minSampleCount',
  ...CHOICES,
  'performanceSampleCount',
  'accuracySampleCount',
  'sampleConcatenatePermutation',
] as const;

const EFFECTIVE_DOUBLES: readonly string[] = [
  'targetQps',
  'targetLatencyPercentile',
  'accuracyLogProbability',
];

/** Writes the `effective_*` lines (LoadGen: LogEffectiveSettings). */
export function writeEffectiveSettings(
  log: DetailLog,
  settings: EffectiveSettings,
  loadgen: LoadgenBehaviour,
): void {
  log.text('effective_scenario', settings.scenario);
  log.text('effective_test_mode', settings.mode);
  for (const key of EFFECTIVE) {
    if (key === 'accuracySampleCount' && !loadgen.knowsAccuracySampleCount) continue;
    const isDouble = EFFECTIVE_DOUBLES.includes(key);
    writeSetting(log, `effective_${loadgenName(key)}`, settings[key], isDouble);
  }
}

const FIELDS = new Map<string, SettingsField>(SETTINGS_FIELDS.map((field) => [field.field, field]));

function writeSetting(
  log: DetailLog,
  key: string,
  value: number | bigint | boolean | string,
  isDouble: boolean,
): void {
  if (typeof value === 'boolean') log.boolean(key, value);
  else if (typeof value === 'string') log.text(key, value);
  else if (isDouble) log.double(key, Number(value));
  else log.integer(key, value);
}

/** Writes the log lines about the configuration files of one stage. */
export function writeConfigEvents(
  log: DetailLog,
  events: readonly ConfigEvent[] | undefined,
  stage: ConfigEvent['stage'],
): void {
  for (const event of events ?? []) {
    if (event.stage !== stage) continue;
    if (event.kind === 'error') log.error(event.key, event.text);
    else log.warning(event.text);
  }
}
