import { describe, expect, it } from 'vitest';
import {
  countAbove,
  percentileOf,
} from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';
import type { Lane } from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const SERVER = {
  ...({ scenario: 'Server', mode: 'PerformanceOnly', serverTargetQps: 500 } as const),
  ...{ serverTargetLatencyNs: 60e6, minDurationMs: 0, minQueryCount: 300 },
};

const [LOW, HIGH] = [
  { name: 'low', share: 0.3, samples: { first: 0, end: 30 } },
  { name: 'high', share: 0.7, samples: { first: 30, end: 100 } },
] as const;

// Goal: queries of several classes are judged by the bounds of their own class, and LoadGen's verdict is that of the whole.
// Method: two lanes over one library under simulated time, counted again from the records.
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
      }));
    });
    expect(performance.summary.bounds).toEqual(
      counted.map((one) => ({ ...one, isMet: one.valueNs <= one.ns })),
    );
    expect(performance.summary.bounds.map(({ isMet }) => isMet)).toEqual([false, true]);
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
});
