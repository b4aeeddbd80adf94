import { expect, it } from 'vitest';
import { summarize } from '../../../../../loadgen-node/loadgen/results/summarize.ts';
import { deriveEffectiveSettings } from '../../../../../loadgen-node/loadgen/settings/effective-settings.ts';
import { LOADGEN_V41 } from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import { defaultTestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';

const BOUND_NS = 15_000_000;

/** The summary of a run of so many samples, all of one latency. */
function summaryOf(
  scenario: 'Server' | 'Offline',
  {
    latencyNs = 1e6,
    count = 100,
    lastS = 100,
  }: { latencyNs?: number; count?: number; lastS?: number },
) {
  const requested = {
    ...defaultTestSettings(),
    scenario,
    serverTargetLatencyNs: BOUND_NS,
    minDurationMs: 10_000,
  };
  const library = { totalSampleCount: 10, performanceSampleCount: 10 };
  const settings = deriveEffectiveSettings(requested, library, LOADGEN_V41).effective;
  return summarize(
    {
      queryCount: scenario === 'Offline' ? 1 : count,
      sampleLatenciesNs: new Float64Array(count).fill(latencyNs),
      queryLatenciesNs: new Float64Array(0),
      maxLatencyS: latencyNs / 1e9,
      finalQuery: { scheduledS: lastS, issuedS: lastS, allDoneS: lastS },
      lastDoneS: 1,
      tokens: null,
    },
    settings,
    LOADGEN_V41.percentileLabelDecimals,
  );
}

it('meets the latency bound up to the bound itself, to the nanosecond', () => {
  const isMet = (latencyNs: number) =>
    summaryOf('Server', { latencyNs }).validity.performance.isMet;
  expect([BOUND_NS - 1, BOUND_NS, BOUND_NS + 1].map(isMet)).toEqual([true, true, false]);
});

it('has a verdict on each bound of a lane, and none where there is no bound', () => {
  const bound = { name: 'latency', ns: BOUND_NS, percentile: 0.99, lane: null };
  const boundsOf = (latencyNs: number) => {
    const { lanes, keepsBounds } = summaryOf('Server', { latencyNs });
    return { keepsBounds, bounds: lanes[0]?.bounds };
  };
  const [kept, missed] = [BOUND_NS, BOUND_NS + 1];
  expect(boundsOf(kept)).toEqual({
    keepsBounds: true,
    bounds: [{ ...bound, valueNs: kept, leastNs: kept, aboveCount: 0, isMet: true }],
  });
  expect(boundsOf(missed)).toEqual({
    keepsBounds: false,
    bounds: [{ ...bound, valueNs: missed, leastNs: missed, aboveCount: 100, isMet: false }],
  });
  expect(summaryOf('Offline', { count: 20 })).toMatchObject({
    keepsBounds: true,
    lanes: [{ completedSamples: 20, lateSamples: 0, bounds: [] }],
  });
});

it('says how many queries there are once where each has one sample, and of one in the singular', () => {
  expect(summaryOf('Server', { count: 1 }).validity.minQueries).toMatchObject({
    ...{ isMet: false, needed: '100 queries', seen: '1 query' },
  });
  expect(summaryOf('Offline', { count: 20 }).validity.minQueries.seen).toBe('20 samples');
});

it('tells a time that is too short as people read it, and in full where it misses by little', () => {
  const seen = (lastS: number) => summaryOf('Server', { lastS }).validity.minDuration;
  expect(seen(0.0770805)).toMatchObject({ isMet: false, needed: '10 s', seen: '77.1 ms' });
  expect(seen(9.9999)).toMatchObject({ isMet: false, seen: '9.9999 s' });
});
