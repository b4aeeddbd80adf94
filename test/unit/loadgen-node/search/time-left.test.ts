import { describe, expect, it } from 'vitest';
import { TaskClock } from '../../../../loadgen-node/search/efficiency/task-clock.ts';
import {
  type LoadSearch,
  type PeakProbe,
  searchNs,
} from '../../../../loadgen-node/search/peak/peak-search.ts';
import { leftText, timeLeft } from '../../../../loadgen-node/search/time-left.ts';

// Goal: whoever waits for a sweep or a comparison knows about how long. Method: times by hand.

const full = {
  runs: 1,
  minDurationNs: 10e9,
  minQueryCount: 100,
  hasEarlyStopping: true,
  loadsMax: 3,
};
const SEARCH = { screeningNsMax: 50e9, full } as LoadSearch;

describe('the time that is left', () => {
  it.each([
    [42.4, 'about 42 s left'],
    [130, 'about 2 min left'],
    [9000, 'about 2.5 h left'],
  ])('is told in the unit that suits it: %d s', (seconds, text) => {
    expect(leftText(seconds)).toBe(text);
  });

  it('is that of the settings before the first piece of work, and of those that are done from then on', () => {
    expect(timeLeft([], 4, searchNs(SEARCH))).toBe('about 4 min left');
    expect(timeLeft([20, 40], 2, searchNs(SEARCH))).toBe('about 60 s left');
  });

  it('of a comparison shrinks with its probes and runs', () => {
    const loadsOf = (peaks: readonly number[]) => peaks.slice(0, 1);
    const clock = new TaskClock({ search: SEARCH, repeats: 3, runNs: 10e9, loadsOf }, 2);
    // Two searches of 60 s, and six runs of 10 s.
    expect(clock.left).toBe('about 3 min left');
    clock.probe(0, { durationNs: 40e9 } as PeakProbe);
    clock.searched(1);
    expect(clock.left).toBe('about 80 s left');
    clock.searched(0);
    clock.beginRuns(4);
    clock.run(20);
    expect(clock.left).toBe('about 60 s left');
  });
});
