import { describe, expect, it } from 'vitest';
import type { TestSettings } from '../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { nextRun } from '../../../../loadgen-node/run/expected-rate.ts';
import type { RunPlan } from '../../../../loadgen-node/run/plan/run-plan.ts';
import { simulatedTest, V41_SETTINGS } from '../../../scenes/simulated-run/simulated-run.ts';

const SECOND_NS = 1e9;

/** A run of a SUT that takes 2 ms for a query, and what is to be made of it. */
async function next(asked: Partial<TestSettings>, isExtended = true) {
  const settings = { ...V41_SETTINGS, minDurationMs: 1000, ...asked };
  const outcome = await simulatedTest(settings, {
    serviceNs: () => 2_000_000,
    isQueue: true,
  }).run();
  const plan = { settings, extendsUntilDecided: isExtended } as unknown as RunPlan;
  return {
    outcome,
    nextAfter: (takenNs: number, number = 1) => nextRun({ plan, outcome }, number, takenNs),
  };
}

// Goal: a run for which LoadGen planned too little is made again with what was seen, and then lasts
// long enough. Method: runs under simulated time, of which the second has the settings that the
// first one led to.
describe('nextRun', () => {
  it.each([
    ['SingleStream', { singleStreamExpectedLatencyNs: 20_000_000 }],
    ['MultiStream', { multiStreamExpectedLatencyNs: 60_000_000 }],
    ['Offline', { offlineExpectedQps: 20 }],
  ] as const)('expects what was seen in %s', async (scenario, expected) => {
    const asked = { scenario, minQueryCount: 1, ...expected };
    const { outcome, nextAfter } = await next(asked);
    const rules = outcome.verdicts.loadgen.reasons.map(({ rule }) => rule);
    expect(rules).toContain('min-duration');
    const again = nextAfter(SECOND_NS);
    expect(again?.text).toMatch(/^made again with --target-qps \d+(?:\.\d+)?: LoadGen expected /);
    expect(again?.plan.planMark).toContain('the run was made again');
    const { outcome: second, nextAfter: nextAfterSecond } = await next(again?.plan.settings ?? {});
    const stillBroken = second.verdicts.loadgen.reasons.map(({ rule }) => rule);
    expect(stillBroken).not.toContain('min-duration');
    expect(nextAfterSecond(SECOND_NS)).toBeUndefined();
  });

  it('is none where the run is as LoadGen makes it, for the fourth time, or beyond the limit', async () => {
    const asked = { scenario: 'Offline', offlineExpectedQps: 20, minQueryCount: 1 } as const;
    expect((await next(asked, false)).nextAfter(SECOND_NS)).toBeUndefined();
    const { nextAfter } = await next({ ...asked, maxDurationMs: 10_000 });
    expect(nextAfter(SECOND_NS, 4)).toBeUndefined();
    expect(nextAfter(9 * SECOND_NS)).toBeUndefined();
    expect(nextAfter(SECOND_NS)).toBeDefined();
  });

  it('is none of Server, whose length follows from its rate', async () => {
    const { nextAfter } = await next({ scenario: 'Server', serverTargetQps: 5, minQueryCount: 1 });
    expect(nextAfter(SECOND_NS)).toBeUndefined();
  });
});
