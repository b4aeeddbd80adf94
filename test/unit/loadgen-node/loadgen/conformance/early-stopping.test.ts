import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  adviceFor,
  describeAdvice,
  type EarlyStoppingQuestion,
  passingQueries,
} from '../../../../../loadgen-node/loadgen/conformance/early-stopping.ts';

const QUESTIONS: fc.Arbitrary<EarlyStoppingQuestion> = fc.record({
  over: fc.nat(3000),
  percentile: fc.double({ min: 0.5, max: 0.999, noNaN: true }),
  tolerance: fc.constantFrom(0, 0.001, 0.05),
  confidence: fc.double({ min: 0.5, max: 0.999, noNaN: true }),
});

// Goal: early stopping never gets easier when it should get harder. Method: random questions, pairs.
describe('early stopping', () => {
  it('asks for no less with each query above the bound', () => {
    fc.assert(
      fc.property(QUESTIONS, fc.integer({ min: 1, max: 500 }), (question, more) => {
        const worse = { ...question, over: question.over + more };
        expect(passingQueries(worse)).toBeGreaterThanOrEqual(passingQueries(question));
      }),
    );
  });

  it('asks for more at a higher percentile or confidence, and for less with a tolerance', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(QUESTIONS, share, (question, part) => {
        const { percentile, confidence } = question;
        const plain = { ...question, tolerance: 0 };
        const harder = { ...plain, percentile: percentile + (0.999 - percentile) * part };
        const surer = { ...plain, confidence: confidence + (0.999 - confidence) * part };
        expect(passingQueries(harder)).toBeGreaterThanOrEqual(passingQueries(plain));
        expect(passingQueries(surer)).toBeGreaterThanOrEqual(passingQueries(plain));
        expect(passingQueries(question)).toBeLessThanOrEqual(passingQueries(plain));
      }),
    );
  });

  it('allows more slow queries in a longer run, and just as many as it says', () => {
    fc.assert(
      fc.property(QUESTIONS, fc.nat(20_000), fc.nat(2000), (question, queries, more) => {
        const { allowedOver } = adviceFor(queries, question);
        expect(adviceFor(queries + more, question).allowedOver).toBeGreaterThanOrEqual(allowedOver);
        const isEnough = (over: number): boolean =>
          passingQueries({ ...question, over }) + over <= queries;
        if (allowedOver >= 0) expect(isEnough(allowedOver)).toBe(true);
        expect(isEnough(allowedOver + 1)).toBe(false);
      }),
    );
  });

  it.each([
    [20_000, 0, /may be above the latency bound\nwith 0 above the bound the run is long enough/],
    [20_000, 180, /needs [\d,]+ more queries, all within the bound/],
    [100, 0, /^100 queries are too few .*: it takes 459 even if all are within the bound/],
  ])('says in words what %i queries with %i above the bound mean', (queries, over, text) => {
    const question = { over, percentile: 0.99, tolerance: 0, confidence: 0.99 };
    expect(describeAdvice(queries, question)).toMatch(text);
  });
});
