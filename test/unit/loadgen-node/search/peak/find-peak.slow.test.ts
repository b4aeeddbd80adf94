import { describe, expect, it } from 'vitest';
import { findPeak } from '../../../../../loadgen-node/search/peak/find-peak.ts';
import type {
  FullRunRule,
  PeakProbe,
  ProbeSpec,
  RunProbe,
} from '../../../../../loadgen-node/search/peak/peak-search.ts';
import { peakText } from '../../../../../loadgen-node/search/peak/print-peak.ts';
import { isPeakOfSut } from '../../../../../loadgen-node/search/peak/search-peak.ts';
import {
  queueProbes,
  type ServiceLaw,
  theoreticalPeak,
} from '../../../../scenes/simulated-run/queue.ts';
import { END, RULE, searchOf, steady } from '../../../../scenes/simulated-run/steady-probe.ts';

// Goal: the search finds what theory says of queues, says how sure it is, and names every other end
// by its cause. Method: queues by Lindley's recursion in place of runs, seeded; how often the
// interval is right: docs/find-peak.md.
const QUEUES: [string, ServiceLaw, number][] = [
  ['M/M/1', 'M/M/1', 15e6],
  ['M/D/1', 'M/D/1', 8e6],
];
const SEEDS = Array.from({ length: 10 }, (_, i) => i + 1);

const PATIENCE = { timeout: 60_000 };

describe('findPeak on queues with a known limit', PATIENCE, () => {
  it.each(QUEUES)('is within 3 %% of theory in 10 of 10 seeds: %s', async (_name, law, boundNs) => {
    const limit = theoreticalPeak(law, 1e-3, boundNs / 1e9, 0.05);
    let covered = 0;
    for (const seed of SEEDS) {
      const search = searchOf(boundNs, { percentile: 0.95, precision: 0.015 });
      const result = await findPeak(search, queueProbes({ law, serviceNs: 1e6, seed }, search));
      expect(result.ending).toBe('found');
      expect(result.limit).toBe('sut');
      expect(Math.abs((result.value ?? 0) / limit - 1), `seed ${seed}`).toBeLessThan(0.03);
      const { low, high } = result.interval ?? { low: 0, high: 0 };
      expect(low).toBeGreaterThan(0);
      if (low <= limit && limit <= high) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(8);
  });
});

describe('findPeak on a SUT that answers others as well', PATIENCE, () => {
  const search = searchOf(15e6, { percentile: 0.95, precision: 0.015 });
  const found = (isBeside: (spec: ProbeSpec) => boolean) => {
    const alone = queueProbes({ law: 'M/M/1', serviceNs: 1e6, seed: 1 }, search);
    const others = 'node a answered 90 samples';
    return findPeak(search, async (spec) => ({
      ...(await alone(spec)),
      ...(isBeside(spec) ? { others } : {}),
    }));
  };

  it('tells no interval and no limit of the SUT, whatever it confirmed', async () => {
    const result = await found(() => true);
    expect(result).toMatchObject({ ending: 'found', limit: 'others', interval: null });
    expect(result.value).toBeGreaterThan(0);
    expect(isPeakOfSut(result)).toBe(false);
    const missed = result.probes.filter(
      ({ kind, verdict }) => kind !== 'unloaded' && verdict !== 'keeps',
    );
    const text = peakText(search, result, 'out').replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      `In ${missed.length} of ${result.probes.length} probes the SUT answered others as well, and the bound was not kept: its own limit is not seen. In probe ${missed[0]?.number}: node a answered 90 samples.`,
    );
    expect(text).toContain('Interval Unknown');
    expect(text).toContain('Search again, without --resume, while nothing else uses the SUT.');
  });

  it('tells both where others came in a probe without load, or in one that kept the bound', async () => {
    const alone = await found(() => false);
    const kept = alone.probes.filter(
      ({ kind, verdict }) => kind === 'unloaded' || verdict === 'keeps',
    );
    expect(kept.length).toBeGreaterThan(1);
    const numbers = kept.map(({ number }) => number);
    const result = await found(({ number }) => numbers.includes(number));
    expect(result).toMatchObject({ limit: 'sut', interval: alone.interval });
    expect(isPeakOfSut(result)).toBe(true);
  });
});

