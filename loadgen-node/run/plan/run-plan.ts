import { join } from 'node:path';
import type { DispatchSettings, Division } from '../../../qdl/index.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../../shared/base/files/cache-folder.ts';
import type { GeneratedSet } from '../../../shared/benchmarks/digits/digit-sets.ts';
import type { ResolvedSetting } from '../../../shared/config/resolve-settings.ts';
import { flagOf } from '../../../shared/config/setting.ts';
import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import { isNetworkDivisionScenario } from '../../../shared/domain/scenario.ts';
import { PER_MILLION } from '../../../shared/evidence/payload-digest.ts';
import { benchmarkEncoding, benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import type { CompressionPlan } from '../../../shared/rules/check-compression.ts';
import type { BenchmarkRules } from '../../../shared/rules/rows/benchmark-row.ts';
import { SYNTHETIC_BENCHMARKS } from '../../../shared/rules/rows/synthetic-samples.ts';
import { SERVER_RUNS_V05 } from '../../loadgen/engine/test-outcome.ts';
import type { LogSettings } from '../../loadgen/logs/write/test-logs.ts';
import type { ConfFile } from '../../loadgen/settings/from-config.ts';
import { type LoadgenBehaviour, loadgenOf } from '../../loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import { checkThresholds } from '../../observe/thresholds/check-thresholds.ts';
import type { Threshold } from '../../observe/thresholds/condition.ts';
import { generatedSetOf } from '../../samples/benchmarks/generated-data.ts';
import type { SyntheticSamples } from '../../samples/benchmarks/loadgen-benchmark.ts';
import type { OipAsked } from '../../samples/oip/oip-asked.ts';
import { toDispatchSettings } from './dispatch-options.ts';
import { nodesOfRun, oipAsked } from './oip-options.ts';
import { encodingInWords, planCompression, responseEncodings } from './run-compression.ts';
import { settingsOfRun } from './run-record.ts';
import type { RunValues } from './run-settings.ts';
import { type RunTestSettings, runTestSettings } from './run-test-settings.ts';

/** A run as its parts want it: everything decided, nothing begun. */
export interface RunPlan extends RunTestSettings {
  readonly rules: BenchmarkRules;
  /** For people. */
  readonly encodingName: string;
  readonly encoding: PayloadEncoding;
  readonly compression: CompressionPlan;
  /** Whether the rules of the Network division are enforced; `open` marks every log. */
  readonly division: Division;
  readonly loadgen: LoadgenBehaviour;
  readonly dispatch: DispatchSettings;
  /** Set where the nodes speak the Open Inference Protocol. */
  readonly oip?: OipAsked;
  /** What stands between LoadGen and its nodes beside their network, as a mark for all logs; absent: nothing does. */
  readonly linkMark?: string;
  readonly output: string;
  readonly cacheFolder: string;
  readonly dataFolder: string | undefined;
  /** Which images longhaul draws; undefined: the standard ones, or the data is not longhaul's. */
  readonly generated: GeneratedSet | undefined;
  /** List of checksums for the data set, in place of the one in its folder. */
  readonly dataChecksums: string | undefined;
  readonly synthetic: SyntheticSamples;
  readonly stallTimeoutNs: number;
  readonly generatorLagShareMax: number;
  /** What figures must be, beside the rules. */
  readonly thresholds: readonly Threshold[];
  /** Runs of which the lowest rate counts. */
  readonly runCount: number;
  readonly extendsUntilDecided: boolean;
  /** What is logged; the folder is `output`. */
  readonly log: Omit<LogSettings, 'outdir'>;
  /** audit.config whose settings are in force. */
  readonly auditConfig: string | undefined;
  /** False: `--records none`. */
  readonly keepsRecords: boolean;
  /** False: `--report none`. */
  readonly writesPage: boolean;
  /** What was asked for, each with its source; empty where nobody told. */
  readonly asked: readonly ResolvedSetting[];
  /** Text of `longhaul_run.yaml`: what was asked for, to be asked for again; undefined: none is kept. */
  readonly record: string | undefined;
}

/** What a plan depends on besides the values of the settings. */
interface PlanContext {
  /** Keys of the values that were said; defaults do not win over LoadGen's configuration files. */
  readonly said?: ReadonlySet<string>;
  readonly audit?: ConfFile | undefined;
  readonly record?: string;
  readonly asked?: readonly ResolvedSetting[];
}

/**
 * Makes a plan from the effective values of `longhaul run`.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID`, `ERR_RULE`, `ERR_NOT_INSTALLED`
 */
export function planRun(
  values: RunValues,
  { said = new Set(), audit, record, asked = [] }: PlanContext = {},
): RunPlan {
  const rules = benchmarkRules(values.benchmark);
  const encodingName = values.encoding ?? (Object.keys(rules.encodings)[0] as string);
  const oip = oipAsked(values, { ...values, values, said });
  const test = runTestSettings(values, said, rules, audit);
  const compression = planCompression(values, test, benchmarkEncoding(rules, encodingName));
  const { encoding } = compression;
  refuseHugePlan(test.settings);
  refuseWithoutEffect(values, test.settings);
  checkThresholds(values.thresholds ?? [], test.settings);
  return {
    rules,
    encodingName: encodingInWords(encodingName, compression),
    encoding,
    compression,
    division: values.division,
    ...test,
    loadgen: { ...loadgenOf(test.round), rngLibrary: values.rngLibrary },
    dispatch: {
      ...toDispatchSettings(values, nodesOfRun(values.sut, values)),
      benchmark: values.benchmark,
      encoding,
      responseEncodings: responseEncodings(compression),
      division: isNetworkDivisionScenario(values.scenario) ? values.division : 'open',
      digestPerMillion: oip === undefined ? Math.round((values.digest * PER_MILLION) / 100) : 0,
      tokenLatencies: test.settings.useTokenLatencies || test.usesTokenLatenciesBeforeAudit,
    },
    ...(oip !== undefined && { oip }),
    output:
      values.output ?? join('results', `${rules.key}-${timeStamp(new Date())}-${process.pid}`),
    cacheFolder: values.cacheDir ?? defaultCacheFolder(),
    dataFolder: values.dataDir,
    // The seed of random tensors is none of images.
    generated: values.data === undefined ? generatedSetOf(values) : undefined,
    dataChecksums: values.dataChecksums,
    synthetic: syntheticSamples(values),
    stallTimeoutNs: values.stallTimeout,
    generatorLagShareMax: values.generatorLagMax,
    thresholds: values.thresholds ?? [],
    runCount: values.runs ?? runCountOfRound(test),
    extendsUntilDecided: values.extendUntilDecided,
    log: {
      enableTrace: values.trace,
      prefixWithDatetime: values.prefixWithDatetime,
      copySummaryToStdout: values.copySummaryToStdout,
      copyDetailToStdout: values.copyDetailToStdout,
    },
    auditConfig: audit?.name,
    keepsRecords: values.records === 'keep',
    writesPage: values.report === 'html',
    asked: settingsOfRun(asked),
    record,
  };
}

/** @throws MlperfError `ERR_CONFIG_INVALID` where the benchmark has samples of its own. */
function syntheticSamples(values: RunValues): SyntheticSamples {
  const { benchmark, sampleBytes, sampleCount, responseBytes } = values;
  const synthetic = { sampleBytes, sampleCount, responseBytes };
  const said = Object.entries(synthetic).find(
    ([key, value]) => value !== undefined && !takers(key).includes(benchmark),
  );
  if (said !== undefined) {
    const [key, value] = said;
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `${flagOf(key)} ${value} is for the benchmarks ${takers(key).join(', ')} only; this one is ${benchmark}`,
    );
  }
  return synthetic;
}

