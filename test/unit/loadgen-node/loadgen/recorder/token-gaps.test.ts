import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogBuckets } from '../../../../../loadgen-node/loadgen/recorder/log-histogram.ts';
import { TokenGaps } from '../../../../../loadgen-node/loadgen/recorder/token-gaps.ts';
import {
  distributionOf,
  spreadValues,
} from '../../../../../loadgen-node/observe/figures/latency-histogram.ts';

// Goal: gaps between tokens are those of LoadGen's clock, all of them are counted, and their
// percentiles are within a bucket. Method: instants by hand and at random, held against the same
// gaps in a list.

const MS = 1_000_000;

describe('TokenGaps', () => {
  it('has one gap less than tokens, from the first to the completion', () => {
    const gaps = new TokenGaps(1);
    gaps.begin(0, 10 * MS);
    gaps.add(0, 1, 12 * MS);
    gaps.add(0, 3, 15 * MS);
    gaps.end(0, 6, 16 * MS);
    const { histogram } = gaps;
    expect(histogram.count).toBe(5);
    expect(histogram.sumNs).toBe(6 * MS);
    expect(histogram.largestNs).toBe(3 * MS);
    // Two came with another one, at its instant.
    expect(histogram.counts[0]).toBe(2);
    expect(gaps.longestNs(0)).toBe(3 * MS);
  });

  it('counts no gap at the end of a sample whose tokens were all told', () => {
    const gaps = new TokenGaps(1);
    gaps.begin(0, 0);
    gaps.add(0, 1, MS);
    gaps.end(0, 2, 9 * MS);
    expect(gaps.histogram.count).toBe(1);
  });

  it('knows none of a sample without a first token, or with no other', () => {
    const gaps = new TokenGaps(2);
    gaps.add(0, 1, MS);
    gaps.end(0, 5, 2 * MS);
    gaps.begin(1, 0);
    gaps.end(1, 1, MS);
    expect(gaps.histogram.count).toBe(0);
    expect([gaps.longestNs(0), gaps.longestNs(1)]).toEqual([Number.NaN, Number.NaN]);
  });

  it('tells percentiles within 0.4 %, of samples that take turns', () => {
    const step = fc.record({
      sample: fc.nat(4),
      count: fc.integer({ min: 1, max: 3 }),
      afterNs: fc.integer({ min: 2_000, max: 10 ** 10 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const gaps = new TokenGaps(5);
        const all: number[] = [];
        const last = [0, 0, 0, 0, 0];
        for (let sample = 0; sample < 5; sample += 1) gaps.begin(sample, 0);
        let nowNs = 0;
        for (const { sample, count, afterNs } of steps) {
          nowNs += afterNs;
          gaps.add(sample, count, nowNs);
          all.push(nowNs - (last[sample] as number), ...new Array<number>(count - 1).fill(0));
          last[sample] = nowNs;
        }
        all.sort((a, b) => a - b);
        const seen = distributionOf(gaps.histogram);
        expect(gaps.histogram.count).toBe(all.length);
        expect(seen.maxNs).toBe(all.at(-1));
        for (const percentile of [0.5, 0.9, 0.99]) {
          const exact = all[
            Math.min(Math.trunc(all.length * percentile), all.length - 1)
          ] as number;
          const error = Math.abs(seen.percentileNs(percentile) - exact);
          expect(error).toBeLessThanOrEqual(exact === 0 ? 512 : exact / 256);
        }
      }),
    );
  });
});

it('the values of a histogram are its own, and fewer of them have its percentiles', () => {
  const gaps = new TokenGaps(1);
  gaps.begin(0, 0);
  let nowNs = 0;
  for (let i = 1; i <= 1000; i += 1) {
    nowNs += i * MS;
    gaps.add(0, 1, nowNs);
  }
  const all = spreadValues(gaps.histogram, 5000);
  expect(all).toHaveLength(1000);
  all.forEach((ns, i) => {
    expect(Math.abs(ns / ((i + 1) * MS) - 1)).toBeLessThan(1 / 128);
  });
  const few = spreadValues(gaps.histogram, 100);
  expect(few).toHaveLength(100);
  expect(few[49] as number).toBeGreaterThan(490 * MS);
  expect(few[49] as number).toBeLessThan(510 * MS);
  expect(few.at(-1)).toBe(1000 * MS);
});

it('buckets of 7 bits are below 0.8 % wide', () => {
  const buckets = new LogBuckets(7);
  for (let bucket = 1; bucket < buckets.count; bucket += 1) {
    const low = buckets.lowerEdgeNs(bucket);
    expect(buckets.bucketOf(low)).toBe(bucket);
    expect(buckets.lowerEdgeNs(bucket + 1) / low - 1).toBeLessThanOrEqual(1 / 128);
  }
});