describe('findPeak where the limit is hard to see', PATIENCE, () => {
  const short: FullRunRule = { ...RULE, minDurationNs: 60e9 };

  // The share of late queries goes from none to all within a few percent of the load.
  it('is honest with a bound of 300 service times, and never puts the limit below what it confirmed', async () => {
    const limit = theoreticalPeak('M/M/1', 1e-3, 0.3, 0.01);
    let covered = 0;
    for (const seed of SEEDS) {
      const search = searchOf(300e6, { precision: 0.02, full: short });
      const result = await findPeak(
        search,
        queueProbes({ law: 'M/M/1', serviceNs: 1e6, seed }, search),
      );
      const { low, high } = result.interval ?? { low: 0, high: 0 };
      if (low <= limit && limit <= high) covered += 1;
      expect(high).toBeGreaterThanOrEqual(result.value ?? Number.POSITIVE_INFINITY);
    }
    expect(covered).toBeGreaterThanOrEqual(8);
  });

  it('is no surer than its longest run lets it be', async () => {
    const search = searchOf(200e6, {
      ...{ percentile: 0.9, screeningNsMax: 15e9 },
      full: { ...RULE, minDurationNs: 4e9, minQueryCount: 100 },
    });
    for (const seed of SEEDS) {
      const { interval, estimate, isPrecise, probes } = await findPeak(
        search,
        queueProbes({ law: 'M/M/1', serviceNs: 2e6, seed }, search),
      );
      const longestNs = Math.max(...probes.map(({ durationNs }) => durationNs));
      const unseen = (2 * 200e6) / longestNs;
      expect((interval?.low ?? 1) / (estimate ?? 0)).toBeLessThanOrEqual(1 - unseen + 1e-9);
      expect(isPrecise).toBe(false);
    }
  });

  it('ends within minutes where service alone fills the bound, and says what it could not tell', async () => {
    const search = searchOf(100e6, {
      ...{ percentile: 0.9, screeningNsMax: 15e9 },
      full: { ...RULE, minDurationNs: 5e9, minQueryCount: 100 },
    });
    // One of eight is late whatever the load.
    const runProbe: RunProbe = async ({ load, queriesMax = 100, durationNsMax = 5e9 }) => {
      const count = Math.max(1, Math.floor(Math.min(queriesMax, (load * durationNsMax) / 1e9)));
      const latenciesNs = Float64Array.from({ length: count }, (_, i) =>
        i % 8 === 5 ? 101e6 : 98e6,
      );
      return { ...steady(0), latenciesNs, end: { ...END, durationNs: (count / load) * 1e9 } };
    };
    const result = await findPeak(search, runProbe);
    expect(result).toMatchObject({ ending: 'unconfirmed', value: null, interval: null });
    expect(result.limitText).toContain('Too few queries fitted into the time');
    expect(result.advice.join()).toContain('--search-time');
    expect(Math.max(...result.probes.map(({ durationNs }) => durationNs))).toBeLessThan(60e9);
  });

  it('does not blame the time where the SUT loses samples at every load', async () => {
    const lost = { counts: { lostSamples: 1, issuedSamples: 1000 } };
    const runProbe: RunProbe = async ({ kind }) =>
      steady(1e6, kind === 'unloaded' ? {} : { end: { ...END, ...lost } });
    const result = await findPeak(searchOf(10e6), runProbe);
    expect(result).toMatchObject({ value: null, limit: 'lost-samples' });
    expect(result.limitText).toContain('1 of 1000 samples lost');
    expect(result.advice.join()).not.toContain('--search-time');
  });

  it('doubts its interval where a query is late without load', async () => {
    const runProbe: RunProbe = async ({ kind, load }) => {
      const probe = steady(load > 500 && kind !== 'unloaded' ? 20e6 : 1e6);
      if (kind === 'unloaded') probe.latenciesNs[7] = 20e6;
      return { ...probe, isValid: load <= 500 };
    };
    const { advice } = await findPeak(searchOf(10e6), runProbe);
    expect(advice.at(-1)).toMatch(/^Even one at a time 1 of 1000 queries were late/);
  });

  // At 2.5 queries/s the time of all screenings is 300 queries.
  it('does not say that no load keeps the bound where too few queries were made to tell', async () => {
    for (const seed of SEEDS) {
      const search = searchOf(6e6, { precision: 0.02, full: short });
      const result = await findPeak(
        search,
        queueProbes({ law: 'M/D/1', serviceNs: 5e6, seed }, search),
      );
      expect(result.ending).not.toBe('none');
      expect(result.isPrecise).toBe(false);
    }
  });
});

