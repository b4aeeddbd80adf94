import { describe, expect, it } from 'vitest';
import { buildTrace } from '../../../../../loadgen-node/loadgen/conformance/trace.ts';
import { LOADGEN_V61 } from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import { planSizeProblems } from '../../../../../loadgen-node/loadgen/settings/plan-size.ts';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';

// Goal: settings that ask for more than a plan can have are refused before any of it is made, with
// the number asked for, the limit, and the setting to change.

const TEN_MINUTES = { minDurationMs: 600_000 };

function problems(settings: Partial<TestSettings>): string[] {
  return planSizeProblems({ ...defaultTestSettings(), ...settings });
}

describe('a plan', () => {
  it.each<[Partial<TestSettings>, RegExp]>([
    [
      { scenario: 'Server', serverTargetQps: 1e9, ...TEN_MINUTES },
      /^server_target_qps 1000000000 .* and min_duration_ms 600000 .* ask for 600000000000 samples .*: lower server_target_qps, or lower min_duration_ms$/,
    ],
    [
      { scenario: 'Server', minQueryCount: 99_999_999_999 },
      /^min_query_count 99999999999 .* asks for 99999999999 samples in one run; 268435456 are the most: lower min_query_count$/,
    ],
    [{ scenario: 'Server', mode: 'SubmissionRun', serverTargetQps: 9.3e18 }, /lower server_target/],
    [{ scenario: 'Offline', offlineExpectedQps: 1e7, ...TEN_MINUTES }, /for 6600000000 samples/],
    [
      { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 1, ...TEN_MINUTES },
      /for 1200000000000 samples .* raise single_stream_expected_latency_ns, or lower min_dur/,
    ],
    [
      { scenario: 'MultiStream', multiStreamSamplesPerQuery: 2 ** 27, minQueryCount: 3 },
      /multi_stream_samples_per_query 134217728 ask for .* or multi_stream_samples_per_query$/,
    ],
    [
      { scenario: 'MultiStream', mode: 'AccuracyOnly', multiStreamSamplesPerQuery: 2 ** 29 },
      /: lower multi_stream_samples_per_query$/,
    ],
    [
      { scenario: 'Server', serverTargetQps: 1e-300, minQueryCount: 2 },
      /^server_target_qps 1e-300 .* and min_query_count 2 .* ask for a run of more than 104 days, the most: raise server_target_qps, or lower min_query_count$/,
    ],
    [{ scenario: 'Server', serverTargetQps: 1e-4, minQueryCount: 1000 }, /more than 104 days/],
    [
      { scenario: 'SingleStream', singleStreamExpectedLatencyNs: Number.POSITIVE_INFINITY },
      /^single_stream_expected_latency_ns Infinity .* asks for .*: lower single_stream_expected_/,
    ],
    [{ scenario: 'MultiStream', multiStreamExpectedLatencyNs: 1e16 }, /more than 104 days/],
  ])('of %j is refused', (settings, text) => {
    expect(problems(settings)).toEqual([expect.stringMatching(text)]);
  });

  it.each<Partial<TestSettings>>([
    { scenario: 'Server', serverTargetQps: 447_000, ...TEN_MINUTES },
    { scenario: 'Server', serverTargetQps: 1e9, minDurationMs: 0 },
    { scenario: 'Server', mode: 'AccuracyOnly', serverTargetQps: 1e12, minQueryCount: 1e12 },
    { scenario: 'Offline', performanceIssueUnique: true, offlineExpectedQps: 1e12 },
    { scenario: 'Server', serverTargetQps: 1e-300, minQueryCount: 1 },
    { scenario: 'Server', serverTargetQps: 0.01, minQueryCount: 1000 },
    // These have texts of their own.
    { scenario: 'Server', serverTargetQps: 0, minQueryCount: 100 },
    { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 0 },
    { scenario: 'Server', serverTargetQps: Number.NaN },
  ])('of %j is not', (settings) => {
    expect(problems(settings)).toEqual([]);
  });
});

describe('a trace', () => {
  const trace = (total: number, performance: number, settings: Partial<TestSettings>) => () =>
    buildTrace({
      settings: { ...defaultTestSettings(), ...settings },
      library: { totalSampleCount: total, performanceSampleCount: performance },
      loadgen: LOADGEN_V61,
      isFull: false,
    });

  it.each([1e12, 2 ** 32])('of a library of %d samples is refused', (total) => {
    expect(trace(total, 10, { scenario: 'Server' })).toThrow(
      `the sample library has ${total} samples (--qsl-total of a trace); 268435456 are the most`,
    );
  });

  it('of too many sets is refused', () => {
    expect(trace(10_001, 1, { scenario: 'Server', mode: 'AccuracyOnly' })).toThrow(
      /10001 sets; a trace shows 10000 at most: raise --qsl-performance/,
    );
  });

  it('of a plan that is too large is refused', () => {
    expect(trace(100, 10, { scenario: 'Server', serverTargetQps: 9.3e18 })).toThrow(
      /lower server_target_qps/,
    );
  });
});
