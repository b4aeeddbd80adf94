import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { Scenario, TestMode } from '../../../shared/domain/scenario.ts';
import { confNameOf } from '../../../shared/rules/benchmark-rules.ts';
import { DEFAULT_ROUND, numberOfRound, type Round } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-card.ts';
import { SERVER_RUNS_V05 } from '../../loadgen/engine/test-outcome.ts';
import { queriesToDecide } from '../../loadgen/results/early-stopping.ts';
import {
  closedLoopPlanQps,
  type OtherArrivals,
  ownEndOf,
  ownRateOf,
} from '../../loadgen/schedule/arrivals/arrivals.ts';
import { checkPlanSize } from '../../loadgen/settings/check-settings.ts';
import type { ExactSettings } from '../../loadgen/settings/exact-settings.ts';
import type { ConfFile, ConfigEvent, ConfResult } from '../../loadgen/settings/from-config.ts';
import {
  applyAudit,
  readConfFiles,
  withRequestedTest05Seeds,
} from '../../loadgen/settings/read-conf-files.ts';
import {
  defaultTestSettings,
  type SettingsField,
  type TestSettings,
} from '../../loadgen/settings/test-settings.ts';
import { openConfFile } from './conf-files.ts';
import { checkDepartures, type Departure } from './departures.ts';
import { openArrivals } from './run-arrivals.ts';
import type { RunMode, RunValues } from './run-settings.ts';
import { goesOnByDefault, lengthInWords, UNTIL_DECIDED_MS_MAX } from './until-decided.ts';

const TEST_MODE_OF: Readonly<Record<RunMode, TestMode>> = {
  performance: 'PerformanceOnly',
  accuracy: 'AccuracyOnly',
  submission: 'SubmissionRun',
  'find-peak': 'FindPeakPerformance',
};

/** Settings of a run, and the log lines of its configuration files. */
export interface RunTestSettings {
  readonly round: Round;
  readonly settings: TestSettings;
  /** Settings before audit.config. */
  readonly unaudited: TestSettings;
  readonly configEvents: readonly ConfigEvent[];
  /** Texts about lines of the files without effect. */
  readonly configNotes: readonly string[];
  readonly usesTokenLatenciesBeforeAudit: boolean;
  /** True if a default latency bound holds: the benchmark has none of its own and none was set. */
  readonly isBoundUnsaid: boolean;
  /** Lines of LoadGen's files that limit the length; undefined: no line does. */
  readonly limitLines: Readonly<Record<'max_duration' | 'max_query_count', string | undefined>>;
  /** Arrivals instead of LoadGen's Poisson; undefined: LoadGen's. */
  readonly arrivals: OtherArrivals | undefined;
  /** Departures from MLPerf's scenarios; empty for an MLPerf scenario. */
  readonly departures: readonly Departure[];
  /** True: the run is extended if early stopping has not decided, or if it was too short. */
  readonly extendsUntilDecided: boolean;
  /** Message before a run that is longer than expected; undefined: not needed. */
  readonly lengthNote: string | undefined;
  /** Number of runs, of which the lowest rate counts. */
  readonly runCount: number;
}

/**
 * Test settings of `longhaul run`: flags override user.conf, which overrides the round's
 * mlperf.conf; audit.config overrides all. Without a round and without LoadGen files, the
 * benchmark's own rules and short durations hold, so that every benchmark can be tried. A benchmark
 * outside the rounds keeps its own latency bound in every round.
 * @param said Keys of the values set by a flag or a configuration file, without defaults.
 * @param latencyFlag Name of the latency bound in errors: a search has a shorter one.
 * @throws MlperfError `ERR_CONFIG_INVALID` listing every wrong line.
 */
