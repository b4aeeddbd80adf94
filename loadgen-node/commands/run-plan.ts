import { join } from 'node:path';
import { type DispatchSettings, defaultDispatchSettings } from '../../qdl/index.ts';
import {
  type BenchmarkRules,
  benchmarkEncoding,
  benchmarkRules,
} from '../../shared/benchmarks/benchmark-rules.ts';
import { DEFAULT_ROUND, ROUND_SEEDS } from '../../shared/benchmarks/rounds.ts';
import type { PayloadEncoding } from '../../shared/domain/query-sample-library.ts';
import {
  isNetworkDivisionScenario,
  type Scenario,
  type TestMode,
} from '../../shared/domain/scenario.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { defaultCacheFolder } from '../../shared/process/cache-folder.ts';
import { defaultTestSettings, type TestSettings } from '../settings/test-settings.ts';
import type { RunMode, RunValues } from './run-settings.ts';

const TEST_MODE_OF: Readonly<Record<RunMode, TestMode>> = {
  performance: 'PerformanceOnly',
  accuracy: 'AccuracyOnly',
  submission: 'SubmissionRun',
};

/** A run as its parts want it: everything decided, nothing begun. */
export interface RunPlan {
  readonly rules: BenchmarkRules;
  readonly encodingName: string;
  readonly encoding: PayloadEncoding;
  readonly settings: TestSettings;
  readonly dispatch: DispatchSettings;
  readonly output: string;
  readonly cacheFolder: string;
  readonly dataFolder: string | undefined;
  readonly stallTimeoutNs: number;
  readonly generatorLagShareMax: number;
}

/**
 * Makes a plan from the effective values of `longhaul run`.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN`, `ERR_CONFIG_INVALID`
 */
export function planRun(values: RunValues): RunPlan {
  const rules = benchmarkRules(values.benchmark);
  const encodingName = values.encoding ?? (Object.keys(rules.encodings)[0] as string);
  const encoding = benchmarkEncoding(rules, encodingName);
  return {
    rules,
    encodingName,
    encoding,
    settings: testSettings(values, rules),
    dispatch: {
      ...defaultDispatchSettings(values.sut),
      benchmark: values.benchmark,
      encoding,
      division: isNetworkDivisionScenario(values.scenario) ? 'network' : 'open',
      streamsPerNode: values.streams,
      partBytesMax: values.partBytesMax,
      readyTimeoutMs: values.readyTimeout / 1e6,
    },
    output:
      values.output ?? join('results', `${rules.key}-${timeStamp(new Date())}-${process.pid}`),
    cacheFolder: values.cacheDir ?? defaultCacheFolder(),
    dataFolder: values.dataDir,
    stallTimeoutNs: values.stallTimeout,
    generatorLagShareMax: values.generatorLagMax,
  };
}

function testSettings(values: RunValues, rules: BenchmarkRules): TestSettings {
  requireTargetQps(values);
  refuseHugePlan(values);
  const { scenario, targetQps } = values;
  const defaults = defaultTestSettings();
  const seeds = ROUND_SEEDS[DEFAULT_ROUND];
  const streamNs = targetQps === undefined ? undefined : 1e9 / targetQps;
  const percentile = values.targetLatencyPercentile;
  return {
    ...defaults,
    ...seeds,
    scenario,
    mode: TEST_MODE_OF[values.mode],
    singleStreamExpectedLatencyNs: streamNs ?? defaults.singleStreamExpectedLatencyNs,
    singleStreamTargetLatencyPercentile: percentile ?? defaults.singleStreamTargetLatencyPercentile,
    multiStreamExpectedLatencyNs: streamNs ?? defaults.multiStreamExpectedLatencyNs,
    multiStreamTargetLatencyPercentile: percentile ?? defaults.multiStreamTargetLatencyPercentile,
    multiStreamSamplesPerQuery: values.samplesPerQuery,
    serverTargetQps: targetQps ?? defaults.serverTargetQps,
    serverTargetLatencyNs: values.targetLatency ?? rules.serverTargetLatencyNs,
    serverTargetLatencyPercentile: percentile ?? rules.serverTargetLatencyPercentile,
    offlineExpectedQps: targetQps ?? defaults.offlineExpectedQps,
    minDurationMs: wholeMs('--min-duration', values.minDuration),
    maxDurationMs:
      values.maxDuration === undefined ? 0 : wholeMs('--max-duration', values.maxDuration),
    minQueryCount: values.minQueryCount,
    maxQueryCount: values.maxQueryCount ?? 0,
  };
}

/** Where the rate decides what is issued, LoadGen's default of 1 per second helps nobody. */
function requireTargetQps({ scenario, mode, targetQps }: RunValues): void {
  if (targetQps !== undefined) return;
  const why: Partial<Record<Scenario, string>> = {
    Server: 'it is the rate of its arrivals',
    Offline: 'the size of its query follows from the samples per second that you expect',
  };
  const what = scenario === 'Offline' && mode === 'accuracy' ? undefined : why[scenario];
  if (what === undefined) return;
  const message = `--target-qps <n> is needed by ${scenario}: ${what}`;
  throw new MlperfError('ERR_CONFIG_INVALID', message);
}

/** Samples of one run that LoadGen plans in memory before the clock starts. */
const PLANNED_SAMPLES_MAX = 2 ** 28;

/** Planning so many queries takes minutes and then memory: say so at once. */
function refuseHugePlan({ targetQps, minDuration, scenario }: RunValues): void {
  const planned = ((targetQps ?? 0) * minDuration) / 1e9;
  if (planned <= PLANNED_SAMPLES_MAX || scenario === 'MultiStream') return;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `--target-qps and --min-duration ask for ${Math.round(planned)} queries; a run plans ${PLANNED_SAMPLES_MAX} at most`,
  );
}

/** LoadGen keeps run lengths in whole ms. */
function wholeMs(flag: string, ns: number): number {
  if (ns % 1e6 === 0) return ns / 1e6;
  throw new MlperfError(
    'ERR_CONFIG_INVALID',
    `${flag} must be a whole number of ms, it is ${ns} ns`,
  );
}

/** Local time as part of a folder name: `20261121-093012`. */
function timeStamp(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}
