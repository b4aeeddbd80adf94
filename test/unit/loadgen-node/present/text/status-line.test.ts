import { describe, expect, it } from 'vitest';
import { statusLine } from '../../../../../loadgen-node/present/text/status-line.ts';
import { liveSecond } from '../../../../scenes/simulated-run/summary.ts';

// Goal: the line fits any width, and what matters most is the last to go.
// Method: one second of a run in many widths.

describe('statusLine', () => {
  const second = liveSecond(75);

  it('tells all it knows where there is room', () => {
    expect(statusLine(second, 200)).toBe(
      '1:15  12 %  ETA 8:45  99.3/100 q/s  p50 3.44 ms  p99 10.3 ms  7 out  ' +
        'lag p99 34.4 µs  issued 7504 of 60000  completed 7500',
    );
  });

  it('keeps time, rate, target, a percentile and what is outstanding in 40 columns', () => {
    expect(statusLine(second, 39)).toBe('1:15  99.3/100 q/s  p99 10.3 ms  7 out');
  });

  it('never is longer than its width', () => {
    for (let width = 0; width <= 220; width += 1) {
      expect(statusLine(second, width).length).toBeLessThanOrEqual(width);
    }
  });

  it('tells lost samples before all else', () => {
    const lost = { ...second, totals: { ...second.totals, lostSamples: 12 } };
    expect(statusLine(lost, 20)).toBe('1:15  12 LOST');
  });

  it('has the rate since the start where no sample completed in the last second', () => {
    const offline = { ...second, targetPerS: null, rateUnit: 'samples', elapsedS: 20 } as const;
    const slow = { ...offline, completedPerS: 0, completedSamplesOfSet: 80 };
    expect(statusLine(slow, 24)).toBe('20 s  4 samples/s');
  });

  it('leaves out what is not known', () => {
    const bare = { ...second, share: null, remainingS: null, latency: null, lag: null };
    const offline = { ...bare, targetPerS: null, rateUnit: 'samples' } as const;
    expect(statusLine({ ...offline, completedPerS: 12_345.6, elapsedS: 3725 }, 60)).toBe(
      '1:02:05  12346 samples/s  7 out  issued 7504 of 60000',
    );
  });
});
