import { SCENARIOS, type Scenario } from '../../../shared/domain/scenario.ts';
import { mlperfConfOf, type Round } from '../../../shared/rules/rounds/rounds.ts';
import { parseDouble, parseUint64 } from '../base/c-numbers.ts';
import { type ConfLineNote, lookUp, type ParsedConf, parseConf } from './conf-grammar.ts';
import type { ExactSettings, ExactValue } from './exact-settings.ts';
import { type LoadgenBehaviour, loadgenOf } from './loadgen-behaviour.ts';
import type { SettingsField } from './test-settings.ts';

/** LoadGen's return codes: done, no such file (ENOENT), a wrong line (EINVAL). */
export type ReturnCode = 0 | -2 | -22;

/** A configuration file. */
export interface ConfFile {
  /** Path or name, for messages. */
  readonly name: string;
  /** Its text; null when it cannot be opened. */
  readonly text: string | null;
  /** Why it cannot be opened, for people. */
  readonly obstacle?: string;
}

/** What reading one file gave. */
export interface ConfResult {
  readonly name: string;
  readonly rc: ReturnCode;
  /** What LoadGen logs about it, in order. */
  readonly events: readonly ConfigEvent[];
  /** What is wrong, for people: file, line, text, and what would be right. */
  readonly problems: readonly string[];
  /** What LoadGen passes over in silence though its writer meant something, for people. */
  readonly notes: readonly string[];
}

const MODES = ['SubmissionRun', 'AccuracyOnly', 'PerformanceOnly', 'FindPeakPerformance'] as const;

/**
 * Reads configuration files into settings as the LoadGen of a round does (LoadGen:
 * TestSettings::FromConfig). Keeps what LoadGen keeps for the length of a process: one reader per test.
 */
export class ConfReader {
  readonly round: Round;
  readonly #loadgen: LoadgenBehaviour;
  #userFileCount = 0;

  constructor(round: Round) {
    this.round = round;
    this.#loadgen = loadgenOf(round);
  }