export function runTestSettings(
  values: RunValues,
  said: ReadonlySet<string>,
  rules: BenchmarkRules,
  audit: ConfFile | undefined,
  latencyFlag = '--target-latency',
): RunTestSettings {
  const { scenario, round = DEFAULT_ROUND } = values;
  requireInteractive(values, rules);
  const departures = checkDepartures(values, audit !== undefined);
  const arrivals = openArrivals(values, said);
  const { settings, results, reader } = readConfFiles({
    round,
    model: confNameOf(rules),
    scenario,
    mlperfConf: openConfFile(values.mlperfConf),
    userConf: openConfFile(values.userConf),
  });
  refuseProblems(results);
  const isByFiles = [values.round, values.mlperfConf, values.userConf].some(
    (it) => it !== undefined,
  );
  if (!isByFiles) forgetRound(settings);
  if (!isByFiles || rules.rounds === undefined) useOwnBound(settings, rules, round);
  applyFlags(settings, values, (key) => !isByFiles || said.has(key));
  applyTokenBounds(settings, values, rules, latencyFlag);
  if (arrivals !== undefined) applyArrivals(settings, arrivals);
  const isDefaultLength = goesOnByDefault(values, said, audit !== undefined);
  if (isDefaultLength) applyDecision(settings);
  const audited = audit === undefined ? undefined : applyAudit(reader, settings, audit);
  if (audited !== undefined) refuseProblems([audited.result]);
  const final = audited === undefined ? settings : audited.settings;
  const all = audited === undefined ? results : [...results, audited.result];
  const configNotes = all.flatMap((result) => result.notes);
  requireTargetQps(final, round, configNotes);
  requireServer(final, rules);
  const asked = withRequestedTest05Seeds(final, settings).toTestSettings();
  // Checked before nodes are asked and data is read: the engine would find it only after that.
  checkPlanSize(asked);
  const runCount = values.runs ?? runCountOfRound(round, asked);
  return {
    settings: asked,
    unaudited: audited === undefined ? asked : settings.toTestSettings(),
    round,
    configEvents: all.flatMap((result) => result.events),
    configNotes,
    usesTokenLatenciesBeforeAudit: settings.get('useTokenLatencies').value === true,
    isBoundUnsaid:
      // A user's own model, or no model: only the user knows what is fast enough.
      (rules.isSynthetic === true || rules.key === 'custom') &&
      final.get('serverTargetLatencyNs').source === sourceOf(rules) &&
      final.get('useTokenLatencies').value !== true,
    limitLines: {
      max_duration: lineOf(final.get('maxDurationMs').source),
      max_query_count: lineOf(final.get('maxQueryCount').source),
    },
    arrivals,
    departures,
    extendsUntilDecided: values.extendUntilDecided ?? isDefaultLength,
    lengthNote: lengthInWords(asked, { isUntilDecided: isDefaultLength, runCount, arrivals }),
    runCount,
  };
}

/** Round v0.5 requires several Server runs (Rule: paper of the round, section 4). */
function runCountOfRound(round: Round, { scenario, mode }: TestSettings): number {
  const isMeasured = mode === 'PerformanceOnly' || mode === 'SubmissionRun';
  return round === 'v0.5' && scenario === 'Server' && isMeasured ? SERVER_RUNS_V05 : 1;
}

function refuseProblems(results: readonly ConfResult[]): void {
  const problems = results.flatMap((result) => result.problems);
  if (problems.length > 0) throw configInvalid(problems.join('\n'));
}

const SEEDS = [
  'qslRngSeed',
  'sampleIndexRngSeed',
  'scheduleRngSeed',
  'test05QslRngSeed',
  'test05SampleIndexRngSeed',
  'test05ScheduleRngSeed',
];

/** Keeps only the round's seeds: its other values are meant for submissions. */
function forgetRound(settings: ExactSettings): void {
  const { scenario: _, ...defaults } = defaultTestSettings();
  for (const [field, value] of Object.entries(defaults)) {
    if (SEEDS.includes(field)) continue;
    setNumber(settings, field as SettingsField['field'], value, 'default');
  }
}

/**
 * Sets the benchmark's own bound if no source sets one. A round's mlperf.conf has no line for a
 * benchmark outside the round: its bound for every model (10 ms) is not meant for it.
 */
function useOwnBound(settings: ExactSettings, rules: BenchmarkRules, round: Round): void {
  const source = sourceOf(rules);
  for (const field of ['serverTargetLatencyNs', 'serverTargetLatencyPercentile'] as const) {
    if (isUnsaid(settings.get(field).source, round)) {
      setNumber(settings, field, rules[field], source);
    }
  }
  // A benchmark without a latency bound has token bounds, which belong together.
  if (rules.serverTargetLatencyNs > 0 || settings.get('useTokenLatencies').value === true) return;
  const bounds = [
    ['serverTtftLatencyNs', 'ttft_latency'],
    ['serverTpotLatencyNs', 'tpot_latency'],
  ] as const;
  setNumber(settings, 'useTokenLatencies', true, source);
  const ofBounds = rules.rounds?.includes(round) === false ? (rules.rounds[0] ?? round) : round;
  for (const [field, key] of bounds) {
    const ms = numberOfRound(ofBounds, `${confNameOf(rules)}.Server.${key}`) ?? 0;
    setNumber(settings, field, ms * 1e6, source);
  }
}

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` for Interactive bounds in a round or a scenario
 *   without them
 */
function requireInteractive(
  { benchmark, scenario, round }: RunValues,
  { confName, key, rounds = [] }: BenchmarkRules,
): void {
  if (confName === undefined) return;
  if (scenario !== 'Server') {
    throw configInvalid(
      `--benchmark ${benchmark} is ${key} with the bounds of Interactive, which LoadGen runs as Server: for ${scenario} use --benchmark ${key}`,
    );
  }
  if (round === undefined || rounds.includes(round)) return;
  throw configInvalid(
    `--benchmark ${benchmark}: round ${round} has no such bounds; there they are in ${rounds.join(', ')}`,
  );
}

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` for Server with a benchmark that MLPerf does not have
 *   in Server, and no bound.
 */
