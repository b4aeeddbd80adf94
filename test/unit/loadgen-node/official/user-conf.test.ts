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

// Goal: the user.conf of a run gives the C++ LoadGen the settings of that run, in as few lines as
// say them; what no line can say is refused. Method: the reader of LoadGen's files, which is
// compared with the C++ LoadGen elsewhere, reads the text again.
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

  it('has no seeds where LoadGen reads none from it: they are given beside it', () => {
    const wanted = { ...ofRound('v5.1', 'Server'), scheduleRngSeed: 2n ** 64n - 1n };
    const base = { round: 'v5.1', model: 'resnet50' } as const;
    const { text, settings, seeds } = confOfSettings(wanted, base);
    const { qslRngSeed, sampleIndexRngSeed } = wanted;
    expect(seeds).toEqual({
      qslRngSeed: String(qslRngSeed),
      sampleIndexRngSeed: String(sampleIndexRngSeed),
      scheduleRngSeed: '18446744073709551615',
    });
    expect(settings.scheduleRngSeed).toBe(2n ** 64n - 1n);
    expect(text).toMatch(/^# qsl_rng_seed \d+, .*, schedule_rng_seed 18446744073709551615$/m);
    expect(text).not.toMatch(/^[^#]*seed/m);
    expect(confOfSettings(ofRound('v5.1', 'Server'), base).seeds).toBeUndefined();
    // Up to v4.1 the file has them.
    const v41 = { ...ofRound('v4.1', 'Server'), scheduleRngSeed: 7n };
    const ofFile = confOfSettings(v41, { round: 'v4.1', model: 'resnet50' });
    expect(ofFile.seeds).toBeUndefined();
    expect(ofFile.text).toContain('schedule_rng_seed = 7');
  });

  it('refuses what it cannot say', () => {
    const fine = { ...ofRound('v4.1', 'Server'), serverTargetLatencyNs: 1_500_001 };
    expect(() => confOfSettings(fine, { round: 'v4.1', model: 'resnet50' })).toThrow(
      'server_target_latency_ns 1500001 (LoadGen reads 2000000)',
    );
  });
});
