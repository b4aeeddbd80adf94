import { describe, expect, it } from 'vitest';
import {
  GrowthWatch,
  keepingUp,
} from '../../../../../loadgen-node/loadgen/results/queue-growth.ts';

// Goal: a SUT that does not keep up is told, and one that does is not accused. Method: queues with one server and Poisson arrivals, by
// Lindley's recursion, from fixed seeds; rates are in services.

type Law = 'M/D/1' | 'M/M/1';

/** xorshift32: numbers above 0 and below 1. */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed, 2654435761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return (state + 0.5) / 2 ** 32;
  };
}

const SERVICE_NS = 10e6;

/** Judges a run of a queue that starts empty. @param load Arrivals per service. */
function judged(law: Law, load: number, queries: number, seed: number) {
  const random = randomOf(seed);
  for (let i = 0; i < 20; i += 1) random();
  const latenciesNs = new Float64Array(queries);
  let atNs = 0;
  let leftNs = 0;
  for (let i = 0; i < queries; i += 1) {
    const gapNs = (-Math.log(random()) / load) * SERVICE_NS;
    atNs += gapNs;
    const serviceNs = law === 'M/D/1' ? SERVICE_NS : -Math.log(random()) * SERVICE_NS;
    leftNs = Math.max(0, leftNs - gapNs) + serviceNs;
    latenciesNs[i] = leftNs;
  }
  return keepingUp(latenciesNs, atNs);
}

/** How many of so many runs are judged to be in each state. */
function counts(law: Law, load: number, queries: number, runs: number) {
  const found = { kept: 0, grew: 0, unknown: 0 };
  for (let seed = 1; seed <= runs; seed += 1) found[judged(law, load, queries, seed).state] += 1;
  return found;
}

describe('whether a SUT keeps up', () => {
  it.each([
    ['M/D/1', 20_000],
    ['M/M/1', 40_000],
  ] as const)('is known of %s from %d queries on: a load of 1.05 in 99 of 100', (law, queries) => {
    expect(counts(law, 1.05, queries, 300).grew).toBeGreaterThanOrEqual(297);
    const at95 = counts(law, 0.95, queries, 300);
    expect(at95.grew).toBe(0);
    expect(at95.kept).toBeGreaterThanOrEqual(285);
  });

  it.each([
    ['M/D/1', 700],
    ['M/D/1', 5_000],
    ['M/M/1', 700],
    ['M/M/1', 5_000],
  ] as const)(
    'is no false alarm in 1 of 1,000 at a load of 0.95: %s, %d queries',
    (law, queries) => {
      expect(counts(law, 0.95, queries, 2_000).grew).toBeLessThan(2);
    },
  );

  it.each([
    ['M/D/1', 300],
    ['M/D/1', 2_000],
    ['M/M/1', 300],
    ['M/M/1', 5_000],
  ] as const)(
    'is never passed over in silence at a load of 1.05: %s, %d queries',
    (law, queries) => {
      expect(counts(law, 1.05, queries, 1_000).kept).toBeLessThanOrEqual(10);
    },
  );

  it.each(['M/D/1', 'M/M/1'] as const)(
    'is always found of %s at a load of 2 in 700 queries',
    (law) => {
      expect(counts(law, 2, 700, 1_000).grew).toBe(1_000);
    },
  );

  it('is known of a SUT far from its limit in a short run', () => {
    expect(judged('M/M/1', 0.3, 2_000, 1)).toMatchObject({ state: 'kept', queriesToTell: null });
    expect(keepingUp(new Float64Array(20).fill(1e6), 2e9).state).toBe('kept');
    expect(keepingUp(new Float64Array(20).fill(1e9), 2e9)).toEqual({
      ...{ state: 'unknown', share: null, queriesToTell: null },
    });
  });

  it('tells about how many queries are needed', () => {
    const { state, queriesToTell } = judged('M/M/1', 0.95, 2_000, 4);
    expect(state).toBe('unknown');
    expect(queriesToTell).toBeGreaterThan(2_000);
    expect(queriesToTell).toBeLessThan(60_000);
  });

  it('is not denied for one standstill, also in the end', () => {
    const latenciesNs = new Float64Array(5_000).fill(10e6);
    latenciesNs.fill(2e9, 4_900);
    expect(keepingUp(latenciesNs, 50e9).state).not.toBe('grew');
  });
});

describe('a run that goes on', () => {
  it('is seen not to keep up before its end, and is kept in bounded memory', () => {
    const watch = new GrowthWatch();
    let seenAfter = 0;
    for (let second = 1; second <= 2_000; second += 1) {
      // Each second the wait grows by 50 ms.
      watch.add({ sumNs: 100 * second * 50e6, count: 100, lengthNs: 1e9 });
      if (seenAfter === 0 && watch.sureGrowth() !== null) seenAfter = second;
    }
    expect(seenAfter).toBe(20);
    expect(watch.sureGrowth()).toBeCloseTo(0.05, 3);
  });

  it('is not accused where latencies stay as they are', () => {
    const watch = new GrowthWatch();
    const random = randomOf(5);
    for (let second = 1; second <= 500; second += 1) {
      watch.add({ sumNs: 100 * (10e6 + random() * 5e6), count: 100, lengthNs: 1e9 });
      expect(watch.sureGrowth()).toBeNull();
    }
  });
});
