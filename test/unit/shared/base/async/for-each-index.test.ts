import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { forEachIndex } from '../../../../../shared/base/async.ts';

// Goal: every index is taken once, with a bound on what runs at once, and a failure ends it.
// Method: tasks that last one turn of the event loop and count themselves.
describe('forEachIndex', () => {
  it('takes every index once', async () => {
    const seen: number[] = [];
    await forEachIndex(7, 3, async (index) => {
      await turn();
      seen.push(index);
    });
    expect(seen.sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('never runs more tasks at once than it may', async () => {
    let running = 0;
    let runningMax = 0;
    await forEachIndex(20, 4, async () => {
      running += 1;
      runningMax = Math.max(runningMax, running);
      await turn();
      running -= 1;
    });
    expect(runningMax).toBe(4);
  });

  it('starts nothing further after a failure', async () => {
    const seen: number[] = [];
    const run = forEachIndex(100, 2, async (index) => {
      seen.push(index);
      await turn();
      if (index === 3) throw new RangeError('index 3');
    });
    await expect(run).rejects.toThrow(new RangeError('index 3'));
    expect(seen.length).toBeLessThan(7);
  });
});
