import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowedOver,
  earlyStoppingOfStream,
  minPassingQueries,
} from '../../../../../loadgen-node/loadgen/results/early-stopping.ts';
import {
  countAbove,
  latencyStatistics,
} from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';

/** LoadGen's own way: step by step until the count no longer suffices. */
function discardedStepByStep(count: number, percentile: number): number {
  let over = 1;
  for (let next = 2; next <= count; next += 1) {
    if (count < minPassingQueries(next, percentile) + next) break;
    over = next;
  }
  return over - 1;
}

// Goal: shortcuts give what LoadGen's plain loops give. Method: random inputs, both ways.
it('discards as many latencies as LoadGen counting up', () => {
  const percentiles = fc.constantFrom(0.5, 0.9, 0.97, 0.99);
  fc.assert(
    fc.property(fc.integer({ min: 662, max: 4000 }), percentiles, (count, percentile) => {
      const sortedNs = Float64Array.from({ length: count }, (_, i) => i + 1);
      const { text, isMet } = earlyStoppingOfStream(sortedNs, percentile, {
        labelDecimals: 0,
        estimatesMultiStream: false,
      });
      expect(isMet).toBe(true);
      expect(text).toContain(`discard ${discardedStepByStep(count, percentile)} highest`);
    }),
    { numRuns: 40 },
  );
});

const QUESTIONS = fc.record({
  over: fc.nat(3000),
  percentile: fc.double({ min: 0.5, max: 0.999, noNaN: true }),
  confidence: fc.double({ min: 0.5, max: 0.999, noNaN: true }),
});

// Goal: early stopping never gets easier when it should get harder. Method: random questions,
// pairs.
describe('early stopping', () => {
  it('asks for no less with each query above the bound', () => {
    fc.assert(
      fc.property(QUESTIONS, fc.integer({ min: 1, max: 500 }), (question, more) => {
        const { over, percentile, confidence } = question;
        expect(minPassingQueries(over + more, percentile, confidence)).toBeGreaterThanOrEqual(
          minPassingQueries(over, percentile, confidence),
        );
      }),
    );
  });

  it('asks for more at a higher percentile or confidence', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(QUESTIONS, share, ({ over, percentile, confidence }, part) => {
        const plain = minPassingQueries(over, percentile, confidence);
        const higher = percentile + (0.999 - percentile) * part;
        const surer = confidence + (0.999 - confidence) * part;
        expect(minPassingQueries(over, higher, confidence)).toBeGreaterThanOrEqual(plain);
        expect(minPassingQueries(over, percentile, surer)).toBeGreaterThanOrEqual(plain);
      }),
    );
  });

  it('allows more slow queries in a longer run, and just as many as it says', () => {
    fc.assert(
      fc.property(QUESTIONS, fc.nat(20_000), fc.nat(2000), (question, queries, more) => {
        const { percentile, confidence } = question;
        const allowed = allowedOver(queries, percentile, confidence);
        expect(allowedOver(queries + more, percentile, confidence)).toBeGreaterThanOrEqual(allowed);
        const isEnough = (over: number): boolean =>
          minPassingQueries(over, percentile, confidence) + over <= queries;
        if (allowed >= 0) expect(isEnough(allowed)).toBe(true);
        expect(isEnough(allowed + 1)).toBe(false);
      }),
    );
  });
});

it('needs more passing queries for each one above the bound', () => {
  for (let over = 1; over < 300; over += 1) {
    expect(minPassingQueries(over, 0.99)).toBeGreaterThan(minPassingQueries(over - 1, 0.99));
  }
});

it('counts values above a limit as a loop does', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.nat(50), (values, limitNs) => {
      const sorted = Float64Array.from(values).sort();
      expect(countAbove(sorted, limitNs)).toBe(values.filter((value) => value > limitNs).length);
    }),
  );
});

it('keeps the mean exact beyond 2^53', () => {
  const values = new Float64Array(5).fill(2 ** 52 + 1);
  expect(latencyStatistics(values).meanNs).toBe(2 ** 52 + 1);
});

it('logs the mean of a negative sum as LoadGen does, beside the true one', () => {
  // LoadGen: a signed sum of -2 ns over 2 samples without sign.
  const { meanNs, loadgenMeanNs } = latencyStatistics(Float64Array.of(-1, -1));
  expect({ meanNs, loadgenMeanNs }).toEqual({ meanNs: -1, loadgenMeanNs: 9223372036854775807n });
  expect(latencyStatistics(Float64Array.of(-1)).loadgenMeanNs).toBe(-1n);
  expect(latencyStatistics(Float64Array.of(3, 4)).loadgenMeanNs).toBe(3n);
});

it('has 0 everywhere without a value', () => {
  expect(latencyStatistics(new Float64Array(0))).toMatchObject({ minNs: 0, maxNs: 0, meanNs: 0 });
});
