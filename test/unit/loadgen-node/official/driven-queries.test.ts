import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueryPlan } from '../../../../loadgen-node/loadgen/schedule/query-plan.ts';
import { DrivenQueries } from '../../../../loadgen-node/official/driven-queries.ts';

function planOf(sampleIndices: readonly number[], samplesPerQuery = 1): QueryPlan {
  const queryCount = sampleIndices.length / samplesPerQuery;
  return {
    ...{ queryCount, samplesPerQuery, sampleIndices: Uint32Array.from(sampleIndices) },
    ...{ scheduledDeltaNs: new Float64Array(queryCount), periodNs: 0 },
    ...{ generatedQueryCount: queryCount, generatedDurationNs: 0 },
  };
}

// Goal: each query of the C++ LoadGen is found in the plan, whatever threads issue it and in
// however many parts it comes; other samples are counted and put into the plan. Method: generated
// plans and orders of issue; rings that wrap.
describe('queries of the C++ LoadGen', () => {
  it('are found whatever the order of the threads', () => {
    const inputs = fc.record({
      indices: fc.uniqueArray(fc.nat(1000), { minLength: 8, maxLength: 60 }),
      threads: fc.integer({ min: 1, max: 4 }),
      turns: fc.array(fc.nat(3), { minLength: 200, maxLength: 200 }),
    });
    fc.assert(
      fc.property(inputs, ({ indices, threads, turns }) => {
        const driven = new DrivenQueries(planOf(indices), threads === 1 ? 0 : threads);
        const next = Array.from({ length: threads }, (_, thread) => thread);
        const ring = new Uint32Array(16);
        const slots: number[] = [];
        for (let at = 0; slots.length < indices.length; at += 1) {
          const thread = (turns[at % turns.length] as number) % threads;
          const live = [thread, 0, 1, 2, 3].find(
            (one) => (next[one] ?? Infinity) < indices.length,
          ) as number;
          const query = next[live] as number;
          ring[slots.length % ring.length] = indices[query] as number;
          // The bridge numbers threads by their first query.
          expect(driven.add(ring, slots.length, 1, 10 + live, false)).toEqual({ query, count: 1 });
          slots.push(query);
          next[live] = query + threads;
        }
        expect(driven.otherSamples).toBe(0);
        for (const [slot, query] of slots.entries()) expect(driven.slotOf(query)).toBe(slot);
      }),
    );
  });

  it('come in parts where they are larger than the ring', () => {
    const driven = new DrivenQueries(planOf([5, 6, 7, 8, 9], 5), 0);
    const ring = Uint32Array.from([9, 5, 6]);
    expect(driven.add(ring, 1, 2, 0, true)).toBeUndefined();
    expect(driven.add(Uint32Array.from([7, 8, 9]), 3, 3, 0, false)).toEqual({ query: 0, count: 1 });
    expect(driven.otherSamples).toBe(0);
  });

  it('that go out in one call are neighbours of one thread', () => {
    const driven = new DrivenQueries(planOf([1, 2, 3, 4, 5, 6]), 2);
    const ring = Uint32Array.from([1, 3, 5, 2, 4, 6]);
    expect(driven.add(ring, 0, 3, 7, false)).toEqual({ query: 0, count: 3 });
    expect(driven.add(ring, 3, 3, 8, false)).toEqual({ query: 1, count: 3 });
    expect(driven.otherSamples).toBe(0);
  });

  it('with other samples are counted, and the plan has those', () => {
    const plan = planOf([1, 2, 3]);
    const driven = new DrivenQueries(plan, 0);
    driven.add(Uint32Array.from([1, 9, 3]), 0, 3, 0, false);
    expect(driven.otherSamples).toBe(1);
    expect([...plan.sampleIndices]).toEqual([1, 9, 3]);
  });

  it('that the plan cannot hold are refused', () => {
    const ring = Uint32Array.from([1, 2, 3, 4]);
    const short = new DrivenQueries(planOf([1, 2]), 0);
    expect(() => short.add(ring, 0, 3, 0, false)).toThrow('more than the 2 queries');
    const wide = new DrivenQueries(planOf([1, 2, 3, 4], 2), 0);
    expect(() => wide.add(ring, 0, 3, 0, false)).toThrow(
      'a query of 3 samples, but 2 were planned',
    );
  });
});