describe('findPeak', PATIENCE, () => {
  const search = searchOf(10e6, {
    precision: 0.05,
    screeningNsMax: 30e9,
    full: { ...RULE, minDurationNs: 30e9 },
  });
  const queue = { law: 'M/D/1', serviceNs: 1e6, seed: 3 } as const;

  it('comes to the same end when it was broken off after any probe', async () => {
    const whole = await findPeak(search, queueProbes(queue, search));
    for (const count of [1, 4, whole.probes.length]) {
      const earlier = whole.probes.slice(0, count);
      const made: PeakProbe[] = [];
      const again = await findPeak(search, queueProbes(queue, search), {
        earlier: JSON.parse(JSON.stringify(earlier)) as PeakProbe[],
        onProbe: (probe) => made.push(probe),
      });
      expect(again).toEqual(whole);
      expect(made).toHaveLength(whole.probes.length - count);
    }
  });

  it('says at once that one query at a time misses the bound', async () => {
    const result = await findPeak(searchOf(1e6), async () => steady(5e6));
    expect(result).toMatchObject({ ending: 'none', value: null, limit: 'unloaded-latency' });
    expect(result.limitText).toContain('missed even by one query at a time: they took 5 ms');
    expect(result.probes).toHaveLength(1);
  });

  it('says only what was seen of a load that was not decided', async () => {
    // No full run counts, and no screening is long enough to tell.
    const half = {
      latenciesNs: Float64Array.from({ length: 100 }, () => 1e6),
      samplesPerSecond: 100,
    };
    const reasons = [{ rule: 'rules', text: 'broken', needed: '', seen: '', key: null }];
    const result = await findPeak(searchOf(10e6), async ({ load, kind }) => {
      if (kind === 'full') return steady(9e9, { isValid: false, reasons });
      return steady(load > 600 ? 9e9 : 1e6, load > 600 || kind === 'unloaded' ? {} : half);
    });
    expect(result.held?.probe.verdict).toBe('undecided');
    expect(peakText(searchOf(10e6), result, 'out').replace(/\s+/g, ' ')).toMatch(
      /Peak None is confirmed; the highest load with few enough late was [\d.]+ queries\/s, in screening \d+: 0 % of \d+ queries in 1 s, too few to tell that it holds/,
    );
  });

  it('names a SUT that loses samples as the limit', async () => {
    const lost = { counts: { lostSamples: 3, issuedSamples: 1000 }, faultText: 'queue is full' };
    const runProbe: RunProbe = async ({ load, kind }) =>
      load > 700 && kind !== 'unloaded' ? steady(1e6, { end: { ...END, ...lost } }) : steady(1e6);
    const result = await findPeak(searchOf(10e6), runProbe);
    expect(result).toMatchObject({ ending: 'found', limit: 'lost-samples' });
    expect(result.limitText).toContain('3 of 1000 samples lost (first: queue is full)');
    expect(result.value).toBeGreaterThan(690);
  });

  it('ends at the plan memory where nothing misses the bound', async () => {
    const result = await findPeak(searchOf(10e6, { loadMax: 5000 }), async () => steady(1e6));
    expect(result).toMatchObject({ ending: 'open', value: 5000, limit: 'load-max' });
    expect(result.interval).toEqual({ low: 5000, high: Number.POSITIVE_INFINITY });
  });

  it('makes five runs in v0.5 and steps down by half a percent or more when one fails', async () => {
    const loads: number[] = [];
    const full = { ...RULE, runs: 5, hasEarlyStopping: false, minDurationNs: 30e9 };
    const five = searchOf(10e6, { full, precision: 0.05, screeningNsMax: 30e9 });
    const inner = queueProbes(queue, five);
    const runProbe: RunProbe = async (spec) => {
      if (spec.kind !== 'full') return await inner(spec);
      loads.push(spec.load);
      const reasons = [{ rule: 'latency-bound', text: 'missed', needed: '', seen: '', key: null }];
      const isValid = loads.length !== 3;
      return steady(1e6, { isValid, reasons, samplesPerSecond: 1000 - loads.length });
    };
    const result = await findPeak(five, runProbe);
    expect(loads).toHaveLength(8);
    expect(new Set(loads.slice(0, 3)).size).toBe(1);
    expect(new Set(loads.slice(3)).size).toBe(1);
    expect(loads[3]).toBeLessThanOrEqual((loads[0] as number) * 0.995);
    expect(result).toMatchObject({ ending: 'found', value: loads[3], samplesPerSecond: 992 });
  });

  it('ends where a full run is INVALID for a reason that no lighter load changes', async () => {
    const inner = queueProbes(queue, search);
    const reasons = [
      { rule: 'network-rules', text: 'Rules are broken.', needed: '', seen: '', key: null },
    ];
    const result = await findPeak(search, async (spec) =>
      spec.kind === 'full' ? steady(1e6, { isValid: false, reasons }) : await inner(spec),
    );
    expect(result).toMatchObject({ ending: 'unconfirmed', value: null });
    expect(result.limitText).toContain('Rules are broken.');
    expect(result.probes.filter(({ kind }) => kind === 'full')).toHaveLength(1);
  });

  it('gives up after as many loads as were allowed', async () => {
    const limited = { ...search, full: { ...search.full, loadsMax: 3 } };
    const inner = queueProbes(queue, limited);
    const reasons = [{ rule: 'latency-bound', text: 'missed', needed: '', seen: '', key: null }];
    const result = await findPeak(limited, async (spec) =>
      spec.kind === 'full'
        ? { ...(await inner(spec)), isValid: false, reasons }
        : await inner(spec),
    );
    expect(result).toMatchObject({ ending: 'unconfirmed', value: null });
    expect(result.probes.filter(({ kind }) => kind === 'full')).toHaveLength(3);
    expect(result.estimate).toBeGreaterThan(700);
  });

  it.each([
    ['fault', 'ERR_SUT_LOST'],
    ['stall', 'ERR_SUT_LOST'],
    ['interrupted', 'ERR_INTERRUPTED'],
  ] as const)('throws at a probe that ended by a %s, and counts it not', async (endCause, code) => {
    const probes: PeakProbe[] = [];
    const search = findPeak(
      searchOf(10e6),
      async () => steady(1e6, { end: { ...END, endCause } }),
      {
        onProbe: (probe) => probes.push(probe),
      },
    );
    await expect(search).rejects.toMatchObject({ code });
    expect(probes).toEqual([]);
  });

  it.each([
    [{}, 'the SUT stopped answering during a probe'],
    [{ silentText: 'never answered' }, 'the SUT never answered during a probe'],
  ])('does not say that a SUT stopped that never answered: %j', async (other, message) => {
    const end = { ...END, endCause: 'stall' as const, ...other };
    const search = findPeak(searchOf(10e6), async () => steady(1e6, { end }));
    await expect(search).rejects.toMatchObject({ message });
  });
});

