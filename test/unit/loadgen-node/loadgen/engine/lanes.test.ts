import { describe, expect, it } from 'vitest';
import {
  countAbove,
  percentileOf,
} from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';
import {
  boundsOfLanes,
  type Lane,
  type LaneRequest,
} from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import { figuresOfOutcome } from '../../../../../loadgen-node/observe/figures/figures-of-outcome.ts';
import { figuresOf } from '../../../../../loadgen-node/observe/figures/figures-of-records.ts';
import { adviceOn } from '../../../../../loadgen-node/present/text/advice.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const SERVER = {
  ...({ scenario: 'Server', mode: 'PerformanceOnly', serverTargetQps: 500 } as const),
  ...{ serverTargetLatencyNs: 60e6, minDurationMs: 0, minQueryCount: 300 },
};

const [LOW, HIGH] = [
  { name: 'low', share: 0.3, samples: { first: 0, end: 30 } },
  { name: 'high', share: 0.7, samples: { first: 30, end: 100 } },
] as const;

const withBound = (lane: LaneRequest, boundNs: number, percentile = 0.9): Lane => ({
  ...{ samples: { first: 0, end: 100 }, ...lane },
  bounds: namedBounds({ boundNs, percentile }),
});

/** A SUT that takes longer for samples of the second lane. */
const SLOW_HIGH = {
  serviceNs: (_id: number, index: number) => (index >= HIGH.samples.first ? 7e6 : 1e6),
};

