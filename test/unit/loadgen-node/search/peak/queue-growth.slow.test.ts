import { describe, expect, it } from 'vitest';
import { likelyGrowth } from '../../../../../loadgen-node/loadgen/results/queue-growth.ts';
import { findPeak } from '../../../../../loadgen-node/search/peak/find-peak.ts';
import { longEnough } from '../../../../../loadgen-node/search/peak/pace.ts';
import { peakText } from '../../../../../loadgen-node/search/peak/print-peak.ts';
import {
  ASKED,
  CAPACITY,
  DELAY_QUEUE,
  delaySearch,
  queueProbes,
  searchDelay,
} from '../../../../scenes/simulated-run/queue.ts';

// Goal: a run whose queue grew all through confirms nothing, and no search names more than the SUT
// completes. Method: a simulated queue of 20 ms and one server, which completes 50/s; 1,000
// searches of it are in test/outside/peak.

const [HASTY, DEFAULT] = ASKED;

/** Share of runs of 50 bounds whose queue is found to grow. */
async function grownShare(boundS: number, load: number, runs: number): Promise<number> {
  const search = delaySearch(DEFAULT, boundS);
  let grown = 0;
  for (let seed = 1; seed <= runs; seed += 1) {
    const probes = queueProbes({ ...DELAY_QUEUE, seed }, search);
    const { latenciesNs, scheduledPerSecond } = await probes({ kind: 'full', load, number: 0 });
    if (likelyGrowth(latenciesNs, scheduledPerSecond) !== null) grown += 1;
  }
  return grown / runs;
}

describe('the growth of a queue', () => {
  it('is the share that the load is above what is completed', () => {
    // 52 a second of 50: each second the wait grows by 40 ms.
    const latenciesNs = Float64Array.from({ length: 5200 }, (_, i) => 20e6 + (i / 52) * 40e6);
    expect(likelyGrowth(latenciesNs, 52)).toBeCloseTo(0.04, 6);
  });

  it('is none of a machine that stood still once, even at the end', () => {
    const latenciesNs = new Float64Array(1000).fill(20e6).fill(2e9, 900);
    expect(likelyGrowth(latenciesNs, 50)).toBeNull();
  });

  it('is none of latencies that are all the same, and not known of a few queries', () => {
    expect(likelyGrowth(new Float64Array(100).fill(5e6), 50)).toBeNull();
    const few = Float64Array.from({ length: 79 }, (_, i) => i * 1e9);
    expect(likelyGrowth(few, 50)).toBeNull();
    expect(likelyGrowth(few, null)).toBeNull();
  });

  it.each([
    ['stable loads: bound 500 ms, at the limit', 0.5, 45.4, 0, 0.03],
    ['stable loads: bound 2 s, 4 % below what is completed', 2, 48, 0, 0.04],
    ['bound 2 s, at the limit, 2.3 % below what is completed', 2, 48.85, 0, 0.1],
    ['a load 5 % above what is completed', 2, 52.5, 0.8, 1],
  ])(
    'is found above what is completed, and seldom at stable loads: %s',
    async (_name, boundS, load, low, high) => {
      const share = await grownShare(boundS, load, 200);
      expect(share).toBeGreaterThanOrEqual(low);
      expect(share).toBeLessThanOrEqual(high);
    },
  );
});

describe('a search that is too short for its bound', () => {
  it('is made longer: 50 bounds a full run, 200 all screenings', () => {
    const { full, screeningNsMax } = delaySearch(HASTY, 2);
    expect([full.minDurationNs, screeningNsMax]).toEqual([100e9, 400e9]);
    const long = delaySearch(DEFAULT, 0.1);
    expect([long.full.minDurationNs, long.screeningNsMax]).toEqual([10e9, 120e9]);
  });

  it('stays as it is in fixed intervals', () => {
    const streams = { ...delaySearch(HASTY, 0.05), kind: 'streams', boundNs: 2e9 } as const;
    expect(longEnough(streams)).toBe(streams);
  });

  // The requested rate is up to 10 % above the rate that the confirming run scheduled.
  it.each([0.5, 2])('names no more than the SUT completes: bound %d s', async (boundS) => {
    for (const asked of [HASTY, DEFAULT]) {
      for (let seed = 1; seed <= 15; seed += 1) {
        const { value } = await searchDelay(delaySearch(asked, boundS), seed);
        if (value === null) continue; // One load was tried, and it did not hold.
        expect(value, `${asked.name}, seed ${seed}`).toBeLessThanOrEqual(1.02 * CAPACITY);
        expect(value, `${asked.name}, seed ${seed}`).toBeGreaterThan(0.5 * CAPACITY);
      }
    }
  });
});

describe('a search', () => {
  const search = delaySearch(DEFAULT, 2);
  const inner = queueProbes({ ...DELAY_QUEUE, seed: 3 }, search);

  it('names what the confirming run scheduled, not what it was asked for', async () => {
    const result = await findPeak(search, async (spec) => {
      const outcome = await inner(spec);
      // As if the seeds drew a schedule that is 5 % below what is requested.
      return { ...outcome, scheduledPerSecond: spec.load * 0.95 };
    });
    const { value, load } = result;
    expect(value).toBe((load ?? 0) * 0.95);
    expect(peakText(search, result, 'out')).toMatch(
      /^Peak {6}[\d.]+ queries\/s scheduled in a VALID run, [\d.]+ samples\/s completed \(requested: [\d.]+\)$/m,
    );
  });

  it('goes down after a run that was VALID while its queue grew', async () => {
    let hasGrown = false;
    const { probes, load } = await findPeak(search, async (spec) => {
      const outcome = await inner(spec);
      if (spec.kind !== 'full' || hasGrown) return outcome;
      hasGrown = true;
      const count = Math.ceil(100 * spec.load);
      const latenciesNs = Float64Array.from({ length: count }, (_, i) => (i / spec.load) * 15e6);
      return { ...outcome, latenciesNs, isValid: true, scheduledPerSecond: spec.load };
    });
    const [first, second] = probes.filter(({ kind }) => kind === 'full');
    expect(first).toMatchObject({ verdict: 'misses' });
    expect(first?.why).toContain('the queue grew all through the run: latency by 15 ms a second');
    expect(second?.load).toBeCloseTo((first?.load ?? 0) * 0.985, 3);
    expect(load).toBeLessThan(first?.load ?? 0);
  });
});
