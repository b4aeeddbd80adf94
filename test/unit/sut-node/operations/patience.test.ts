import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Patience } from '../../../../sut-node/operations/patience.ts';

// Goal: the end of a node waits as long as is documented, and no longer when somebody is in a
// hurry.
describe('Patience', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('waits for workers half a minute', async () => {
    const giveUp = new Patience().withWorkers();
    await vi.advanceTimersByTimeAsync(29_999);
    expect(giveUp.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(giveUp.aborted).toBe(true);
  });

  it.each(['before', 'after'])('waits a second when told to hurry %s', async (when) => {
    const patience = new Patience();
    if (when === 'before') patience.hurry();
    const giveUp = patience.withWorkers();
    patience.hurry();
    await vi.advanceTimersByTimeAsync(999);
    expect(giveUp.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(giveUp.aborted).toBe(true);
  });

  it('tells why a drain has not come to its end', async () => {
    const never = new Promise<void>(() => {});
    const late = new Patience().withDrain(never, 5e6);
    await vi.advanceTimersByTimeAsync(5);
    expect(await late).toBe('the drain timeout of the node was over');
    const patience = new Patience();
    const hurried = patience.withDrain(never, 5e6);
    patience.hurry();
    expect(await hurried).toBe('it was told to end at once');
    expect(await new Patience().withDrain(Promise.resolve(), 5e6)).toBeUndefined();
  });
});
