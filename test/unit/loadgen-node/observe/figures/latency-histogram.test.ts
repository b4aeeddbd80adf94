import { describe, expect, it } from 'vitest';
import { percentileOf } from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';
import {
  BUCKET_COUNT,
  bucketOf,
  LATENCY_NS_MIN,
  LatencyHistogram,
  lowerEdgeNs,
  RELATIVE_ERROR_MAX,
} from '../../../../../loadgen-node/observe/figures/latency-histogram.ts';

// Goal: percentiles of the live view are within the error that they state.
// Method: edges of all buckets; distributions whose exact percentiles are known by sorting.

/** Lengths of time from 1 µs to 100 s, many magnitudes, the same in each run. */
function lengths(count: number): number[] {
  return Array.from({ length: count }, (_, i) => 1e3 * 10 ** ((8 * ((i * 7919) % count)) / count));
}

describe('LatencyHistogram', () => {
  it('places each edge in the bucket that it begins, and what is below in the one before', () => {
    for (let bucket = 1; bucket < BUCKET_COUNT; bucket += 1) {
      const edgeNs = lowerEdgeNs(bucket);
      expect(bucketOf(edgeNs)).toBe(bucket);
      expect(bucketOf(edgeNs * (1 - 2 ** -52))).toBe(bucket - 1);
    }
  });

  it.each([0.5, 0.9, 0.99, 0.999, 1])('tells the percentile %d within its error', (fraction) => {
    const values = lengths(20_000);
    const histogram = new LatencyHistogram();
    for (const ns of values) histogram.add(ns);
    const sorted = values.toSorted((a, b) => a - b);
    const exactNs = percentileOf(Float64Array.from(sorted), fraction);
    const told = histogram.percentileNs(fraction);
    const errorMax = Math.max(exactNs, LATENCY_NS_MIN) * RELATIVE_ERROR_MAX;
    expect(Math.abs(told - exactNs)).toBeLessThanOrEqual(errorMax);
  });

  it('never tells a percentile above the largest value', () => {
    const histogram = new LatencyHistogram();
    histogram.add(5_000_001);
    expect(histogram.percentileNs(0.5)).toBeLessThanOrEqual(5_000_001);
    expect(histogram.maxNs).toBe(5_000_001);
  });

  it.each([
    ['nothing', 0, 0],
    ['less than nothing', -5, 0],
    ['not a number', Number.NaN, 0],
    ['longer than it counts', 1e30, BUCKET_COUNT - 1],
  ])('counts %s in a bucket of its ends', (_case, ns, bucket) => {
    expect(bucketOf(ns)).toBe(bucket);
  });

  it('has no percentile without values', () => {
    const histogram = new LatencyHistogram();
    expect(histogram.percentileNs(0.99)).toBeNaN();
    histogram.add(1e6);
    histogram.clear();
    expect(histogram.percentileNs(0.99)).toBeNaN();
  });

  it('adds another one up to what one alone would have', () => {
    const [both, first, next] = [1, 2, 3].map(() => new LatencyHistogram()) as [
      LatencyHistogram,
      LatencyHistogram,
      LatencyHistogram,
    ];
    lengths(1000).forEach((ns, i) => {
      both.add(ns);
      (i % 3 === 0 ? first : next).add(ns);
    });
    first.addAll(next);
    expect(first.counts).toEqual(both.counts);
    expect([first.count, first.maxNs]).toEqual([both.count, both.maxNs]);
    expect(first.sumNs).toBeCloseTo(both.sumNs, -6);
  });
});
