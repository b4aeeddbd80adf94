import { describe, expect, it } from 'vitest';
import { grouped, percentage, rounded, upperMedian } from '../../../../../shared/base/text.ts';

// Goal: figures read the same wherever they are printed. Method: a value on each side of every
// border.

describe('figures', () => {
  it('keep significant digits and no zeros behind them', () => {
    expect([1 / 3, 1200, 0.5, 123_456].map((value) => rounded(value, 3))).toEqual([
      '0.333',
      '1200',
      '0.5',
      '123000',
    ]);
  });

  it('are percentages of shares', () => {
    expect([percentage(0.0012), percentage(1), percentage(0.99995, 6)]).toEqual([
      '0.12 %',
      '100 %',
      '99.995 %',
    ]);
  });

  it('have their digits in groups of three', () => {
    expect([grouped(999), grouped(24_576)]).toEqual(['999', '24,576']);
  });
});

describe('upperMedian', () => {
  it.each([
    ['of none', [], undefined],
    ['of an odd number, by size and not by text', [10, 9, 1], 9],
    ['of an even number', [4, 1, 3, 2], 3],
  ])('%s', (_case, values, expected) => {
    expect(upperMedian(values)).toBe(expected);
  });
});
