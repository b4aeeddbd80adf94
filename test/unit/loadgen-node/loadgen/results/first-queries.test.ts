import { describe, expect, it } from 'vitest';
import { compareFirstQueries } from '../../../../../loadgen-node/loadgen/results/first-queries.ts';

// Goal: neighbours are counted as the definition says. Method: short lists of queries, reckoned by
// hand.
describe('compareFirstQueries', () => {
  it.each([
    // First, first, repeat, repeat, first: the pairs are (5, 4) and (4, 7).
    ['counts both orders', [3, 1, 3, 1, 2], [9, 5, 4, 4, 7], [2, 0, 0]],
    ['counts a repeated one that is much faster', [3, 3, 1], [9, 4, 9], [2, 2, 0]],
    ['counts a first one that is much faster', [3, 3, 1], [4, 9, 4], [2, 0, 2]],
    ['takes just half for no difference', [3, 3], [8, 4], [1, 0, 0]],
    ['knows no pair where all are first ones', [1, 2, 3], [1, 9, 1], [0, 0, 0]],
    ['knows no pair where one query has but itself', [1], [1], [0, 0, 0]],
  ] as const)('%s', (_, samples, latencies, [pairs, repeatFaster, firstFaster]) => {
    expect(compareFirstQueries(samples, samples.length, (i) => latencies[i] ?? Number.NaN)).toEqual(
      {
        pairCount: pairs,
        repeatFasterCount: repeatFaster,
        firstFasterCount: firstFaster,
      },
    );
  });

  it('leaves out queries that did not complete, which still make their sample known', () => {
    const latencies = [Number.NaN, 4, 9];
    const found = compareFirstQueries([3, 3, 1], 3, (i) => latencies[i] ?? Number.NaN);
    expect(found).toEqual({ pairCount: 1, repeatFasterCount: 1, firstFasterCount: 0 });
  });
});
