import { expect, it } from 'vitest';
import { summarize } from '../../../../../loadgen-node/loadgen/results/summarize.ts';
import { deriveEffectiveSettings } from '../../../../../loadgen-node/loadgen/settings/effective-settings.ts';
import { LOADGEN_V41 } from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import { defaultTestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';

const BOUND_NS = 15_000_000;

/** A Server run of 100 samples, all of one latency. */
function boundIsMet(latencyNs: number): boolean {
  const requested = {
    ...defaultTestSettings(),
    scenario: 'Server' as const,
    serverTargetLatencyNs: BOUND_NS,
  };
  const library = { totalSampleCount: 10, performanceSampleCount: 10 };
  const settings = deriveEffectiveSettings(requested, library, LOADGEN_V41).effective;
  const { validity } = summarize(
    {
      queryCount: 100,
      sampleLatenciesNs: new Float64Array(100).fill(latencyNs),
      queryLatenciesNs: new Float64Array(0),
      maxLatencyS: latencyNs / 1e9,
      finalQuery: { scheduledS: 100, issuedS: 100, allDoneS: 100 },
      lastDoneS: 1,
      tokens: null,
    },
    settings,
    LOADGEN_V41.percentileLabelDecimals,
  );
  return validity.performance.isMet;
}

it('meets the latency bound up to the bound itself, to the nanosecond', () => {
  expect([BOUND_NS - 1, BOUND_NS, BOUND_NS + 1].map(boundIsMet)).toEqual([true, true, false]);
});