/** Benchmarks that a setting of made-up samples is for; how long an echo is, its sample says. */
function takers(key: string): readonly string[] {
  return SYNTHETIC_BENCHMARKS.filter((name) => key !== 'responseBytes' || name !== 'echo');
}

/** Round v0.5 asks for several Server runs (Rule: paper of the round, section 4). */
function runCountOfRound({ round, settings }: RunTestSettings): number {
  const { scenario, mode } = settings;
  return round === 'v0.5' && scenario === 'Server' && mode === 'PerformanceOnly'
    ? SERVER_RUNS_V05
    : 1;
}

/** What would be ignored silently, or fail at the end of a run. */
function refuseWithoutEffect(values: RunValues, { mode, scenario }: TestSettings): void {
  if (mode === 'FindPeakPerformance' && scenario !== 'Server') {
    throw new MlperfError(
      'ERR_CONFIG_INVALID',
      `--mode find-peak searches in Server only, not in ${scenario}`,
    );
  }
  if (mode === 'AccuracyOnly' && values.extendUntilDecided) {
    const message = '--extend-until-decided extends performance runs; --mode accuracy has none';
    throw new MlperfError('ERR_CONFIG_INVALID', message);
  }
}

/** Samples of one run that LoadGen plans in memory before the clock starts. */
const PLANNED_SAMPLES_MAX = 2 ** 28;

/** Planning so many queries takes minutes and then memory: say so at once. */
function refuseHugePlan(settings: TestSettings): void {
  if (settings.scenario !== 'Server' && settings.scenario !== 'Offline') return;
  const qps =
    settings.scenario === 'Server' ? settings.serverTargetQps : settings.offlineExpectedQps;
  const planned = (qps * settings.minDurationMs) / 1e3;
  if (planned <= PLANNED_SAMPLES_MAX) return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `--target-qps and --min-duration ask for ${Math.round(planned)} samples; a run plans ${PLANNED_SAMPLES_MAX} at most`,
  );
}

/** Local time as part of a folder name: `20261121-093012`. */
function timeStamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}