describe('findPeak of streams', () => {
  const streams = searchOf(50e6, {
    kind: 'streams',
    loadMax: 65_536,
    full: { ...RULE, hasEarlyStopping: false },
  });
  /** A SUT that takes 3.3 ms per stream: 15 of them in 50 ms. */
  const perStream: RunProbe = async ({ load }) => steady(load * 3.3e6);

  it('finds the largest whole number', async () => {
    const result = await findPeak(streams, perStream);
    expect(result).toMatchObject({ ending: 'found', value: 15, interval: { low: 15, high: 15 } });
    expect(peakText(streams, result, 'out')).toContain(
      'The limit is 15 streams; each verdict 99 % sure',
    );
  });

  it('claims no certainty of screenings that were too short to tell', async () => {
    const result = await findPeak(streams, async (spec) => {
      const outcome = await perStream(spec);
      return { ...outcome, latenciesNs: outcome.latenciesNs.slice(0, 20) };
    });
    const text = peakText(streams, result, 'out');
    expect(text).toContain('some screenings were too short to tell');
    expect(text).not.toContain('each verdict');
  });

  it('steps down by one when the full run misses', async () => {
    const reasons = [{ rule: 'latency-bound', text: 'missed', needed: '', seen: '', key: null }];
    const result = await findPeak(streams, async (spec) =>
      spec.kind === 'full' && spec.load > 13
        ? steady(60e6, { isValid: false, reasons })
        : await perStream(spec),
    );
    expect(result).toMatchObject({ ending: 'found', value: 13 });
  });

  it('says that a single stream is too much', async () => {
    const result = await findPeak(streams, async () => steady(60e6));
    expect(result).toMatchObject({ ending: 'none', value: null });
  });
});
