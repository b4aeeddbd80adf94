import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { Scenario, TestMode } from '../../../shared/domain/scenario.ts';

const GOLDEN = new URL('../../golden/', import.meta.url);

/** Reads one golden file, by its path below `test/golden`. */
export function readGolden<T>(path: string): T {
  return JSON.parse(readGoldenText(path)) as T;
}

/** As {@link readGolden}, for a file that is not JSON. */
export function readGoldenText(path: string): string {
  return readFileSync(new URL(path, GOLDEN), 'utf8');
}

/** Names of the golden files of a folder, without `.json`. */
export function goldenNames(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, GOLDEN))
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
}

/** Names of the folders of a folder of golden files. */
export function goldenFolders(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, GOLDEN), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

/** SHA-256 over values, each as 8 bytes, low byte first: whole numbers as integers. */
export function sha256OfUint64(values: Iterable<number>): string {
  const list = [...values];
  const bytes = Buffer.alloc(list.length * 8);
  list.forEach((value, i) => {
    bytes.writeUInt32LE(value % 2 ** 32, i * 8);
    bytes.writeUInt32LE(Math.floor(value / 2 ** 32), i * 8 + 4);
  });
  return createHash('sha256').update(bytes).digest('hex');
}

/** SHA-256 over values, each as an IEEE double, low byte first. */
export function sha256OfDoubles(values: Iterable<number>): string {
  return createHash('sha256')
    .update(new Uint8Array(Float64Array.from(values).buffer))
    .digest('hex');
}

/** Reads the bits of a double from 16 hex digits, most significant first. */
export function doubleOfBits(hex: string): number {
  return Buffer.from(hex, 'hex').readDoubleBE(0);
}

/** Test settings of the arguments (LoadGen's field names) with which a golden file was made. */
export function settingsOfArgs(args: Readonly<Record<string, string>>): TestSettings {
  const number = (key: string, fallback: number): number =>
    args[key] === undefined ? fallback : Number(args[key]);
  const seed = (key: string): bigint => BigInt(args[key] ?? '0');
  const flag = (key: string): boolean => args[key] === '1';
  const d = defaultTestSettings();
  return {
    ...d,
    scenario: (args['scenario'] ?? d.scenario) as Scenario,
    mode: (args['mode'] ?? d.mode) as TestMode,
    singleStreamExpectedLatencyNs: number(
      'single_stream_expected_latency_ns',
      d.singleStreamExpectedLatencyNs,
    ),
    singleStreamTargetLatencyPercentile: number(
      'single_stream_target_latency_percentile',
      d.singleStreamTargetLatencyPercentile,
    ),
    multiStreamExpectedLatencyNs: number(
      'multi_stream_expected_latency_ns',
      d.multiStreamExpectedLatencyNs,
    ),
    multiStreamSamplesPerQuery: number(
      'multi_stream_samples_per_query',
      d.multiStreamSamplesPerQuery,
    ),
    serverTargetQps: number('server_target_qps', d.serverTargetQps),
    serverTargetLatencyNs: number('server_target_latency_ns', d.serverTargetLatencyNs),
    serverMaxAsyncQueries: number('server_max_async_queries', d.serverMaxAsyncQueries),
    serverCoalesceQueries: flag('server_coalesce_queries'),
    serverNumIssueQueryThreads: number('server_num_issue_query_threads', 0),
    offlineExpectedQps: number('offline_expected_qps', d.offlineExpectedQps),
    sampleConcatenatePermutation: flag('sample_concatenate_permutation'),
    minDurationMs: number('min_duration_ms', d.minDurationMs),
    maxDurationMs: number('max_duration_ms', d.maxDurationMs),
    minQueryCount: number('min_query_count', d.minQueryCount),
    maxQueryCount: number('max_query_count', d.maxQueryCount),
    qslRngSeed: seed('qsl_rng_seed'),
    sampleIndexRngSeed: seed('sample_index_rng_seed'),
    scheduleRngSeed: seed('schedule_rng_seed'),
    accuracyLogRngSeed: seed('accuracy_log_rng_seed'),
    accuracyLogProbability: number('accuracy_log_probability', 0),
    accuracyLogSamplingTarget: number('accuracy_log_sampling_target', 0),
    performanceIssueUnique: flag('performance_issue_unique'),
    performanceIssueSame: flag('performance_issue_same'),
    performanceIssueSameIndex: number('performance_issue_same_index', 0),
    performanceSampleCountOverride: number('performance_sample_count_override', 0),
    accuracySampleCountOverride: number('accuracy_sample_count_override', 0),
    test05: flag('test05'),
    test05QslRngSeed: seed('test05_qsl_rng_seed'),
    test05SampleIndexRngSeed: seed('test05_sample_index_rng_seed'),
    test05ScheduleRngSeed: seed('test05_schedule_rng_seed'),
    serverFindPeakQpsDecimalsOfPrecision: number('server_find_peak_qps_decimals_of_precision', 1),
    printTimestamps: flag('print_timestamps'),
    useTokenLatencies: flag('use_token_latencies'),
    serverTtftLatencyNs: number('server_ttft_latency', d.serverTtftLatencyNs),
    serverTpotLatencyNs: number('server_tpot_latency', d.serverTpotLatencyNs),
    inferTokenLatencies: flag('infer_token_latencies'),
    tokenLatencyScalingFactor: number('token_latency_scaling_factor', 1),
  };
}

/** Path of a golden file, for what opens files itself. */
export function goldenPath(path: string): string {
  return fileURLToPath(new URL(path, GOLDEN));
}
