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
        'dispatch lag p99 34.4 µs  issued 7,504 of 60,000  completed 7,500',
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

  it('has the rate since the start where samples complete in batches', () => {
    const offline = { ...second, targetPerS: null, rateUnit: 'samples', elapsedS: 20 } as const;
    for (const completedPerS of [0, 16]) {
      const slow = { ...offline, completedPerS, completedSamplesOfSet: 80 };
      expect(statusLine(slow, 24)).toBe('20 s  4 samples/s');
    }
  });

  it('tells what early stopping waits for, in place of the time that is left', () => {
    const decision = { neededQueries: 1459, queries: 270, isInTime: true };
    const waiting = { ...second, remainingS: 12, decision };
    expect(statusLine(waiting, 112)).toBe(
      '1:15  decided in about 12 s  needs 1,459 queries, 270 are there  99.3/100 q/s  p50 3.44 ms  p99 10.3 ms  7 out',
    );
    const late = { ...waiting, decision: { ...decision, isInTime: false } };
    expect(statusLine(late, 200)).toContain(
      'ends undecided in about 12 s  needs 1,459 queries, 270 are there',
    );
    const unknown = { ...waiting, decision: { ...decision, queries: 0, isInTime: null } };
    expect(statusLine(unknown, 112)).toMatch(
      /^1:15 {2}12 % {2}needs 1,459 queries, 0 are there {2}99\.3/,
    );
  });

  it('tells no number of planned queries where more are planned than are going to be issued', () => {
    expect(statusLine({ ...second, plannedQueries: null }, 200)).toMatch(
      / issued 7,504 {2}completed 7,500$/,
    );
  });

  it('leaves out what is not known', () => {
    const bare = { ...second, share: null, remainingS: null, latency: null, lag: null };
    const offline = { ...bare, targetPerS: null, rateUnit: 'samples' } as const;
    expect(statusLine({ ...offline, completedSamplesOfSet: 45_987_362, elapsedS: 3725 }, 60)).toBe(
      '1:02:05  12,346 samples/s  7 out  issued 7,504 of 60,000',
    );
  });
});
