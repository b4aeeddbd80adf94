import { describe, expect, it } from 'vitest';
import { percentileIntervals } from '../../../../../loadgen-node/search/peak/percentile-intervals.ts';
import { ASKED, delaySearch, queueProbes } from '../../../../scenes/simulated-run/queue.ts';

// Goal: intervals of percentiles hold what an endless run would have, also where latencies come in
// clusters. Method: an M/M/1 queue at 60 % load, whose latencies are exponential: theory gives
// every percentile.
describe('percentiles with intervals', () => {
  it('hold the percentiles of theory in 85 of 100 runs or more', { timeout: 60_000 }, async () => {
    const serviceNs = 20e6;
    const load = 30;
    const search = delaySearch(ASKED[0], 0.2);
    const held = new Map<number, number>();
    const runs = 100;
    for (let seed = 1; seed <= runs; seed += 1) {
      const probes = queueProbes({ law: 'M/M/1', serviceNs, seed }, search);
      const spec = { kind: 'screening', load, number: 1, durationNsMax: 400e9 } as const;
      for (const figure of percentileIntervals((await probes(spec)).latenciesNs, 0.95)) {
        const { percentile, lowNs, highNs, valueNs } = figure;
        const trueNs = (-Math.log(1 - percentile) * 1e9) / (1e9 / serviceNs - load);
        expect(lowNs).toBeLessThanOrEqual(valueNs);
        expect(highNs ?? valueNs).toBeGreaterThanOrEqual(valueNs);
        const holds = lowNs <= trueNs && (highNs === null || trueNs <= highNs);
        held.set(percentile, (held.get(percentile) ?? 0) + (holds ? 1 : 0));
      }
    }
    expect([...held.keys()]).toEqual([0.5, 0.9, 0.95, 0.99, 0.999]);
    for (const [percentile, count] of held) {
      expect(count / runs, `p${percentile * 100}`).toBeGreaterThanOrEqual(0.85);
    }
  });

  it('leave an interval open that too few queries tell of, and p99.9 away', () => {
    const figures = percentileIntervals(
      Float64Array.from({ length: 100 }, (_, i) => i + 1),
      0.99,
    );
    expect(figures.map(({ percentile }) => percentile)).toEqual([0.5, 0.9, 0.99]);
    expect(figures.at(-1)).toMatchObject({ valueNs: 100, highNs: null });
    expect(figures[0]?.lowNs).toBeLessThan(51);
    expect(percentileIntervals(new Float64Array(0), 0.99)).toEqual([]);
  });
});
