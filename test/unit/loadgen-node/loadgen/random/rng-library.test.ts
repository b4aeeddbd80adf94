import { describe, expect, it } from 'vitest';
import {
  RNG_LIBRARIES,
  shuffle,
  uniformInt,
  uniformReal,
} from '../../../../../loadgen-node/loadgen/random/distributions.ts';
import { Mt19937 } from '../../../../../loadgen-node/loadgen/random/mt19937.ts';

/** Seed of the C++ standard's example: 3499211612, 581869302, 3890346734, 3586334585, ... */
const SEED = 5489n;

// Goal: the sample order can be that of a LoadGen built with an older libstdc++.
// Method: the generator's first draws are known, so that each result can be worked out by hand.
describe('libstdc++-10', () => {
  it('divides the draw where libstdc++-11 multiplies it', () => {
    const bound = 2 ** 31 + 1;
    // Scaling is 1: draws of 2^31 + 1 and above are thrown away, others are the result.
    expect(uniformInt(new Mt19937(SEED), bound, 'libstdc++-10')).toBe(581869302);
    // 3499211612 * (2^31 + 1) / 2^32, truncated.
    expect(uniformInt(new Mt19937(SEED), bound, 'libstdc++-11')).toBe(1749605806);
  });

  it.each([
    [6, [4, 0, 5, 5]],
    [10, [8, 1, 9, 8]],
    [1, [0, 0, 0, 0]],
  ])('draws below %i', (bound, expected) => {
    const generator = new Mt19937(SEED);
    expect(expected.map(() => uniformInt(generator, bound, 'libstdc++-10'))).toEqual(expected);
  });

  it('throws away a draw past the last whole range', () => {
    const generator = new Mt19937(SEED);
    const bound = 3_400_000_000;
    const kept = [3499211612, 581869302, 3890346734, 3586334585].filter((draw) => draw < bound);
    expect(kept.map(() => uniformInt(generator, bound, 'libstdc++-10'))).toEqual(kept);
  });

  it('leaves the doubles as they are: the Poisson schedule does not depend on the library', () => {
    const value = uniformReal(new Mt19937(SEED));
    expect(value).toBe((3499211612 + 581869302 * 2 ** 32) / 2 ** 64);
  });

  it.each(RNG_LIBRARIES)('shuffles with %s into a permutation', (library) => {
    for (const count of [0, 1, 2, 7, 65_535, 65_536]) {
      const values = Uint32Array.from({ length: count }, (_, i) => i);
      shuffle(new Mt19937(SEED), values, library);
      expect(values.toSorted().every((value, i) => value === i)).toBe(true);
    }
  });
});
