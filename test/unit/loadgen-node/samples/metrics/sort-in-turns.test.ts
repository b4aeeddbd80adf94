import { expect, it } from 'vitest';
import { sortInTurns } from '../../../../../loadgen-node/samples/metrics/sort-in-turns.ts';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';

// Goal: millions of keys are sorted as Array's sort does it, with turns of the event loop between
// pieces. Method: a small piece, and keys that are random, sorted, turned round, or few.

const COUNT = 5_000;
const random = new SeededRandom(9, 0);

it.each<[string, (i: number) => number]>([
  ['random', () => random.integerBelow(2 ** 31) * 2 + 1],
  ['sorted', (i) => i],
  ['turned round', (i) => COUNT - i],
  ['of three values', () => random.integerBelow(3)],
  ['of one value', () => 7],
])('sorts keys that are %s', async (_case, keyOf) => {
  const keys = Uint32Array.from({ length: COUNT }, (_, i) => keyOf(i));
  const expected = keys.slice().sort();
  let turnCount = 0;
  const take = async (): Promise<void> => {
    turnCount += 1;
  };
  await sortInTurns(keys, { isDue: true, take }, 64);
  expect(keys).toEqual(expected);
  expect(turnCount).toBeGreaterThan(2);
});

it('ends where its turns say so', async () => {
  const take = () => Promise.reject(new Error('ended'));
  await expect(sortInTurns(new Uint32Array(9), { isDue: true, take })).rejects.toThrow('ended');
});
