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
import { LOADGEN_V41, type LoadgenBehaviour } from '../settings/loadgen-behaviour.ts';
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
  readonly loadgen: LoadgenBehaviour;
  readonly dispatch: DispatchSettings;
  readonly output: string;
  readonly cacheFolder: string;
  readonly dataFolder: string | undefined;
  readonly stallTimeoutNs: number;
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
    loadgen: { ...LOADGEN_V41, rngLibrary: values.rngLibrary },
    dispatch: {
      ...defaultDispatchSettings(values.sut),
      benchmark: values.benchmark,
      encoding,
      division: isNetworkDivisionScenario(values.scenario) ? 'network' : 'open',
      streamsPerNode: values.streams,
      partBytesMax: values.partBytesMax,
      readyTimeoutMs: values.readyTimeout / 1e6,
    },
    output: values.output ?? join('results', `${rules.key}-${timeStamp(new Date())}`),
    cacheFolder: values.cacheDir ?? defaultCacheFolder(),
    dataFolder: values.dataDir,
    stallTimeoutNs: values.stallTimeout,
  };
}

function testSettings(values: RunValues, rules: BenchmarkRules): TestSettings {
  requireTargetQps(values);
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
    Server: 'the rate of its arrivals',
    Offline: 'the expected samples per second, and with them the size of its query',
  };
  const what = scenario === 'Offline' && mode === 'accuracy' ? undefined : why[scenario];
  if (what === undefined) return;
  const message = `--target-qps <n> is needed: ${scenario} takes ${what} from it`;
  throw new MlperfError('ERR_CONFIG_INVALID', message);
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
