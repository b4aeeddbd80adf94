import { describe, expect, it } from 'vitest';
import { judgeProbe } from '../../../../../loadgen-node/search/peak/find-peak.ts';
import {
  normalDeviate,
  overShareOf,
  shareInterval,
  varianceFactorOf,
  Z_95,
} from '../../../../../loadgen-node/search/peak/over-share.ts';
import { batchQueries } from '../../../../../loadgen-node/search/peak/pace.ts';
import { decide, ScreeningWatch } from '../../../../../loadgen-node/search/peak/screening.ts';
import { shareAbove } from '../../../../scenes/simulated-run/queue.ts';
import { searchOf, steady } from '../../../../scenes/simulated-run/steady-probe.ts';

// Goal: the statistics that decide a screening know that late queries come in clusters.
describe('the share of late queries', () => {
  it('counts what is above the bound, not at it', () => {
    const share = overShareOf(Float64Array.of(1, 5, 6, 5, 9), 5);
    expect(share).toMatchObject({ queries: 5, over: 2 });
  });

  it('has no larger variance than independent queries where late ones are spread evenly', () => {
    const even = Float64Array.from({ length: 3200 }, (_, i) => (i % 100 === 0 ? 9 : 1));
    expect(overShareOf(even, 5)).toEqual({ queries: 3200, over: 32, varianceFactor: 1 });
  });

  it('has as much more as the clusters are long', () => {
    // Each tenth batch of 100 queries has 10 late ones, one after the other.
    const clusters = Float64Array.from({ length: 3200 }, (_, i) =>
      Math.floor(i / 100) % 10 === 0 && i % 100 < 10 ? 9 : 1,
    );
    const { over, varianceFactor } = overShareOf(clusters, 5);
    expect(over).toBe(40);
    expect(varianceFactor).toBeGreaterThan(8);
    expect(varianceFactor).toBeLessThan(10);
  });

  it('has those of a third of an answer at least in a batch of a token model, whose answers are late together', () => {
    // Six answers of 6 s at 20 queries per second, of which those beside one of them are late.
    const latenciesNs = new Float64Array(720).fill(6e9);
    const perTokenNs = Float64Array.from(latenciesNs, (_, i) => (i >= 240 && i < 360 ? 9 : 1));
    const batchMin = batchQueries(latenciesNs.length, 20, { tpotNs: 5 }, 6e9);
    expect(batchMin).toBe(36);
    expect(overShareOf(perTokenNs, 5, batchMin).varianceFactor).toBeGreaterThan(30);
    expect(overShareOf(perTokenNs, 5).varianceFactor).toBeLessThan(24);
    expect(batchQueries(latenciesNs.length, 20, {}, 6e9)).toBe(4);
  });

  it('has five batches all the same where too few answers are left between those that are cut', () => {
    // Two answers of 12 s at 15 queries per second. Of 144 queries that count each third of three
    // batches of a third of an answer is late, so that those would vary no more than by chance.
    const latenciesNs = new Float64Array(360).fill(12e9);
    const isLate = (i: number) => (i < 108 ? i % 54 < 18 : i < 120);
    const perOutputNs = latenciesNs.map((_, i) => (i >= 144 && isLate(i - 144) ? 50e6 : 1e6));
    const tokens = { firstNs: new Float64Array(360), perOutputNs, perSecond: 1 };
    const search = searchOf(450e6, { tpotNs: 40e6 });
    const planned = { kind: 'screening', load: 15, queriesMax: 360, durationNsMax: 24e9 } as const;
    const decision = { confidence: 0.99, durationNsMin: 0 };
    const probe = judgeProbe(
      search,
      {
        ...{ number: 1, planned: { ...planned, ...decision } },
        watch: new ScreeningWatch(search, decision),
      },
      steady(0, { latenciesNs, tokens }),
    );
    expect(probe.queries).toBe(144);
    const tpot = probe.bounds.find(({ name }) => name === 'tpot');
    expect(tpot?.overQueries).toBe(48);
    expect(tpot?.varianceFactor).toBeGreaterThan(4);
  });

  it('is wide where the clusters leave few queries', () => {
    const independent = shareInterval({ queries: 10_000, over: 100, varianceFactor: 1 }, Z_95);
    const clustered = shareInterval({ queries: 10_000, over: 100, varianceFactor: 25 }, Z_95);
    expect(independent.low).toBeCloseTo(0.00823, 4);
    expect(independent.high).toBeCloseTo(0.01215, 4);
    expect(clustered.high - clustered.low).toBeGreaterThan(
      4 * (independent.high - independent.low),
    );
  });

  it('is unknown without a query', () => {
    expect(shareInterval(overShareOf(new Float64Array(), 5), Z_95)).toEqual({ low: 0, high: 1 });
    expect(varianceFactorOf([])).toBe(1);
  });
});

