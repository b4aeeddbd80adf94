import { describe, expect, it } from 'vitest';
import { clockFactor, ToldTimes } from '../../../../loadgen-node/recorder/told-times.ts';

// Goal: what a node tells of its time is believed as far as the two clocks can differ, and no further. Method: lengths.

describe('clockFactor', () => {
  it.each([
    ['what is shorter', 1e9 - 1, 1e9, 1],
    ['what is as long', 1e9, 1e9, 1],
    ['what is 0.1 % longer', 1.001e9, 1e9, 1e9 / 1.001e9],
    ['what is 10 µs longer', 11_000, 1_000, 1 / 11],
    ['what is more than 0.1 % and 10 µs longer', 1.001e9 + 10_001, 1e9, Number.NaN],
    ['an hour of 23 ms', 3_600e9, 23e6, Number.NaN],
    ['something of nothing', 1, 0, Number.NaN],
  ])('takes %s', (_case, told, passed, factor) => {
    expect(clockFactor(told, passed)).toBe(factor);
  });
});

describe('ToldTimes', () => {
  it('counts what cannot be by node, and keeps the worst', () => {
    const times = new ToldTimes();
    times.add(2, 1e6, 2e6);
    times.add(2, 5e6, 2e6);
    times.add(2, 9e6, 3e6);
    times.add(2, 4e6, 2e6);
    times.add(0, 1e6, 2e6);
    expect(times.excess).toEqual([{ node: 2, count: 3, ofCount: 4, toldNs: 9e6, passedNs: 3e6 }]);
  });
});
