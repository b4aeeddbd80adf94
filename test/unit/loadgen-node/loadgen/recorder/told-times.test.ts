import { describe, expect, it } from 'vitest';
import { clockFactor, ToldTimes } from '../../../../../loadgen-node/loadgen/recorder/told-times.ts';

// Goal: what a node tells of its time is believed as far as the two clocks can differ, and no further. Method: lengths.

const NO_TIMES = {
  ...{ receiveNs: 0, queueNs: 0, batchWaitNs: 0, preprocessNs: 0 },
  ...{ computeNs: 0, postprocessNs: 0, sendNs: 0 },
};

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
    const lengths = [
      [2, 1e6, 2e6],
      [2, 5e6, 2e6],
      [2, 9e6, 3e6],
      [2, 4e6, 2e6],
      [0, 1e6, 2e6],
    ] as const;
    for (const [sample, [node, toldNs, passedNs]] of lengths.entries()) {
      times.served(sample, node, { ...NO_TIMES, computeNs: toldNs }, 7);
      times.completed(sample, passedNs + 7);
    }
    // Neither another sample nor one without times is held against them.
    times.served(9, 0, { ...NO_TIMES, computeNs: 9e6 }, 0);
    times.completed(8, 1);
    times.served(9, 0, undefined, 0);
    times.completed(9, 1);
    expect(times.excess).toEqual([{ node: 2, count: 3, ofCount: 4, toldNs: 9e6, passedNs: 3e6 }]);
  });
});
