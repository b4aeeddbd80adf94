import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exactLog,
  exponential,
  exponentialNs,
} from '../../../../../loadgen-node/loadgen/random/distributions.ts';
import { Mt19937 } from '../../../../../loadgen-node/loadgen/random/mt19937.ts';

// Goal: the logarithm is right to the last bit, so that no draw is a ns off.
// Method: known values; JavaScript's logarithm as a neighbour; whole draws both ways.
describe('exactLog', () => {
  it.each([
    [1, 0],
    [0.5, -Math.LN2],
    [0.25, -2 * Math.LN2],
    // To 30 digits -0.356674943938732378912638711241 and -36.7368005696771013991133024373.
    [0.7, -0.3566749439387324],
    [2 ** -53, -36.7368005696771],
  ])('of %d is %d', (value, expected) => {
    expect(exactLog(value)).toBeCloseTo(expected, 15);
  });

  it("is at most one last bit from JavaScript's", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 53 - 1 }), (mantissa) => {
        const value = mantissa * 2 ** -53;
        const known = Math.log(value);
        const lastBit = 2 ** (Math.floor(Math.log2(Math.abs(known))) - 52);
        expect(Math.abs(exactLog(value) - known)).toBeLessThanOrEqual(lastBit);
      }),
    );
  });

  it('leaves the draws as they are', () => {
    const plain = new Mt19937(7n);
    const exact = new Mt19937(7n);
    for (let i = 0; i < 20_000; i += 1) {
      const ns = Math.trunc(exponential(plain, 3) * 1e9);
      if (exponentialNs(exact, 3) !== ns) expect.unreachable(`draw ${i}`);
    }
  });
});