function requireServer(settings: ExactSettings, rules: BenchmarkRules): void {
  const { key, hasServer = true } = rules;
  const isSaid = settings.get('serverTargetLatencyNs').source !== sourceOf(rules);
  if (hasServer || isSaid || settings.scenario !== 'Server') return;
  throw configInvalid(
    `benchmark ${key} has no Server scenario in MLPerf, and so no latency bound: use --scenario Offline, or say a bound of your ` +
      'own: --target-latency',
  );
}

function sourceOf(rules: BenchmarkRules): string {
  return `benchmark ${confNameOf(rules)}`;
}

/** True if LoadGen's default or the round's own mlperf.conf is the source of a value. */
function isUnsaid(source: string, round: Round): boolean {
  return source === 'default' || source.startsWith(`mlperf.conf of ${round}:`);
}

function applyFlags(
  settings: ExactSettings,
  values: RunValues,
  isSaid: (key: keyof RunValues) => boolean,
): void {
  const { targetQps, targetLatencyPercentile: percentile } = values;
  const streamNs = targetQps === undefined ? undefined : 1e9 / targetQps;
  const rows = [
    ['mode', 'mode', TEST_MODE_OF[values.mode]],
    ['targetQps', 'singleStreamExpectedLatencyNs', streamNs],
    ['targetQps', 'multiStreamExpectedLatencyNs', streamNs],
    ['targetQps', 'serverTargetQps', targetQps],
    ['targetQps', 'offlineExpectedQps', targetQps],
    ['targetLatencyPercentile', 'singleStreamTargetLatencyPercentile', percentile],
    ['targetLatencyPercentile', 'multiStreamTargetLatencyPercentile', percentile],
    ['targetLatencyPercentile', 'serverTargetLatencyPercentile', percentile],
    ['targetLatency', 'serverTargetLatencyNs', values.targetLatency],
    ['samplesPerQuery', 'multiStreamSamplesPerQuery', values.samplesPerQuery],
    ['minDuration', 'minDurationMs', wholeMs('--min-duration', values.minDuration)],
    ['maxDuration', 'maxDurationMs', wholeMs('--max-duration', values.maxDuration)],
    ['minQueryCount', 'minQueryCount', values.minQueryCount],
    ['maxQueryCount', 'maxQueryCount', values.maxQueryCount],
  ] as const;
  for (const [key, field, value] of rows) {
    if (value !== undefined && isSaid(key)) setNumber(settings, field, value, `run ${key}`);
  }
}

/**
 * Token bounds, instead of a latency bound. If only one is set, the other keeps the benchmark's
 * value.
 * @throws MlperfError `ERR_CONFIG_INVALID` if they have no effect, or if one is unknown
 */
function applyTokenBounds(
  settings: ExactSettings,
  { ttft, tpot, targetLatency, benchmark }: RunValues,
  { hasTokens = false }: BenchmarkRules,
  latencyFlag: string,
): void {
  const bounds = [
    ['ttft', 'serverTtftLatencyNs', ttft],
    ['tpot', 'serverTpotLatencyNs', tpot],
  ] as const;
  const said = bounds.find(([, , ns]) => ns !== undefined);
  if (targetLatency !== undefined && (said === undefined || hasTokens)) {
    refuseLatencyBesideTokens(settings, `${latencyFlag} ${formatNs(targetLatency)}`, said);
  }
  if (said === undefined) return;
  const flag = `--${said[0]} ${formatNs(said[2] ?? 0)}`;
  if (!hasTokens) {
    throw configInvalid(
      `${flag} bounds the times of output tokens, and benchmark ${benchmark} has none: use ${latencyFlag}`,
    );
  }
  if (settings.scenario !== 'Server') {
    throw configInvalid(`${flag} is a bound of Server: ${settings.scenario} has no bound`);
  }
  const missing = bounds.find(([, , ns]) => ns === undefined);
  if (missing !== undefined && settings.get('useTokenLatencies').value !== true) {
    throw configInvalid(
      `${flag} needs --${missing[0]} as well: benchmark ${benchmark} has no such bound of its own`,
    );
  }
  setNumber(settings, 'useTokenLatencies', true, `run ${said[0]}`);
  for (const [key, field, ns] of bounds) {
    if (ns !== undefined) setNumber(settings, field, ns, `run ${key}`);
  }
}

