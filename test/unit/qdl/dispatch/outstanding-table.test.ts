import { describe, expect, it } from 'vitest';
import { NOT_OUTSTANDING, OutstandingTable } from '../../../../qdl/dispatch/outstanding-table.ts';
import { NodeLoad } from '../../../../qdl/dispatch/router.ts';

// Goal: a response is counted once, for the sample that it belongs to.
// Method: fill a table of known size, then release in and out of order.

function table(
  slotCount: number,
  { streamIndex = 0, streamCount = 1, load = new NodeLoad(1, Number.POSITIVE_INFINITY) } = {},
): OutstandingTable {
  return new OutstandingTable({ streamIndex, streamCount, load }, slotCount);
}

describe('OutstandingTable', () => {
  it('gives back the response id of a completed sample', () => {
    const outstanding = table(2);
    const wireId = outstanding.acquire(41);
    expect(outstanding.find(wireId)).toBe(41);
    expect(outstanding.release(wireId)).toBe(41);
    expect(outstanding.count).toBe(0);
  });

  it('never uses a wire id twice, on no stream of a run', () => {
    const streams = [0, 1, 2].map((streamIndex) => table(2, { streamIndex, streamCount: 3 }));
    const seen = new Set<number>();
    for (let round = 0; round < 50; round += 1) {
      for (const outstanding of streams) {
        const wireId = outstanding.acquire(round);
        expect(seen.has(wireId)).toBe(false);
        seen.add(wireId);
        outstanding.release(wireId);
      }
    }
    expect(seen.size).toBe(150);
  });

  it('refuses an old response after its slot was issued again', () => {
    const outstanding = table(1);
    const first = outstanding.acquire(1);
    outstanding.release(first);
    const second = outstanding.acquire(2);
    expect(outstanding.release(first)).toBe(NOT_OUTSTANDING);
    expect(outstanding.release(second)).toBe(2);
  });

  it.each([
    ['never issued', 1],
    ['out of range', 99],
    ['negative', -1],
    ['of another stream', 3],
    ['no whole number', 0.5],
  ])('refuses a response for an id that is %s', (_case, id) => {
    const outstanding = table(2, { streamCount: 2 });
    const wireId = outstanding.acquire(0);
    expect(outstanding.release(id)).toBe(NOT_OUTSTANDING);
    expect(outstanding.release(wireId)).toBe(0);
    expect(outstanding.release(wireId)).toBe(NOT_OUTSTANDING);
  });

  it('gives up everything that is outstanding, in order', () => {
    const outstanding = table(4);
    const ids = [30, 10, 20].map((responseId) => outstanding.acquire(responseId));
    outstanding.release(ids[1] as number);
    expect([...outstanding.releaseAll()]).toEqual([20, 30]);
    expect([outstanding.count, outstanding.canTake(4)]).toEqual([0, true]);
    expect(outstanding.release(ids[0] as number)).toBe(NOT_OUTSTANDING);
  });

  it('takes what is free on the stream and within the limit of the node', () => {
    const load = new NodeLoad(1, 3);
    const [first, second] = [table(2, { load }), table(2, { load })];
    expect([first.canTake(2), first.canTake(3)]).toEqual([true, false]);
    const wireId = first.acquire(1);
    first.acquire(2);
    expect([first.canTake(1), second.canTake(1), second.canTake(2)]).toEqual([false, true, false]);
    first.release(wireId);
    first.release(wireId);
    expect([load.outstanding, second.canTake(2)]).toEqual([1, true]);
    first.releaseAll();
    expect(load.outstanding).toBe(0);
  });
});
