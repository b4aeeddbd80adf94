import { describe, expect, it } from 'vitest';
import { estimateRatio } from '../../bench/sut/paired-ratio.ts';

// Goal: the interval of a benchmark's ratio is the one that tables of the sign test give.
describe('estimateRatio', () => {
  const ratios = (count: number): number[] =>
    Array.from({ length: count }, (_, i) => ((i * 7) % count) + 1);

  it.each([
    // Ranks from tables of the confidence interval of a median, 95 %.
    [5, 3, 1, 5],
    [6, 3.5, 1, 6],
    [9, 5, 2, 8],
    [11, 6, 2, 10],
    [20, 10.5, 6, 15],
  ])('takes of %i ratios the middle %d and the ranks %i to %i', (count, median, low, high) => {
    expect(estimateRatio(ratios(count))).toEqual({ median, low, high });
  });
});