describe('the decision', () => {
  it("is early stopping's: 459 queries without a late one, 662 with one", () => {
    const keeps = (queries: number, over: number): string =>
      decide({ queries, over, varianceFactor: 1 }, 0.99, 0.99);
    expect(keeps(458, 0)).toBe('undecided');
    expect(keeps(459, 0)).toBe('keeps');
    expect(keeps(661, 1)).toBe('undecided');
    expect(keeps(662, 1)).toBe('keeps');
  });

  it('takes a single cluster for one observation', () => {
    expect(decide({ queries: 500, over: 40, varianceFactor: 1 }, 0.99, 0.99)).toBe('misses');
    expect(decide({ queries: 500, over: 40, varianceFactor: 40 }, 0.99, 0.99)).toBe('undecided');
  });
});

describe('a watched screening', () => {
  const SEARCH = { percentile: 0.99, boundNs: 10e6 };
  const PLANNED = { confidence: 0.99, durationNsMin: 10 * 10e6 };
  /** 1000 queries per second; so many are late by each look. */
  const look = (
    i: number,
    over: number,
    backlog = 0,
  ): Parameters<ScreeningWatch['isDecided']>[0] => ({
    elapsedNs: i * 1e8,
    issuedQueries: i * 100,
    waitingQueries: backlog,
    bounds: [{ known: i * 100 - backlog, over }],
  });
  const endOf = (overAt: (i: number) => number, backlogAt = (_i: number) => 0): number => {
    const watch = new ScreeningWatch(SEARCH, PLANNED);
    for (let i = 1; i <= 200; i += 1) {
      if (watch.isDecided(look(i, overAt(i), backlogAt(i)))) return i;
    }
    return Number.POSITIVE_INFINITY;
  };

  it('keeps as soon as enough queries are in time', () => {
    expect(endOf(() => 0)).toBe(8);
  });

  it('misses where late queries go on and on', () => {
    expect(endOf((i) => 20 * i)).toBe(20);
  });

  it('does not take a machine that stood still for a moment for a load that is too heavy', () => {
    expect(endOf((i) => Math.min(100, Math.max(0, (i - 2) * 50)))).toBeGreaterThan(30);
  });

  it('ends where the backlog grows and grows', () => {
    const watch = new ScreeningWatch(SEARCH, PLANNED);
    let i = 1;
    while (!watch.isDecided(look(i, 0, i * 60))) i += 1;
    expect(watch.isBacklogHopeless).toBe(true);
    expect(i).toBeLessThan(10);
  });
});

describe('normal deviates', () => {
  it.each([
    [0.975, 1.959964],
    [0.99, 2.326348],
    [0.5, 0],
    [0.00001, -4.264891],
  ])('of %f is %f', (chance, deviate) => {
    expect(normalDeviate(chance)).toBeCloseTo(deviate, 5);
  });
});

describe('the theory that searches are compared with', () => {
  it.each([
    // Erlang's own formula, whose terms do not cancel each other yet.
    [100, 10e-3, 0.5],
    [500, 4e-3, 0.5],
    [800, 3.5e-3, 0.8],
  ])('is that of the books at %f per second and %f s', (rate, bound, load) => {
    const service = load / rate;
    const wait = bound - service;
    let sum = 0;
    for (let k = 0; k * service <= wait; k += 1) {
      const x = rate * (wait - k * service);
      let term = Math.exp(x);
      for (let j = 1; j <= k; j += 1) term *= -x / j;
      sum += term;
    }
    expect(shareAbove('M/D/1', rate, service, bound)).toBeCloseTo(1 - (1 - load) * sum, 9);
  });
});
