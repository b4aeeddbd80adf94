import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildQueryPlan,
  type QueryPlan,
} from '../../../../../loadgen-node/loadgen/schedule/query-plan.ts';
import { LoadableSets } from '../../../../../loadgen-node/loadgen/schedule/sample-order.ts';
import { deriveEffectiveSettings } from '../../../../../loadgen-node/loadgen/settings/effective-settings.ts';
import {
  LOADGEN_V41,
  LOADGEN_V61,
} from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { SCENARIOS } from '../../../../../shared/domain/scenario.ts';
import { V41_SETTINGS } from '../../../../scenes/simulated-run/simulated-run.ts';

function plansOf(
  settings: Partial<TestSettings>,
  library: { totalSampleCount: number; performanceSampleCount: number },
  phase: 'accuracy' | 'performance',
  loadgen = LOADGEN_V41,
): QueryPlan[] {
  const requested = { ...V41_SETTINGS, ...settings };
  const { effective } = deriveEffectiveSettings(requested, library, loadgen);
  const sets = new LoadableSets(phase, effective, library, loadgen);
  const count = phase === 'accuracy' ? sets.count : 1;
  return Array.from({ length: count }, (_, i) =>
    buildQueryPlan({ phase, settings: effective, set: sets.at(i), loadgen }),
  );
}

// Goal: rules that hold for every plan, whatever the golden traces happen to cover.
// Method: random library sizes, seeds and scenarios.
describe('query plan', () => {
  it('issues every sample of the library in an accuracy run', () => {
    const sizes = fc.record({
      total: fc.integer({ min: 1, max: 300 }),
      perf: fc.integer({ min: 1, max: 50 }),
    });
    fc.assert(
      fc.property(
        sizes,
        fc.constantFrom(...SCENARIOS),
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
        fc.constantFrom(LOADGEN_V41, LOADGEN_V61),
        ({ total, perf }, scenario, seed, loadgen) => {
          const library = { totalSampleCount: total, performanceSampleCount: perf };
          const plans = plansOf({ scenario, qslRngSeed: seed }, library, 'accuracy', loadgen);
          const indices = plans.flatMap((plan) => [...plan.sampleIndices]);
          expect(new Set(indices).size).toBe(total);
          if (scenario !== 'MultiStream') expect(indices).toHaveLength(total);
        },
      ),
    );
  });

  it('issues only loaded samples and never goes back in time in a performance run', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(1000), (perf, minDurationMs) => {
        const library = { totalSampleCount: 500, performanceSampleCount: perf };
        const settings = { scenario: 'Server', serverTargetQps: 500, minDurationMs } as const;
        const [plan] = plansOf(settings, library, 'performance');
        expect(new Set(plan?.sampleIndices).size).toBeLessThanOrEqual(perf);
        const due = plan?.scheduledDeltaNs ?? new Float64Array(0);
        expect(due[0]).toBe(0);
        expect(due.every((ns, i) => i === 0 || ns >= (due[i - 1] ?? 0))).toBe(true);
        expect(due.at(-1)).toBeGreaterThanOrEqual(minDurationMs * 1e6);
      }),
      { numRuns: 50 },
    );
  });

  it('repeats one sample when asked to', () => {
    const library = { totalSampleCount: 100, performanceSampleCount: 100 };
    const settings = { performanceIssueSame: true, performanceIssueSameIndex: 3 };
    for (const scenario of ['SingleStream', 'Server', 'Offline'] as const) {
      const [plan] = plansOf({ ...settings, scenario }, library, 'performance');
      expect(new Set(plan?.sampleIndices)).toEqual(new Set([36]));
    }
  });

  it('refuses Offline with unique samples when the set is smaller than the query', () => {
    const library = { totalSampleCount: 10, performanceSampleCount: 10 };
    const settings = {
      scenario: 'Offline',
      performanceIssueUnique: true,
      performanceSampleCountOverride: 20,
    } as const;
    expect(() => plansOf(settings, library, 'performance')).toThrow(/needs 20 samples .* has 10/);
  });

  it("has LoadGen's times to the ns where two arrivals are minutes apart", () => {
    const library = { totalSampleCount: 1, performanceSampleCount: 1 };
    const settings = {
      scenario: 'Server',
      serverTargetQps: 0.01,
      scheduleRngSeed: 12360n,
      minDurationMs: 0,
      minQueryCount: 5,
    } as const;
    const [plan] = plansOf(settings, library, 'performance');
    // Sums of the draws of std::exponential_distribution.
    expect([...(plan?.scheduledDeltaNs ?? [])]).toEqual([
      0, 104650752340, 159102264842, 259856638141, 642959557102,
    ]);
  });

  it.each<[string, RegExp, Partial<TestSettings>]>([
    [
      'an order of no sample',
      /min_query_count is 0/,
      { scenario: 'Server', sampleConcatenatePermutation: true, minQueryCount: 0 },
    ],
    [
      'more queries than unique samples',
      /performance_issue_unique has samples for 5 queries, but .* asks for 10/,
      {
        scenario: 'MultiStream',
        multiStreamSamplesPerQuery: 2,
        sampleConcatenatePermutation: true,
        performanceIssueUnique: true,
      },
    ],
    ['no query', /give no query/, { scenario: 'SingleStream', minQueryCount: 0, minDurationMs: 0 }],
    [
      'a schedule beyond 2^53 ns',
      /longer than 104 days/,
      { scenario: 'Server', serverTargetQps: 1e-5, minDurationMs: 1e10 },
    ],
  ])('refuses %s, where LoadGen crashes or a double loses bits', (_case, message, settings) => {
    const library = { totalSampleCount: 9, performanceSampleCount: 9 };
    expect(() => plansOf(settings, library, 'performance')).toThrow(message);
  });

  it('needs no expected latency where counts alone decide', () => {
    const library = { totalSampleCount: 10, performanceSampleCount: 10 };
    for (const settings of [
      { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 0 },
      { scenario: 'MultiStream', multiStreamExpectedLatencyNs: 0 },
    ] as const) {
      expect(plansOf(settings, library, 'accuracy')).toHaveLength(1);
    }
  });

  it.each([
    ['SingleStream', { singleStreamExpectedLatencyNs: 0 }, /single_stream_expected_latency_ns/],
    ['MultiStream', { multiStreamExpectedLatencyNs: 0 }, /multi_stream_expected_latency_ns/],
    ['Server', { serverTargetQps: 0 }, /server_target_qps/],
  ] as const)('refuses %s settings that never end', (scenario, settings, message) => {
    const library = { totalSampleCount: 10, performanceSampleCount: 10 };
    expect(() => plansOf({ scenario, ...settings }, library, 'performance')).toThrow(message);
  });
});
