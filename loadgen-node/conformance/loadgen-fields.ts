import { SCENARIOS, type TestMode } from '../../shared/domain/scenario.ts';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { defaultTestSettings, type TestSettings } from '../settings/test-settings.ts';

/** Settings by LoadGen's own field names, values as texts: how golden files hold them. */
export type LoadgenArgs = Readonly<Record<string, string>>;

type FieldKind = 'scenario' | 'mode' | 'count' | 'number' | 'seed' | 'flag';

/** LoadGen's fields (LoadGen: test_settings.h), ours, and the form of the value. */
const FIELDS: Readonly<Record<string, readonly [keyof TestSettings, FieldKind]>> = {
  scenario: ['scenario', 'scenario'],
  mode: ['mode', 'mode'],
  single_stream_expected_latency_ns: ['singleStreamExpectedLatencyNs', 'number'],
  single_stream_target_latency_percentile: ['singleStreamTargetLatencyPercentile', 'number'],
  multi_stream_expected_latency_ns: ['multiStreamExpectedLatencyNs', 'number'],
  multi_stream_target_latency_percentile: ['multiStreamTargetLatencyPercentile', 'number'],
  multi_stream_samples_per_query: ['multiStreamSamplesPerQuery', 'count'],
  server_target_qps: ['serverTargetQps', 'number'],
  server_target_latency_ns: ['serverTargetLatencyNs', 'count'],
  server_target_latency_percentile: ['serverTargetLatencyPercentile', 'number'],
  server_coalesce_queries: ['serverCoalesceQueries', 'flag'],
  server_find_peak_qps_decimals_of_precision: ['serverFindPeakQpsDecimalsOfPrecision', 'number'],
  server_find_peak_qps_boundary_step_size: ['serverFindPeakQpsBoundaryStepSize', 'number'],
  server_max_async_queries: ['serverMaxAsyncQueries', 'count'],
  server_num_issue_query_threads: ['serverNumIssueQueryThreads', 'count'],
  offline_expected_qps: ['offlineExpectedQps', 'number'],
  sample_concatenate_permutation: ['sampleConcatenatePermutation', 'flag'],
  min_duration_ms: ['minDurationMs', 'count'],
  max_duration_ms: ['maxDurationMs', 'count'],
  min_query_count: ['minQueryCount', 'count'],
  max_query_count: ['maxQueryCount', 'count'],
  qsl_rng_seed: ['qslRngSeed', 'seed'],
  sample_index_rng_seed: ['sampleIndexRngSeed', 'seed'],
  schedule_rng_seed: ['scheduleRngSeed', 'seed'],
  accuracy_log_rng_seed: ['accuracyLogRngSeed', 'seed'],
  accuracy_log_probability: ['accuracyLogProbability', 'number'],
  accuracy_log_sampling_target: ['accuracyLogSamplingTarget', 'count'],
  test05: ['test05', 'flag'],
  test05_qsl_rng_seed: ['test05QslRngSeed', 'seed'],
  test05_sample_index_rng_seed: ['test05SampleIndexRngSeed', 'seed'],
  test05_schedule_rng_seed: ['test05ScheduleRngSeed', 'seed'],
  print_timestamps: ['printTimestamps', 'flag'],
  performance_issue_unique: ['performanceIssueUnique', 'flag'],
  performance_issue_same: ['performanceIssueSame', 'flag'],
  performance_issue_same_index: ['performanceIssueSameIndex', 'count'],
  performance_sample_count_override: ['performanceSampleCountOverride', 'count'],
  accuracy_sample_count_override: ['accuracySampleCountOverride', 'count'],
  use_token_latencies: ['useTokenLatencies', 'flag'],
  server_ttft_latency: ['serverTtftLatencyNs', 'count'],
  server_tpot_latency: ['serverTpotLatencyNs', 'count'],
  infer_token_latencies: ['inferTokenLatencies', 'flag'],
  token_latency_scaling_factor: ['tokenLatencyScalingFactor', 'count'],
};

/** Settings as they were asked for, and the names that are not LoadGen's. */
export interface ParsedArgs {
  readonly settings: TestSettings;
  /** For the harness that ran the C++ LoadGen, or misspelt: they have no effect. */
  readonly unknownNames: readonly string[];
}

/**
 * Reads settings over LoadGen's defaults.
 * @throws MlperfError `ERR_CONFIG_INVALID` that lists every wrong value, one per line.
 */
export function parseLoadgenArgs(args: LoadgenArgs): ParsedArgs {
  const problems: string[] = [];
  const unknownNames: string[] = [];
  const values: Record<string, unknown> = { ...defaultTestSettings() };
  for (const [name, text] of Object.entries(args)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (field === undefined) {
      unknownNames.push(name);
      continue;
    }
    const [key, kind] = field;
    const { parse, expected } = KINDS[kind];
    const value = parse(text.trim());
    if (value === undefined) problems.push(`${name} = ${JSON.stringify(text)} must be ${expected}`);
    else values[key] = value;
  }
  if (problems.length > 0) throw new MlperfError('ERR_CONFIG_INVALID', problems.join('\n'));
  // Every field of the defaults is there, each of its own kind.
  return { settings: values as unknown as TestSettings, unknownNames };
}

const MODES: readonly TestMode[] = ['SubmissionRun', 'AccuracyOnly', 'PerformanceOnly'];
const SEED_END = 1n << 64n;

interface Kind {
  readonly expected: string;
  /** Undefined for a text that is not of this kind. */
  readonly parse: (text: string) => unknown;
}

const KINDS: Readonly<Record<FieldKind, Kind>> = {
  scenario: {
    expected: `one of: ${SCENARIOS.join(', ')}`,
    parse: (text) => SCENARIOS.find((scenario) => scenario === text),
  },
  mode: {
    expected: `one of: ${MODES.join(', ')}`,
    parse: (text) => MODES.find((mode) => mode === text),
  },
  count: {
    expected: 'a whole number of 0 or more, below 2^53',
    parse: (text) => (/^\d+$/.test(text) && Number.isSafeInteger(+text) ? +text : undefined),
  },
  number: {
    expected: 'a number',
    parse: (text) => (text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  },
  seed: {
    expected: 'a whole number from 0 to 2^64 - 1',
    parse: (text) => (/^\d+$/.test(text) && BigInt(text) < SEED_END ? BigInt(text) : undefined),
  },
  flag: {
    expected: '0 or 1',
    parse: (text) => ({ '0': false, '1': true, false: false, true: true })[text],
  },
};