  /** Applies the round's own mlperf.conf (LoadGen from v5.0 on: configuration type 0). */
  readRound(settings: ExactSettings, model: string): ConfResult {
    const file = { name: `mlperf.conf of ${this.round}`, text: mlperfConfOf(this.round) };
    return { ...this.#read(settings, file, model, { stage: 'files', isOfRound: true }), notes: [] };
  }

  /**
   * Applies a file of the user's (type 1). Where mlperf.conf is built in, the first such file brings
   * it along, and every further one is logged as an error and still applied.
   */
  readUser(settings: ExactSettings, file: ConfFile, model: string): ConfResult {
    const events: ConfigEvent[] = [];
    if (this.#loadgen.configFiles === 'built-in') {
      if (this.#userFileCount === 0) this.readRound(settings, model);
      else events.push(configError('files', MULTIPLE_FILES));
      this.#userFileCount += 1;
    }
    const result = this.#read(settings, file, model, { stage: 'files', isOfRound: false });
    return { ...result, events: [...events, ...result.events] };
  }

  /** Applies audit.config (type 2), for every model. */
  readAudit(settings: ExactSettings, file: ConfFile): ConfResult {
    const found: ConfigEvent = {
      stage: 'audit',
      kind: 'warning',
      key: 'warning_generic_message',
      text: `Found Audit Config file (${file.name}). Overriding TestSettings from audit.config file.`,
    };
    const result = this.#read(settings, file, '*', { stage: 'audit', isOfRound: false });
    return { ...result, events: [found, ...result.events] };
  }

  #read(
    settings: ExactSettings,
    file: ConfFile,
    model: string,
    { stage, isOfRound }: { stage: ConfigEvent['stage']; isOfRound: boolean },
  ): ConfResult {
    const { name, text } = file;
    if (text === null) {
      const events = [configError(stage, `can't open file ${name}`)];
      return {
        name,
        rc: -2,
        events,
        problems: [`cannot read ${name}: ${file.obstacle ?? 'it cannot be opened'}`],
        notes: [],
      };
    }
    const conf = parseConf(text);
    const notes = [...conf.notes, ...notesOnKeys(conf, this.#loadgen)].map(
      ({ line, explanation }) => `${name}:${line}: ${explanation}`,
    );
    if (conf.errors.length > 0) {
      const events = conf.errors.map((error) => configError(stage, error.loadgenText));
      const problems = conf.errors.map((error) => `${name}:${error.line}: ${error.explanation}`);
      return { name, rc: -22, events, problems, notes };
    }
    const scope = new FileScope(this.#loadgen, isOfRound);
    const events: ConfigEvent[] = [];
    for (const key of CONF_KEYS) {
      if (!scope.isRead(key, settings)) continue;
      const scenario = key.under === 'own' ? settings.scenario : key.under;
      const entry = lookUp(conf, model, scenario, key.key);
      if (entry === undefined) continue;
      const value = readValue(key, entry.text);
      if (value === undefined) {
        events.push(configError(stage, 'Invalid value passed to Mode key in config.'));
        notes.push(
          `${name}:${entry.line}: mode ${entry.text} is none: 0 submission, 1 accuracy, 2 performance, 3 find peak`,
        );
        continue;
      }
      settings.set(key.field, value, `${name}:${entry.line}`);
      scope.remember(key, value);
    }
    return { name, rc: 0, events, problems: [], notes };
  }
}

const MULTIPLE_FILES = 'Multiple conf files are used. This is not valid for official submission.';

/** Which keys of one file are read. */
class FileScope {
  readonly #loadgen: LoadgenBehaviour;
  readonly #isOfRound: boolean;
  readonly #flagsOfFile = new Set<string>();

  constructor(loadgen: LoadgenBehaviour, isOfRound: boolean) {
    this.#loadgen = loadgen;
    this.#isOfRound = isOfRound;
  }

  isRead(key: ConfKey, settings: ExactSettings): boolean {
    const isBuiltIn = this.#loadgen.configFiles === 'built-in';
    if (key.isOfRound && isBuiltIn && !this.#isOfRound) return false;
    if (key.needsAccuracyCount && !this.#loadgen.knowsAccuracySampleCount) return false;
    if (key.needs === undefined) return true;
    // Plain files: the flag must stand in the same file. Later LoadGens: it must be on by now.
    return isBuiltIn ? settings.get(key.needs).value === true : this.#flagsOfFile.has(key.needs);
  }

  remember(key: ConfKey, value: ExactValue): void {
    if (key.read === 'is-one' && value === true) this.#flagsOfFile.add(key.field);
  }
}

/** @returns undefined for a mode that does not exist. */
function readValue(key: ConfKey, text: string): ExactValue | undefined {
  if (key.read === 'double') return parseDouble(text).value * key.multiplier;
  const value = BigInt.asUintN(64, parseUint64(text).value * BigInt(key.multiplier));
  switch (key.read) {
    case 'u64':
      return value;
    case 'int32':
      // Through an int into a field without sign: -1 and 2^31 become more than any count.
      return BigInt.asUintN(64, BigInt.asIntN(32, value));
    case 'is-one':
      return value === 1n;
    case 'is-not-zero':
      return value !== 0n;
    case 'mode':
      return value < 4n ? MODES[Number(value)] : undefined;
  }
}

function configError(stage: ConfigEvent['stage'], text: string): ConfigEvent {
  return { stage, kind: 'error', key: 'error_invalid_config', text };
}

/** What LoadGen passes over in silence: keys that it does not know, or not from such a file. */
function notesOnKeys(conf: ParsedConf, loadgen: LoadgenBehaviour): ConfLineNote[] {
  const notes: ConfLineNote[] = [];
  for (const [key, { line }] of conf.entries) {
    const explanation = noteOnKey(key, loadgen);
    if (explanation !== undefined) notes.push({ line, explanation });
  }
  return notes;
}

function noteOnKey(fullKey: string, loadgen: LoadgenBehaviour): string | undefined {
  // A model's name may hold dots: scenario and key are the last two parts.
  const parts = fullKey.split('.');
  const [scenario, key] = parts.slice(-2);
  if (parts.length < 3 || key === undefined || scenario === undefined) {
    return `"${fullKey}" sets nothing: a key has the form model.scenario.key, as *.Server.target_qps`;
  }
  if (scenario !== '*' && !(SCENARIOS as readonly string[]).includes(scenario)) {
    return `"${fullKey}" sets nothing: "${scenario}" is none of ${SCENARIOS.join(', ')}, *`;
  }
  if (UNREAD_KEYS.includes(key)) return undefined;
  const known = CONF_KEYS.filter((confKey) => confKey.key === key);
  if (known.length === 0) return `"${fullKey}" sets nothing: LoadGen has no key "${key}"`;
  if (known.some((confKey) => confKey.isOfRound) && loadgen.configFiles === 'built-in') {
    return `"${fullKey}" sets nothing: only the round's own mlperf.conf sets ${key}`;
  }
  if (known.some((confKey) => confKey.needsAccuracyCount) && !loadgen.knowsAccuracySampleCount) {
    return `"${fullKey}" sets nothing: LoadGen ${loadgen.version} does not read ${key}`;
  }
  return undefined;
}

/** What reading configuration files leaves for the detail log, in LoadGen's words. */
export interface ConfigEvent {
  /**
   * `files`: before the test (LoadGen: FromConfig of the harness), logged before everything else;
   * `audit`: in the test, from audit.config and test05, logged before the requested settings.
   */
  readonly stage: 'files' | 'audit';
  readonly kind: 'error' | 'warning';
  /** Key of the line: `error_invalid_config`, `warning_generic_message`. */
  readonly key: string;
  readonly text: string;
}

/** How LoadGen turns the text of a value into a field. */
type ConfRead = 'u64' | 'double' | 'int32' | 'is-one' | 'is-not-zero' | 'mode';

/** One key that LoadGen reads from configuration files. */
export interface ConfKey {
  readonly key: string;
  /** Scenario under which it is looked up, whatever is run; `own`: the one that is run. */
  readonly under: 'own' | Scenario;
  readonly field: SettingsField['field'];
  readonly read: ConfRead;
  /** File unit to field unit: ms to ns, percent to fraction. */
  readonly multiplier: number;
  /** True if only the round's built-in file may set it, where the round has one. */
  readonly isOfRound?: boolean;
  /** Flag without which the key is not read. */
  readonly needs?: 'useTokenLatencies' | 'inferTokenLatencies';
  /** True if only LoadGens read it that know an accuracy sample count. */
  readonly needsAccuracyCount?: boolean;
}

const MS = 1e6;
const PERCENT = 0.01;

/** All keys, a flag before the keys that need it (LoadGen: TestSettings::FromConfig). */
export const CONF_KEYS: readonly ConfKey[] = [
  own('mode', 'mode', 'mode'),
  { ...own('qsl_rng_seed', 'qslRngSeed', 'u64'), isOfRound: true },
  { ...own('sample_index_rng_seed', 'sampleIndexRngSeed', 'u64'), isOfRound: true },
  { ...own('schedule_rng_seed', 'scheduleRngSeed', 'u64'), isOfRound: true },
  {
    ...own('accuracy_log_probability', 'accuracyLogProbability', 'double', PERCENT),
    isOfRound: true,
  },
  { ...own('test05', 'test05', 'is-one'), isOfRound: true },
  { ...own('test05_qsl_rng_seed', 'test05QslRngSeed', 'u64'), isOfRound: true },
  { ...own('test05_sample_index_rng_seed', 'test05SampleIndexRngSeed', 'u64'), isOfRound: true },
  { ...own('test05_schedule_rng_seed', 'test05ScheduleRngSeed', 'u64'), isOfRound: true },
  own('use_token_latencies', 'useTokenLatencies', 'is-one'),
  {
    ...of('Server', 'ttft_latency', 'serverTtftLatencyNs', 'u64', MS),
    needs: 'useTokenLatencies',
  },
  {
    ...of('Server', 'tpot_latency', 'serverTpotLatencyNs', 'u64', MS),
    needs: 'useTokenLatencies',
  },
  own('infer_token_latencies', 'inferTokenLatencies', 'is-one'),
  {
    ...own('token_latency_scaling_factor', 'tokenLatencyScalingFactor', 'u64'),
    needs: 'inferTokenLatencies',
  },
  of(
    'SingleStream',
    'target_latency_percentile',
    'singleStreamTargetLatencyPercentile',
    'double',
    PERCENT,
  ),
  of(
    'MultiStream',
    'target_latency_percentile',
    'multiStreamTargetLatencyPercentile',
    'double',
    PERCENT,
  ),
  of('MultiStream', 'samples_per_query', 'multiStreamSamplesPerQuery', 'u64'),
  of('Server', 'target_latency_percentile', 'serverTargetLatencyPercentile', 'double', PERCENT),
  of('Server', 'target_latency', 'serverTargetLatencyNs', 'u64', MS),
  of('Server', 'target_qps', 'serverTargetQps', 'double'),
  of('Server', 'coalesce_queries', 'serverCoalesceQueries', 'is-not-zero'),
  of('Server', 'max_async_queries', 'serverMaxAsyncQueries', 'int32'),
  of('Offline', 'target_qps', 'offlineExpectedQps', 'double'),
  of('SingleStream', 'target_latency', 'singleStreamExpectedLatencyNs', 'double', MS),
  of('MultiStream', 'target_latency', 'multiStreamExpectedLatencyNs', 'double', MS),
  own('min_duration', 'minDurationMs', 'u64'),
  own('max_duration', 'maxDurationMs', 'u64'),
  own('min_query_count', 'minQueryCount', 'u64'),
  own('max_query_count', 'maxQueryCount', 'u64'),
  own('performance_issue_unique', 'performanceIssueUnique', 'is-not-zero'),
  own('performance_issue_same', 'performanceIssueSame', 'is-not-zero'),
  own('performance_issue_same_index', 'performanceIssueSameIndex', 'u64'),
  own('performance_sample_count_override', 'performanceSampleCountOverride', 'u64'),
  {
    ...own('accuracy_sample_count_override', 'accuracySampleCountOverride', 'u64'),
    needsAccuracyCount: true,
  },
  own('sample_concatenate_permutation', 'sampleConcatenatePermutation', 'is-one'),
  own('print_timestamps', 'printTimestamps', 'is-not-zero'),
  own('accuracy_log_rng_seed', 'accuracyLogRngSeed', 'u64'),
  own('accuracy_log_sampling_target', 'accuracyLogSamplingTarget', 'u64'),
];

/** Keys that stand in official files and that no LoadGen reads. */
const UNREAD_KEYS: readonly string[] = ['target_duration', 'test07_accuracy_threshold'];

function own(key: string, field: SettingsField['field'], read: ConfRead, multiplier = 1): ConfKey {
  return { key, under: 'own', field, read, multiplier };
}

function of(
  under: Scenario,
  key: string,
  field: SettingsField['field'],
  read: ConfRead,
  multiplier = 1,
): ConfKey {
  return { key, under, field, read, multiplier };
}