/** @throws MlperfError `ERR_CONFIG_INVALID` for a latency bound that token bounds would override */
function refuseLatencyBesideTokens(
  settings: ExactSettings,
  bound: string,
  said: readonly [string, string, number | undefined] | undefined,
): void {
  if (settings.scenario !== 'Server') return;
  if (said !== undefined) {
    throw configInvalid(
      `${bound} beside --${said[0]} ${formatNs(said[2] ?? 0)}: LoadGen holds a run to bounds on its tokens or to one on its latency, not to both`,
    );
  }
  if (settings.get('useTokenLatencies').value !== true) return;
  const [ttft, tpot] = (['serverTtftLatencyNs', 'serverTpotLatencyNs'] as const).map((field) =>
    formatNs(Number(settings.get(field).value)),
  );
  throw configInvalid(
    `${bound} has no effect: the bounds are on tokens, TTFT ${ttft} and TPOT ${tpot}; --ttft and --tpot set them`,
  );
}

/** Sets the query count that a decision needs, and a limit in case no decision comes. */
function applyDecision(settings: ExactSettings): void {
  const source = 'run until decided';
  const percentiles: Readonly<Record<Scenario, SettingsField['field'] | undefined>> = {
    SingleStream: 'singleStreamTargetLatencyPercentile',
    MultiStream: 'multiStreamTargetLatencyPercentile',
    Server: 'serverTargetLatencyPercentile',
    Offline: undefined,
  };
  const { scenario } = settings;
  const field = percentiles[scenario];
  const needed = field && queriesToDecide(scenario, Number(settings.get(field).value));
  const least = Math.max(Number(settings.get('minQueryCount').value), needed ?? 0);
  setNumber(settings, 'minQueryCount', least, source);
  setNumber(settings, 'maxDurationMs', UNTIL_DECIDED_MS_MAX, source);
}

/** Applies arrivals: they replace the mean rate and the end of the run. */
function applyArrivals(settings: ExactSettings, arrivals: OtherArrivals): void {
  const source = arrivals.kind === 'closed-loop' ? 'run concurrency' : 'run arrivals';
  if (arrivals.kind === 'closed-loop') {
    const durationMs = Number(settings.get('minDurationMs').value);
    setNumber(settings, 'serverTargetQps', closedLoopPlanQps(durationMs), source);
  }
  const qps = ownRateOf(arrivals);
  if (qps !== undefined) setNumber(settings, 'serverTargetQps', qps, source);
  if (ownEndOf(arrivals) === undefined) return;
  setNumber(settings, 'minDurationMs', 0, source);
  setNumber(settings, 'minQueryCount', 1, source);
}

/**
 * Sets a number. Counts are bigint in exact settings, rates and fractions are not: the field's
 * current value shows which.
 */
function setNumber(
  settings: ExactSettings,
  field: SettingsField['field'],
  value: number | bigint | boolean | string,
  source: string,
): void {
  const isWhole = typeof settings.get(field).value === 'bigint' && typeof value === 'number';
  settings.set(field, isWhole ? BigInt(value) : value, source);
}

/**
 * Requires a target QPS if the rate decides what is issued: LoadGen's default of 1 per second is
 * useless.
 * @param configNotes Notes on lines without effect: one of them may have been meant to set it.
 */
function requireTargetQps(
  settings: ExactSettings,
  round: Round,
  configNotes: readonly string[],
): void {
  const why: Partial<Record<Scenario, readonly [SettingsField['field'], string]>> = {
    Server: ['serverTargetQps', 'the rate of its arrivals'],
    Offline: [
      'offlineExpectedQps',
      'the expected samples per second, and with them the size of its query',
    ],
  };
  const { scenario } = settings;
  const entry = why[scenario];
  if (entry === undefined) return;
  const [field, what] = entry;
  if (scenario === 'Offline' && settings.get('mode').value === 'AccuracyOnly') return;
  const { source } = settings.get(field);
  if (!isUnsaid(source, round)) return;
  const message = `--target-qps <n> is needed: ${scenario} takes ${what} from it`;
  throw configInvalid([message, ...configNotes].join('\n'));
}

/** The source if it is a line of a file: `user.conf:3`. */
function lineOf(source: string): string | undefined {
  return /:\d+$/.test(source) ? source : undefined;
}

/** Duration in whole ms, LoadGen's unit of run lengths. */
function wholeMs(flag: string, ns: number | undefined): number | undefined {
  if (ns === undefined || ns % 1e6 === 0) return ns && ns / 1e6;
  throw configInvalid(`${flag} must be a whole number of ms, it is ${ns} ns`);
}
