import { join } from 'node:path';
import type { DispatchSettings } from '../../../qdl/index.ts';
import { at } from '../../../shared/base/at.ts';
import { configInvalid, MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/read-file.ts';
import { codecNamed } from '../../../shared/compression/codec.ts';
import { type ResolvedSetting, saidKeys } from '../../../shared/config/resolve-settings.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import { isNetworkDivisionScenario } from '../../../shared/domain/scenario.ts';
import type { PayloadEncoding } from '../../../shared/domain/system-under-test.ts';
import { OIP_ELEMENT_BYTES } from '../../../shared/domain/tensors.ts';
import { PER_MILLION } from '../../../shared/evidence/payload-digest.ts';
import {
  benchmarkEncoding,
  benchmarkOfRun,
  confNameOf,
  SYNTHETIC_BENCHMARKS,
} from '../../../shared/rules/benchmark-rules.ts';
import { type CompressionPlan, checkCompression } from '../../../shared/rules/check-compression.ts';
import { hasNetworkDivision } from '../../../shared/rules/rounds/rounds.ts';
import type { BenchmarkRules, GeneratedSet } from '../../../shared/rules/rows/benchmark-card.ts';
import type { LogSettings } from '../../loadgen/logs/write/test-logs.ts';
import type { ConfFile } from '../../loadgen/settings/from-config.ts';
import { ONE_LANE } from '../../loadgen/settings/lanes.ts';
import { type LoadgenBehaviour, loadgenOf } from '../../loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import { checkThresholds, type Threshold } from '../../observe/figures/condition.ts';
import type { LinkedLoadgen } from '../../official/link.ts';
import { generatedSetOf } from '../../samples/benchmarks/generated-data.ts';
import type { SyntheticSamples } from '../../samples/benchmarks/loadgen-benchmark.ts';
import type { DataAsked } from '../../samples/model-inputs/data-source.ts';
import { toDispatchSettings } from './dispatch-options.ts';
import { nodesOfRun, planProtocol } from './model-options.ts';
import { withEngine } from './run-engine.ts';
import { runRecord, settingsOfRun } from './run-record.ts';
import type { RunValues } from './run-settings.ts';
import { type RunTestSettings, runTestSettings } from './run-test-settings.ts';
import type { PlannedLane } from './target.ts';

/** The samples of a run, and their encoding. */
interface PlannedSamples {
  readonly rules: BenchmarkRules;
  /** Text: `raw`, or `raw, compressed by lz4`. */
  readonly encodingName: string;
  /** With their encoding. */
  readonly compression: CompressionPlan;
  readonly cacheFolder: string;
  readonly dataFolder: string | undefined;
  /** True: the encoding was set explicitly, so no other may be used. */
  readonly isEncodingSaid: boolean;
  /** Samples of `--data`; undefined: the benchmark's. */
  readonly data: DataAsked | undefined;
  /** Generated image set; undefined: the default set, or data that longhaul does not generate. */
  readonly generated: GeneratedSet | undefined;
  /** List of checksums for the data set, instead of the one in its folder. */
  readonly dataChecksums: string | undefined;
  readonly synthetic: SyntheticSamples;
  readonly keepsSamplesInFile: boolean;
}

/** When queries are issued, and by which LoadGen. */
interface PlannedTest extends RunTestSettings {
  /** Classes of its queries: samples, share, bounds, target. */
  readonly lanes: readonly PlannedLane[];
  /** Behaviour of the round's LoadGen. */
  readonly loadgen: LoadgenBehaviour;
  /** The C++ LoadGen that issues the queries; undefined: longhaul's engine. */
  readonly linked: LinkedLoadgen | undefined;
  readonly issueLoop: RunValues['issueLoop'];
  /** Undefined: derived from the minimum run length. */
  readonly warmUpNs: number | undefined;
  /** The run ends if no sample completes for this long. */
  readonly stallTimeoutNs: number;
}

/** Rules and bounds that the run is judged by. */
interface PlannedJudgement {
  /**
   * Division as requested; `open` marks every log. Targets use the enforced one, which is `open` in
   * scenarios outside the Network division.
   */
  readonly division: RunValues['division'];
  /**
   * Share of the latency bound or of a typical latency (0 to 1) for LoadGen's own delay, above
   * which the run is INVALID.
   */
  readonly generatorLagShareMax: number;
  /** Conditions on figures, apart from the rules. */
  readonly thresholds: readonly Threshold[];
  /** Name of the audit.config in force. */
  readonly auditConfig: string | undefined;
  /**
   * Mark for all logs of a run made for another reason than the user's request: repeated because
   * the first was too short, or a rehearsal.
   */
  readonly planMark?: string;
}

/** Files of the run, and their folder. */
interface PlannedOutput {
  /** Folder of the run. */
  readonly output: string;
  /** Settings of LoadGen's logs, without their folder (`output`). */
  readonly log: Omit<LogSettings, 'outdir'>;
  readonly keepsRecords: boolean;
  readonly writesPage: boolean;
  /** Share of the queries exported as spans, above 0 and at most 1; undefined: no export. */
  readonly otel: { readonly share: number } | undefined;
  /** The user's labels of the run; default: empty. */
  readonly labels: Readonly<Record<string, string>>;
  /** Settings with their sources; empty if the caller has no sources. */
  readonly asked: readonly ResolvedSetting[];
  /**
   * Text of `longhaul_run.yaml`: the requested settings, from which the run can be repeated;
   * undefined: not written.
   */
  readonly record: string | undefined;
}

/**
 * A run with all decisions made, before it starts: what, when, to which nodes, how judged, what is
 * stored.
 */
export interface RunPlan extends PlannedSamples, PlannedTest, PlannedJudgement, PlannedOutput {}

/** Sources of a plan's values. */
interface PlanSources {
  /** Settings with their sources; without them the run writes no `longhaul_run.yaml`. */
  readonly asked?: readonly ResolvedSetting[];
  /** Keys of explicitly set values; defaults do not override LoadGen's configuration files. */
  readonly said?: ReadonlySet<string>;
  readonly audit?: ConfFile | undefined;
  /** Name of the latency bound's flag; default: that of `longhaul run`. */
  readonly latencyFlag?: string;
}

/**
 * Makes a plan from the effective values of `longhaul run`.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID`, `ERR_RULE`,
 *   `ERR_NOT_INSTALLED`
 */
export function planRun(
  given: RunValues,
  { asked = [], said: saidOf = saidKeys(asked), audit, latencyFlag }: PlanSources = {},
): RunPlan {
  const { values, said, linked, linkNotes } = withEngine(given, saidOf);
  const rules = benchmarkOfRun(values.benchmark);
  const encodingName = values.encoding ?? at(Object.keys(rules.encodings), 0);
  const { protocol, preparation, data } = planProtocol(values, said);
  const test = runTestSettings(values, said, rules, audit, latencyFlag);
  const compression = planCompression(values, test, benchmarkEncoding(rules, encodingName));
  refuseHugePlan(test.settings);
  refuseWithoutEffect(values, test.settings);
  const thresholds: readonly Threshold[] = values.thresholds ?? [];
  checkThresholds(thresholds, test.settings);
  const dispatch: DispatchSettings = {
    ...toDispatchSettings(values, nodesOfRun(values.sut, values)),
    benchmark: rules.key,
    encoding: compression.encoding,
    responseEncodings: compression.responseCompressions.map((name) => ({
      form: 'raw',
      compression: name,
    })),
    division: isOutsideDivision(test) ? 'open' : values.division,
    digestPerMillion: protocol.traits.hasDigests
      ? Math.round((values.digest * PER_MILLION) / 100)
      : 0,
    ...planTokens(values, test, rules),
  };
  const target = { dispatch, protocol, preparation };
  return {
    rules,
    encodingName: encodingInWords(encodingName, compression),
    compression,
    cacheFolder: values.cacheDir ?? defaultCacheFolder(),
    dataFolder: values.dataDir,
    isEncodingSaid: values.encoding !== undefined,
    data,
    generated: values.data === undefined ? generatedSetOf(values) : undefined,
    dataChecksums: values.dataChecksums,
    synthetic: syntheticSamples(values),
    keepsSamplesInFile: values.sampleStore === 'file',

    ...test,
    lanes: ONE_LANE.map((lane) => ({ ...lane, target })),
    configNotes: [...linkNotes, ...test.configNotes],
    loadgen: { ...loadgenOf(test.round), rngLibrary: values.rngLibrary },
    linked,
    issueLoop: values.issueLoop,
    warmUpNs: values.warmUp,
    stallTimeoutNs: values.stallTimeout,

    division: values.division,
    generatorLagShareMax: values.generatorLagMax,
    thresholds,
    auditConfig: audit?.name,

    output:
      values.output ??
      join('results', `${confNameOf(rules)}-${timeStamp(new Date())}-${process.pid}`),
    log: {
      enableTrace: values.trace,
      prefixWithDatetime: values.prefixWithDatetime,
      copySummaryToStdout: values.copySummaryToStdout,
      copyDetailToStdout: values.copyDetailToStdout,
    },
    keepsRecords: values.records === 'keep',
    writesPage: values.report === 'html',
    otel: planOtel(values),
    labels: values.labels ?? {},
    asked: settingsOfRun(asked),
    record: asked.length === 0 ? undefined : runRecord(asked),
  };
}

/**
 * @throws MlperfError `ERR_CONFIG_INVALID` for times between tokens that cannot be measured, and
 *   for response lengths that do not apply to tokens
 */
function planTokens(
  { tokenTimes, benchmark, responseBytes }: RunValues,
  { settings, usesTokenLatenciesBeforeAudit }: RunTestSettings,
  { hasTokens = false, isSynthetic = false, responseTensor }: BenchmarkRules,
): Pick<DispatchSettings, 'tokenLatencies' | 'tokenTimes' | 'tokenBytes'> {
  const tokenLatencies = settings.useTokenLatencies || usesTokenLatenciesBeforeAudit;
  // Tokens of `delay` have no size of their own.
  const isKnown = hasTokens && !isSynthetic && responseTensor !== undefined;
  const tokenBytes = isKnown ? OIP_ELEMENT_BYTES[responseTensor.datatype] : undefined;
  if (tokenLatencies && responseBytes !== undefined) {
    throw configInvalid(
      `--response-bytes ${responseBytes} has no effect with bounds on tokens: the tokens are the response`,
    );
  }
  if (!tokenTimes) return { tokenLatencies, tokenTimes, tokenBytes };
  if (!hasTokens) {
    throw configInvalid(`--token-times needs output tokens, and benchmark ${benchmark} has none`);
  }
  if (!settings.useTokenLatencies) {
    throw configInvalid(
      '--token-times needs a run that measures tokens: set --ttft and --tpot, or use_token_latencies in --user-conf',
    );
  }
  if (settings.mode === 'AccuracyOnly') {
    throw configInvalid('--token-times has no effect with --mode accuracy, which is not timed');
  }
  return { tokenLatencies, tokenTimes, tokenBytes };
}

/**
 * Compressions of a run, checked against the rules of its round.
 * @param form The benchmark's own encoding, inside the compression.
 * @throws MlperfError `ERR_RULE` with the rule's text in the network division,
 *   `ERR_CONFIG_INVALID` for what no division allows, `ERR_NOT_INSTALLED` for a compression that
 *   this Node lacks.
 */
function planCompression(
  values: RunValues,
  { settings, round }: RunTestSettings,
  { form }: PayloadEncoding,
): CompressionPlan {
  const { scenario } = settings;
  const plan: CompressionPlan = {
    benchmark: values.benchmark,
    round,
    scenario,
    encoding: { form, compression: codecNamed(values.compression).name },
    scope: values.compressionScope,
    responseCompressions: values.responseCompression.map((name) => codecNamed(name).name),
    hasLargeQueries:
      scenario === 'Offline' ||
      (scenario === 'MultiStream' && settings.multiStreamSamplesPerQuery > 1) ||
      (scenario === 'Server' && settings.serverCoalesceQueries),
  };
  checkCompression(plan, values.division);
  return plan;
}

/** Encoding of the samples as text: `raw`, or `raw, compressed by lz4`. */
function encodingInWords(name: string, { encoding, scope }: CompressionPlan): string {
  if (encoding.compression === 'identity') return name;
  const whole = scope === 'query' ? ', query by query' : '';
  return `${name}, compressed by ${encoding.compression}${whole}`;
}

/** @throws MlperfError `ERR_CONFIG_INVALID` if the benchmark has its own samples. */
function syntheticSamples(values: RunValues): SyntheticSamples {
  const { benchmark, sampleBytes, sampleCount, responseBytes } = values;
  const synthetic = { sampleBytes, sampleCount, responseBytes };
  const said = Object.entries(synthetic).find(
    ([key, value]) => value !== undefined && !takers(key).includes(benchmark),
  );
  if (said !== undefined) {
    const [key, value] = said;
    throw configInvalid(
      `${flagOf(key)} ${value} is for the benchmarks ${takers(key).join(', ')} only; this one is ${benchmark}`,
    );
  }
  return synthetic;
}

/**
 * Benchmarks that accept a setting of made-up samples; the sample itself sets the length of an
 * echo.
 */
function takers(key: string): readonly string[] {
  return SYNTHETIC_BENCHMARKS.filter((name) => key !== 'responseBytes' || name !== 'echo');
}

/**
 * True for a scenario outside the round's Network division; false in v0.5, which has no such
 * division.
 */
export function isOutsideDivision({
  round,
  settings,
}: Pick<RunTestSettings, 'round' | 'settings'>) {
  return hasNetworkDivision(round) && !isNetworkDivisionScenario(settings.scenario);
}

/** Default percentage of queries exported as spans: enough to look at, little to export. */
const OTEL_PERCENT_DEFAULT = 1;

/**
 * Share of the queries exported as spans; undefined: no export.
 * @throws MlperfError `ERR_RULE` in the Network division, `ERR_CONFIG_INVALID` for a share of 0
 */
function planOtel(values: RunValues): { readonly share: number } | undefined {
  const { otel, otelSample, division } = values;
  if (!otel) {
    if (otelSample === undefined) return undefined;
    throw configInvalid(`--otel-sample ${otelSample} has no effect without --otel`);
  }
  if (division === 'network') {
    throw new MlperfError(
      'ERR_RULE',
      '--otel is for --division open: in the Network division the LoadGen node sends nothing but the queries, ' +
        'and adds nothing to them',
    );
  }
  return { share: (otelSample ?? OTEL_PERCENT_DEFAULT) / 100 };
}

/** Refuses settings that would be ignored silently, or fail at the end of a run. */
function refuseWithoutEffect(values: RunValues, { mode, scenario }: TestSettings): void {
  if (mode === 'FindPeakPerformance' && scenario !== 'Server') {
    throw configInvalid(`--mode find-peak searches in Server only, not in ${scenario}`);
  }
  if (mode === 'AccuracyOnly' && values.extendUntilDecided) {
    const message = '--extend-until-decided extends performance runs; --mode accuracy has none';
    throw configInvalid(message);
  }
}

/** Most samples of one run that LoadGen plans in memory before the clock starts. */
const PLANNED_SAMPLES_MAX = 2 ** 28;

/**
 * Refuses a plan of so many queries at once; planning would take minutes and then run out of
 * memory.
 */
function refuseHugePlan(settings: TestSettings): void {
  if (settings.scenario !== 'Server' && settings.scenario !== 'Offline') return;
  const qps =
    settings.scenario === 'Server' ? settings.serverTargetQps : settings.offlineExpectedQps;
  const planned = (qps * settings.minDurationMs) / 1e3;
  if (planned <= PLANNED_SAMPLES_MAX) return;
  throw configInvalid(
    `--target-qps and --min-duration ask for ${Math.round(planned)} samples; a run plans ${PLANNED_SAMPLES_MAX} at most`,
  );
}

/** Local time as part of a folder name: `20261121-093012`. */
function timeStamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}