// Goal: queries of several classes are judged by the bounds of their own class, and LoadGen's
// verdict is that of the whole. Method: two lanes over one library under simulated time, counted
// again from the records.
describe('lanes', () => {
  it('have verdicts of their own, also over the parts of a run that went on', async () => {
    const lanes: readonly Lane[] = [
      { ...LOW, bounds: namedBounds({ boundNs: 2e6, percentile: 0.9 }) },
      { ...HIGH, bounds: namedBounds({ boundNs: 9e6, percentile: 0.95 }) },
    ];
    const test = simulatedTest(SERVER, {
      serviceNs: (id) => (id === 7 ? 70e6 : id % 5 === 0 ? 8e6 : 1e6),
    });
    const { performance, records } = await test.measure({ lanes, extendsUntilDecided: true });
    const { sampleIndex, scheduledNs, completedNs } = records;
    expect(performance.extension?.count).toBeGreaterThan(0);
    const counted = lanes.flatMap(({ name, samples, bounds }) => {
      const latencies = completedNs
        .map((ns, row) => ns - (scheduledNs[row] as number))
        .filter((_, row) => {
          const index = sampleIndex[row] as number;
          return index >= samples.first && index < samples.end;
        })
        .sort();
      return bounds.map((bound) => ({
        ...{ ...bound, lane: name, aboveCount: countAbove(latencies, bound.ns) },
        valueNs: percentileOf(latencies, bound.percentile),
        leastNs: latencies[0],
      }));
    });
    const bounds = boundsOfLanes(performance.summary.lanes);
    expect(bounds).toEqual(counted.map((one) => ({ ...one, isMet: one.valueNs <= one.ns })));
    expect(bounds.map(({ isMet }) => isMet)).toEqual([false, true]);
    expect(performance.summary.validity.performance.isMet).toBe(true);
  });

  it('count a sample as good by the bounds on tokens of its own lane', async () => {
    const tokens = { ...SERVER, useTokenLatencies: true };
    const measure = async (ttftsNs: readonly [number, number]) => {
      const bounds = ttftsNs.map((boundNs) =>
        namedBounds({ boundNs, tpotNs: 1e9, percentile: 0.9 }),
      );
      const lanes = [
        { ...LOW, bounds: bounds[0] ?? [] },
        { ...HIGH, bounds: bounds[1] ?? [] },
      ];
      const { performance, records } = await simulatedTest(tokens, {
        serviceNs: () => 3e6,
        answer: (sink, id, atNs) => {
          sink.firstToken(id, new Uint8Array(), atNs - 1e6);
          sink.complete(id, new Uint8Array(), 3, atNs);
        },
      }).measure({ lanes });
      const isOfLow = records.sampleIndex.filter((index) => index < LOW.samples.end);
      return { good: performance.summary.tokens?.good, count: isOfLow.length };
    };
    const { good, count } = await measure([5e6, 1e6]);
    expect(good).toEqual({ samples: count, tokenCount: 3 * count });
    expect((await measure([1e6, 1e6])).good?.samples).toBe(0);
  });

  it.each([
    [
      'share samples',
      [LOW, { ...HIGH, samples: { first: 20, end: 100 } }],
      'low and high share sample 20',
    ],
    [
      'lie in one another',
      [LOW, HIGH, { name: 'in', share: 0, samples: { first: 3, end: 9 } }],
      'low and in share sample 3',
    ],
    [
      'leave samples out',
      [LOW, { ...HIGH, samples: { first: 40, end: 90 } }],
      'samples 30 to before 40 are in no lane; samples 90 to before 100 are in no lane',
    ],
    [
      'reach behind the library',
      [LOW, { ...HIGH, samples: { first: 30, end: 101 } }],
      "high has samples 30 to before 101, which is not within the library's 100",
    ],
    ['have one name', [LOW, { ...HIGH, name: 'low' }], 'low is the name of several'],
    [
      'are not all arrivals',
      [LOW, { ...HIGH, share: 0.6 }],
      'their shares add up to 0.9, and must to 1',
    ],
  ])('are refused that %s', async (_case, lanes, problem) => {
    const text = `lanes: ${problem}`;
    await expect(simulatedTest(SERVER).run({ lanes })).rejects.toThrow(text);
  });

  it('miss their bounds without completed samples, which LoadGen does not see', async () => {
    // A set of one sample.
    const outcome = await simulatedTest({
      ...{ ...SERVER, performanceIssueSame: true, performanceIssueSameIndex: 0 },
    }).run({ lanes: [LOW, HIGH] });
    const { performance, verdicts } = outcome;
    const lanes = performance?.summary.lanes ?? [];
    const missed = lanes.find(({ completedSamples }) => completedSamples === 0);
    expect(missed?.bounds).toMatchObject([{ valueNs: Number.NaN, isMet: false }]);
    expect(verdicts.loadgen.reasons.map(({ rule }) => rule)).not.toContain('latency-bound');
    expect(verdicts.longhaul.reasons).toContainEqual({
      ...{ rule: 'latency-bound', key: 'server_target_qps', seen: 'none completed' },
      needed: '99.00th percentile latency of 60 ms or less',
      text: `The latency bound of lane ${missed?.name} was missed: needed is 99.00th percentile latency of 60 ms or less, seen was none completed.`,
    });
    const missing = verdicts.longhaul.reasons.find(({ rule }) => rule === 'latency-bound');
    expect(missing && adviceOn(missing, outcome)).toBe(
      `A longer run has completed samples of lane ${missed?.name}, too.`,
    );
  });

  it('make a run INVALID that LoadGen finds VALID, and are named by the reason and the cause', async () => {
    const { verdicts, performance } = await simulatedTest(
      { ...SERVER, minQueryCount: 1_000 },
      SLOW_HIGH,
    ).run({
      lanes: [withBound(LOW, 5e6), withBound(HIGH, 5e6)],
    });
    expect(performance?.summary).toMatchObject({ keepsBounds: false, isValid: true });
    expect(verdicts.loadgen.isValid).toBe(true);
    expect(verdicts.longhaul).toMatchObject({
      cause: { kind: 'load', text: 'the latency bound of high was missed' },
      reasons: [{ rule: 'latency-bound', text: expect.stringContaining(' of lane high was ') }],
    });
  });

  it('have figures over all lanes, each by its own bound, from records as from the outcome', async () => {
    const lanes = [withBound(LOW, 0.5e6), withBound(HIGH, 8e6)];
    const test = simulatedTest(SERVER, SLOW_HIGH);
    const { performance, records } = await test.measure({ lanes });
    const isOfLow = records.sampleIndex.filter((index) => index < LOW.samples.end);
    const { overlatency, goodput } = figuresOf(records, { scenario: 'Server', lanes });
    expect(overlatency).toBe(isOfLow.length / records.rowCount);
    expect(figuresOfOutcome(performance)).toMatchObject({ overlatency, goodput });
  });

  it('are each kept without the late samples of a standstill, or it is not what decides', async () => {
    const causeOf = async (isSlow: (index: number) => boolean) => {
      // The answer to one sample takes 1 s, behind which all others wait.
      const serviceNs = (id: number, index: number) =>
        id === 200 ? 1e9 : isSlow(index) ? 12e6 : 1e6;
      const test = simulatedTest(
        { ...SERVER, serverTargetQps: 100, minQueryCount: 1_000 },
        { isQueue: true, serviceNs },
      );
      const { verdicts } = await test.run({ lanes: [withBound(LOW, 10e6), withBound(HIGH, 10e6)] });
      return verdicts.longhaul.cause?.kind;
    };
    expect(await causeOf((index) => index === 99)).toBe('standstill');
    // Few of all samples, and a fifth of those of their lane.
    expect(await causeOf((index) => index < 6)).toBe('load');
  });

  it('are generator-bound where the verdict on one of them comes from a late LoadGen', async () => {
    const test = simulatedTest({ ...SERVER, minQueryCount: 1_000 }, { serviceNs: () => 1e6 });
    const { clock } = test;
    const work = (): void => {
      clock.spend(4e6);
      if (clock.nowNs() < 2e9) clock.callAt(clock.nowNs() + 6e6, work);
    };
    clock.callAt(6e6, work);
    const { performance } = await test.run({
      lanes: [withBound(LOW, 2e6), withBound(HIGH, 20e6)],
    });
    expect(performance?.generatorBoundReason).toMatch(
      /^the verdict would flip if latency were measured from the issue instead of the schedule \(1 ms instead of [\d.]+ ms at the target percentile of lane low\)/,
    );
  });
});
