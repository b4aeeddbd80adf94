import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';

// Goal: sequences are the same everywhere, differ by seed and stream, and have the promised ranges.
// Method: pinned first outputs, and sums over ten thousand draws.
const DRAWS = 10_000;

function draw(next: (random: SeededRandom) => number): number[] {
  const random = new SeededRandom(5, 6);
  return Array.from({ length: DRAWS }, () => next(random));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('SeededRandom', () => {
  it('repeats its sequence for the same seed and stream', () => {
    const [first, second] = [new SeededRandom(1, 2), new SeededRandom(1, 2)];
    const outputs = [first.nextUint32(), first.nextUint32(), first.nextUint32()];
    expect(outputs).toEqual([second.nextUint32(), second.nextUint32(), second.nextUint32()]);
    expect(outputs).toEqual([2238190143, 61101710, 3916794307]);
  });

  it('gives different sequences to neighbouring seeds and streams, and to swapped ones', () => {
    const pairs = [
      [1, 2],
      [1, 3],
      [2, 2],
      [2, 1],
      [0, 0],
    ] as const;
    const firsts = pairs.map(([seed, stream]) => new SeededRandom(seed, stream).nextUint32());
    expect(new Set(firsts).size).toBe(pairs.length);
  });

  it('keeps uniform numbers inside their range and centred', () => {
    const values = draw((random) => random.uniform(-2, 4));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-2);
    expect(Math.max(...values)).toBeLessThan(4);
    expect(meanOf(values)).toBeCloseTo(1, 1);
  });

  it('reaches every integer below the count and no other', () => {
    expect(new Set(draw((random) => random.integerBelow(3)))).toEqual(new Set([0, 1, 2]));
  });

  it('keeps triangular numbers between -1 and 1 with their variance of 1/6', () => {
    const values = draw((random) => random.triangular());
    expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(1);
    expect(meanOf(values.map((value) => value ** 2))).toBeCloseTo(1 / 6, 2);
  });

  it('gives nearly normal numbers the mean 0 and the deviation 1', () => {
    const values = draw((random) => random.nearlyNormal());
    expect(meanOf(values)).toBeCloseTo(0, 1);
    expect(meanOf(values.map((value) => value ** 2))).toBeCloseTo(1, 1);
  });
});
