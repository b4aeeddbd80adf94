import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';
import { BeamSearch } from '../../../../../sut-node/benchmarks/gnmt/beam-search.ts';
import { type NextToken, tensorflowBeams } from '../../../../scenes/sut-node/tensorflow-beams.ts';

// Goal: the beams of TensorFlow's BeamSearchDecoder, also where scores are equal and sentences end
// early or not at all. Method: random tables of scores in which the next token depends on all
// tokens before it; a search written as TensorFlow has it, over whole arrays with impossible beams,
// of one sentence and of several together; and all sequences that there are.

const START = 1;
const END = 2;
const f32 = Math.fround;
const CASES = 1000;

type Table = (...asked: Parameters<NextToken>) => Float32Array;

/** @param levels Few levels make many equal scores. */
function randomTable(seed: number, size: number, levels: number): Table {
  const rows = new Map<string, Float32Array>();
  const random = new SeededRandom(seed, 1);
  return (tokens) => {
    const key = tokens.join(' ');
    const known = rows.get(key);
    if (known !== undefined) return known;
    const row = Float32Array.from({ length: size }, () => -random.integerBelow(levels) / 8);
    rows.set(key, row);
    return row;
  };
}

function search(table: Table, size: number, width: number, stepsMax: number): number[] {
  const beams = new BeamSearch({ width, startToken: START, endToken: END, stepsMax });
  let prefixes: number[][] = [[]];
  while (beams.tokens.length > 0) {
    // A row more before them, as other sentences have it.
    const rows = [new Float32Array(size), ...prefixes.map(table)];
    const all = Float32Array.from(rows.flatMap((row) => [...row]));
    const parents = beams.advance(all, 1, size);
    const before = prefixes;
    prefixes = parents.map((parent, i) => [
      ...(before[parent] as number[]),
      beams.tokens[i] as number,
    ]);
  }
  return beams.result();
}

const penalty = (length: number): number => f32((5 + length) / 6);

/** All sequences that go on from `tokens`, with their scores. */
function sequencesOf(
  table: Table,
  size: number,
  stepsMax: number,
  tokens: readonly number[],
  sum: number,
): { readonly score: number; readonly tokens: readonly number[] }[] {
  const isLast = tokens.length + 1 === stepsMax;
  return Array.from({ length: size }, (_, token) => token).flatMap((token) => {
    const next = f32(sum + (table(tokens)[token] as number));
    const longer = token === END ? tokens : [...tokens, token];
    if (token !== END && !isLast) return sequencesOf(table, size, stepsMax, longer, next);
    // An end in the last step does not count for the length; one before does, in the step after it.
    const length = tokens.length + (token === END && isLast ? 0 : 1);
    return [{ score: f32(next / penalty(length)), tokens: longer }];
  });
}

describe('BeamSearch', () => {
  it('chooses as a search over whole arrays does, with equal scores and without', () => {
    for (let seed = 0; seed < CASES; seed += 1) {
      const random = new SeededRandom(seed, 0);
      const size = 3 + random.integerBelow(5);
      const width = 1 + random.integerBelow(6);
      const stepsMax = random.integerBelow(7);
      const levels = seed % 2 === 0 ? 4 : 4000;
      const table = randomTable(seed, size, levels);
      const [expected] = tensorflowBeams([table], { size, width, endToken: END, stepsMax });
      expect(search(table, size, width, stepsMax), `seed ${seed}`).toEqual(expected);
    }
  });

  it('gives each sentence of a batch what TensorFlow gives it, which goes on with finished ones', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const random = new SeededRandom(seed, 2);
      const [size, width, stepsMax] = [3 + random.integerBelow(5), 1 + random.integerBelow(6), 9];
      const levels = seed % 2 === 0 ? 4 : 4000;
      const tables = [0, 1, 2].map((i) => randomTable(3 * seed + i, size, levels));
      const expected = tensorflowBeams(tables, { size, width, endToken: END, stepsMax });
      const found = tables.map((table) => search(table, size, width, stepsMax));
      expect(found, `seed ${seed}`).toEqual(expected);
    }
  });

  it('finds the best of all sequences where the beams hold them all', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const [size, stepsMax] = [3, 3];
      const table = randomTable(seed, size, 1 << 20);
      const ends = sequencesOf(table, size, stepsMax, [], 0);
      const best = ends.reduce((a, b) => (b.score > a.score ? b : a));
      expect(search(table, size, 100, stepsMax), `seed ${seed}`).toEqual(best.tokens);
    }
  });

  it('with one beam takes the best token in each step', () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const table = randomTable(seed, 6, 1 << 20);
      const tokens: number[] = [];
      for (let sum = 0; tokens.length < 8 && tokens.at(-1) !== END; ) {
        const sums = [...table(tokens)].map((value) => f32(sum + value));
        // The end is held to a shorter length than the others.
        const scores = sums.map((value, token) =>
          f32(value / penalty(tokens.length + (token === END ? 0 : 1))),
        );
        const token = scores.indexOf(Math.max(...scores));
        sum = sums[token] as number;
        tokens.push(token);
      }
      const greedy = tokens.filter((token) => token !== END);
      expect(search(table, 6, 1, 8), `seed ${seed}`).toEqual(greedy);
    }
  });

  it('gives nothing where there are no steps, and refuses scores that are not numbers', () => {
    expect(search(() => new Float32Array(4), 4, 3, 0)).toEqual([]);
    const nan = (): Float32Array => new Float32Array(4).fill(Number.NaN);
    expect(() => search(nan, 4, 3, 2)).toThrow('gives no token a probability');
  });
});
