import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfFiles } from '../../../../loadgen-node/loadgen/settings/read-conf-files.ts';
import type { TestSettings } from '../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { confOfSettings } from '../../../../loadgen-node/official/user-conf.ts';
import { SCENARIOS } from '../../../../shared/domain/scenario.ts';

const ROUNDS = ['v4.1', 'v5.1', 'v6.1'] as const;

function ofRound(round: (typeof ROUNDS)[number], scenario: TestSettings['scenario']): TestSettings {
  return readConfFiles({ round, model: 'resnet50', scenario }).settings.toTestSettings();
}

// Goal: the user.conf of a run gives the C++ LoadGen the settings of that run, in as few lines as say them; what no line can say
// is refused.
// Method: the reader of LoadGen's files, which is compared with the C++ LoadGen elsewhere, reads the text again.
describe('user.conf of a run by the C++ LoadGen', () => {
  it('is empty where the round says all', () => {
    for (const round of ROUNDS) {
      const { text } = confOfSettings(ofRound(round, 'Offline'), { round, model: 'resnet50' });
      expect(text.trim().split('\n')).toHaveLength(1);
    }
  });

  it.each(ROUNDS)('of round %s says other bounds on tokens', (round) => {
    const base = { round, model: 'llama2-70b' };
    const { settings } = readConfFiles({ ...base, scenario: 'Server' });
    const bounds = { serverTtftLatencyNs: 450_000_000, serverTpotLatencyNs: 40_000_000 };
    const wanted = { ...settings.toTestSettings(), ...bounds };
    expect(wanted.useTokenLatencies).toBe(true);
    expect(confOfSettings(wanted, base).settings).toMatchObject(bounds);
  });

  it('says the settings of any run, so that they are read again', () => {
    const inputs = fc.record({
      round: fc.constantFrom(...ROUNDS),
      scenario: fc.constantFrom(...SCENARIOS),
      qps: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
      percentile: fc.double({ min: 0.01, max: 0.999, noNaN: true }),
      boundMs: fc.integer({ min: 1, max: 100_000 }),
      durationMs: fc.integer({ min: 1, max: 1e6 }),
      count: fc.integer({ min: 1, max: 1e6 }),
      coalesces: fc.boolean(),
    });
    fc.assert(
      fc.property(
        inputs,
        ({ round, scenario, qps, percentile, boundMs, durationMs, count, coalesces }) => {
          const wanted: TestSettings = {
            ...ofRound(round, scenario),
            ...{ serverTargetQps: qps, offlineExpectedQps: qps, minDurationMs: durationMs },
            ...{ singleStreamExpectedLatencyNs: 1e9 / qps, minQueryCount: count },
            ...{ serverTargetLatencyNs: boundMs * 1e6, serverTargetLatencyPercentile: percentile },
            serverCoalesceQueries: coalesces,
          };
          const { text, settings } = confOfSettings(wanted, { round, model: 'resnet50' });
          expect(text).not.toContain(scenario === 'Server' ? 'Offline' : '.Server.');
          const said: Partial<TestSettings> =
            scenario === 'Server'
              ? {
                  serverTargetQps: qps,
                  serverTargetLatencyNs: boundMs * 1e6,
                  serverCoalesceQueries: coalesces,
                }
              : {};
          expect(settings).toMatchObject({
            minDurationMs: durationMs,
            minQueryCount: count,
            ...said,
          });
        },
      ),
    );
  });

  it('refuses what only the round may set', () => {
    const settings = { ...ofRound('v5.1', 'Server'), qslRngSeed: 7n };
    expect(() => confOfSettings(settings, { round: 'v5.1', model: 'resnet50' })).toThrow(
      /user\.conf cannot set qsl_rng_seed 7 \(LoadGen reads \d+\)[\s\S]*only the round's own mlperf\.conf sets qsl_rng_seed/,
    );
    const fine = { ...ofRound('v4.1', 'Server'), serverTargetLatencyNs: 1_500_001 };
    expect(() => confOfSettings(fine, { round: 'v4.1', model: 'resnet50' })).toThrow(
      'server_target_latency_ns 1500001 (LoadGen reads 2000000)',
    );
  });
});
