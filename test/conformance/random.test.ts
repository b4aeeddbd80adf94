import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  exactLog,
  exponential,
  shuffle,
  shuffledRange,
  uniformInt,
  uniformReal,
} from '../../loadgen-node/loadgen/random/distributions.ts';
import { Mt19937 } from '../../loadgen-node/loadgen/random/mt19937.ts';
import { doubleOfBits, readGolden, sha256OfUint64 } from '../scenes/simulated-run/golden.ts';

interface Row {
  readonly seed: string;
  readonly n: number;
  readonly rate: number;
  readonly next: number;
  readonly first50: readonly number[];
  readonly bits50: readonly string[];
  readonly [key: string]: unknown;
}

function rows(name: string, key = 'rows'): readonly Row[] {
  return readGolden<Record<string, readonly Row[]>>(`random/${name}.json`)[key] ?? [];
}

function list<T>(count: number, next: () => T): T[] {
  return Array.from({ length: count }, next);
}

const TABLES: readonly (readonly [name: string, check: (row: Row) => void])[] = [
  ['mt19937', checkNumbers],
  ['uniform-real', checkDoubles],
  ['uniform-int', checkWholeNumbers],
  ['shuffle', checkShuffles],
  ['exponential', checkGaps],
];

// Goal: every random draw equals the one of the C++ library that builds LoadGen.
// Method: the first values, the hash of many, and the state of the generator afterwards.
describe('random primitives against the C++ library', () => {
  it.for(TABLES)('equal the golden %s', ([name, check]) => {
    const table = rows(name, name === 'mt19937' ? name : undefined);
    expect(table.length).toBeGreaterThan(0);
    for (const row of table) check(row);
  });
});

/** 32-bit numbers of a seed. */
function checkNumbers(row: Row): void {
  const generator = new Mt19937(BigInt(row.seed));
  const values = list(10_000, () => generator.nextUint32());
  expect(values.slice(0, 50)).toEqual(row.first50);
  const bytes = new Uint8Array(Uint32Array.from(values).buffer);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(row['sha256_first_10000_u32le']);
}

/** Doubles of a seed. */
function checkDoubles(row: Row): void {
  const generator = new Mt19937(BigInt(row.seed));
  const bits = (row['bits'] ?? row.bits50) as readonly string[];
  const values = list(bits.length, () => uniformReal(generator));
  expect(values).toEqual(bits.map(doubleOfBits));
}

/** Whole numbers below n. */
function checkWholeNumbers(row: Row): void {
  const generator = new Mt19937(BigInt(row.seed));
  const values = list(1000, () => uniformInt(generator, row.n));
  expect(values.slice(0, 50)).toEqual(row.first50);
  expect(sha256OfUint64(values)).toBe(row['sha256_first_1000_i64le']);
  expect(generator.nextUint32()).toBe(row.next);
}

/** Shuffles of n elements, and the generator behind them. */
function checkShuffles(row: Row): void {
  const generator = new Mt19937(BigInt(row.seed));
  const values = shuffledRange(generator, row.n, 1);
  expect([...values.subarray(0, 50)]).toEqual(row.first50);
  expect(sha256OfUint64(values)).toBe(row['sha256_u64le']);
  shuffle(generator, values);
  expect(sha256OfUint64(values)).toBe(row['second_sha256_u64le']);
  expect(generator.nextUint32()).toBe(row.next);
}

/** Gaps at a rate, in ns. */
function checkGaps(row: Row): void {
  const generator = new Mt19937(BigInt(row.seed));
  const gaps = list(row.bits50.length, () => Math.trunc(exponential(generator, row.rate) * 1e9));
  expect(gaps).toEqual(row.bits50.map((bits) => Math.trunc(doubleOfBits(bits) * 1e9)));
}

// Goal: the logarithm behind the gaps is the C library's. Method: the bits of all golden draws;
// that library itself is a last bit off in about one of a thousand.
it('draws gaps from a logarithm that is right to the last bit', () => {
  let equal = 0;
  let all = 0;
  for (const row of rows('exponential')) {
    const generator = new Mt19937(BigInt(row.seed));
    for (const bits of row.bits50) {
      const gapS = -exactLog(1 - uniformReal(generator)) / row.rate;
      if (gapS === doubleOfBits(bits)) equal += 1;
      all += 1;
    }
  }
  expect(equal / all).toBeGreaterThan(0.995);
});
