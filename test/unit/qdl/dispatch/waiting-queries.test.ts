import { describe, expect, it } from 'vitest';
import { WaitingQueries } from '../../../../qdl/dispatch/waiting-queries.ts';

// Goal: queries leave in the order of issue with their own ids and indices, whatever the ring does.
// Method: one index array for all queries, as the engine has it; push and advance past every
// border.

const indices = Uint32Array.from({ length: 10_000 }, (_, i) => 10_000 - i);

function push(waiting: WaitingQueries, id: number, sampleCount = 1, responseIdStride = 1): void {
  waiting.push({
    id,
    firstResponseId: id * 10,
    sampleIndices: indices,
    sampleOffset: id,
    sampleCount,
    responseIdStride,
  });
}

describe('WaitingQueries', () => {
  it('keeps order and contents over wrap-around and growth', () => {
    const waiting = new WaitingQueries();
    let next = 0;
    let expected = 0;
    for (let round = 0; round < 6; round += 1) {
      for (let i = 0; i < 700; i += 1) push(waiting, next++);
      for (let i = 0; i < 300; i += 1) {
        expect(waiting.headQueryId).toBe(expected);
        expect(waiting.headResponseId(0)).toBe(expected * 10);
        expect(waiting.headSampleIndex(0)).toBe(10_000 - expected);
        waiting.advance(1);
        expected += 1;
      }
    }
    expect(waiting.size).toBe(next - expected);
  });

  it('moves through the samples of a query and drops it after the last', () => {
    const waiting = new WaitingQueries();
    push(waiting, 3, 5);
    push(waiting, 4);
    waiting.advance(2);
    expect(waiting.headRestCount).toBe(3);
    expect(waiting.headSampleCount).toBe(5);
    expect(waiting.headResponseId(1)).toBe(33);
    expect(waiting.headSampleIndex(0)).toBe(10_000 - 5);
    waiting.advance(3);
    expect(waiting.headQueryId).toBe(4);
  });

  it('walks by the stride of a query of several issue threads', () => {
    const waiting = new WaitingQueries();
    push(waiting, 5, 4, 3);
    expect([0, 1, 2, 3].map((i) => waiting.headResponseId(i))).toEqual([50, 53, 56, 59]);
    expect([0, 3].map((i) => waiting.headSampleIndex(i))).toEqual([10_000 - 5, 10_000 - 14]);
    waiting.advance(1);
    const dropped: number[] = [];
    waiting.drop((id) => dropped.push(id));
    expect(dropped).toEqual([53, 56, 59]);
  });

  it('names every sample that it drops, sent ones left out', () => {
    const waiting = new WaitingQueries();
    push(waiting, 1, 3);
    push(waiting, 2);
    waiting.advance(1);
    const dropped: number[] = [];
    waiting.drop((id) => dropped.push(id));
    expect(dropped).toEqual([11, 12, 20]);
    expect(waiting.size).toBe(0);
  });
});
