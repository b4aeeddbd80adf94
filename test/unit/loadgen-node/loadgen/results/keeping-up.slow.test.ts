import { describe, expect, it } from 'vitest';
import {
  GrowthWatch,
  isPrompt,
  keepingUp,
} from '../../../../../loadgen-node/loadgen/results/queue-growth.ts';

// Goal: a SUT that does not keep up is told, in whatever order it answers, and one that does is not
// accused. Method: queues with one server and Poisson arrivals, from fixed seeds; loads are in
// services.

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

/** Order in which a server takes those that wait. */
type Order = 'first' | 'last' | 'any';

/** Times of a run of a queue that starts empty. @param load Arrivals per service. */
function timesOf(law: Law, load: number, queries: number, seed: number, order: Order = 'first') {
  const random = randomOf(seed);
  for (let i = 0; i < 20; i += 1) random();
  const issuedNs = new Float64Array(queries);
  const servicesNs = new Float64Array(queries);
  let atNs = 0;
  for (let i = 0; i < queries; i += 1) {
    atNs += (-Math.log(random()) / load) * SERVICE_NS;
    issuedNs[i] = atNs;
    servicesNs[i] = law === 'M/D/1' ? SERVICE_NS : -Math.log(random()) * SERVICE_NS;
  }
  const latenciesNs = new Float64Array(queries);
  const waiting: number[] = [];
  let next = 0;
  let freeNs = 0;
  for (let done = 0; done < queries; done += 1) {
    if (waiting.length === 0) freeNs = Math.max(freeNs, issuedNs[next] as number);
    while (next < queries && (issuedNs[next] as number) <= freeNs) {
      waiting.push(next);
      next += 1;
    }
    const ends = { first: 0, last: waiting.length - 1, any: Math.floor(random() * waiting.length) };
    const [query = 0] = waiting.splice(ends[order], 1);
    freeNs += servicesNs[query] as number;
    latenciesNs[query] = freeNs - (issuedNs[query] as number);
  }
  return { issuedNs, latenciesNs };
}

function judged(law: Law, load: number, queries: number, seed: number, order?: Order) {
  return keepingUp(timesOf(law, load, queries, seed, order));
}

/** Answers that take so long each, all beside one another; queries come 100 a second. */
function beside(queries: number, latencyNs: (query: number) => number) {
  const issuedNs = Float64Array.from({ length: queries }, (_, i) => i * 10e6);
  return { issuedNs, latenciesNs: issuedNs.map((_, i) => latencyNs(i)) };
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
    ['M/M/1', 45_000],
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

  it.each([1.3, 2, 4, 20])('leaves what the SUT does not complete, at a load of %f', (load) => {
    const { state, share } = judged('M/D/1', load, 4_000, 1);
    expect(state).toBe('grew');
    expect(share).toBeCloseTo(1 - 1 / load, 1);
  });

  it.each(['last', 'any'] as const)(
    'is found at a load of 2 of a SUT that takes the %s of those that wait',
    (order) => {
      for (let seed = 1; seed <= 50; seed += 1) {
        const { state, answeredPerSecond } = judged('M/D/1', 2, 2_000, seed, order);
        expect(state, `seed ${seed}`).toBe('grew');
        expect(answeredPerSecond).toBeCloseTo(100, 0);
      }
    },
  );

  it.each(['last', 'any'] as const)(
    'is no false alarm at a load of 0.95 of one that takes the %s',
    (order) => {
      for (let seed = 1; seed <= 200; seed += 1) {
        expect(judged('M/M/1', 0.95, 2_000, seed, order).state, `seed ${seed}`).not.toBe('grew');
      }
    },
  );

  it.each([
    ['0.2', 2e9],
    ['0.4', 4e9],
    ['0.7', 7e9],
    ['0.9', 9e9],
  ])(
    'is not denied to a SUT whose answers take %s of the run, all beside one another',
    (_share, ns) => {
      const random = randomOf(7);
      const times = beside(1_000, () => ns * (0.95 + 0.1 * random()));
      expect(keepingUp(times).state).not.toBe('grew');
    },
  );

  it('is known of a SUT far from its limit in a short run', () => {
    expect(judged('M/M/1', 0.3, 2_000, 1)).toMatchObject({ state: 'kept', queriesToTell: null });
    expect(isPrompt(10e6, 1e9)).toBe(true);
    expect(isPrompt(11e6, 1e9)).toBe(false);
    expect(keepingUp(beside(20, () => 1e9))).toMatchObject({ state: 'unknown', share: null });
  });

  it('tells about how many queries are needed, unless they are beyond reason', () => {
    const { state, queriesToTell } = judged('M/M/1', 0.95, 2_000, 4);
    expect(state).toBe('unknown');
    expect(queriesToTell).toBeGreaterThan(2_000);
    expect(queriesToTell).toBeLessThan(40_000);
  });

  it('is not denied for one standstill, also in the end', () => {
    const times = beside(5_000, (i) => (i < 4_800 ? 10e6 : 2e9 - (i - 4_800) * 10e6));
    expect(keepingUp(times).state).not.toBe('grew');
  });
});

describe('a run that goes on', () => {
  it('is seen not to keep up before its end, and is kept in bounded memory', () => {
    const watch = new GrowthWatch();
    let seenAfter = 0;
    for (let second = 1; second <= 2_000; second += 1) {
      // Each second 5 more of 100 wait.
      watch.add(second * 5, 1e9);
      if (seenAfter === 0 && watch.sureGrowth(100, 10e6) !== null) seenAfter = second;
    }
    expect(seenAfter).toBe(21);
    expect(watch.sureGrowth(100, 10e6)).toBeCloseTo(0.05, 3);
  });

  it('is not accused while a SUT fills, nor where as many wait as before', () => {
    const filling = new GrowthWatch();
    for (let second = 1; second <= 60; second += 1) {
      filling.add(Math.min(second, 30) * 100, 1e9);
      expect(filling.sureGrowth(100, 30e9)).toBeNull();
    }
    const watch = new GrowthWatch();
    const random = randomOf(5);
    for (let second = 1; second <= 500; second += 1) {
      watch.add(10 + random() * 5, 1e9);
      expect(watch.sureGrowth(100, 10e6)).toBeNull();
    }
  });
});
