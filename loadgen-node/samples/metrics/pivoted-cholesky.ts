import type { TurnTaker } from '../../../shared/base/async.ts';

/** Pivots below this share of the largest one times the size are rounding noise. */
const PIVOT_MIN = 1e-15;

/**
 * Rows of U whose squares are subtracted at a time: reading the remaining matrix dominates the
 * time.
 */
const ROWS_AT_ONCE = 4;

/**
 * Cholesky factor of a symmetric, possibly singular matrix: largest pivot first, as many rows as
 * the rank.
 * @param matrix Square, row-major; the upper triangle is read.
 * @returns `upper`: U, row-major, with U' U = the permuted matrix; entries below its diagonal are
 *   meaningless. `order`: position in the permutation to position in the matrix. `rank`: valid rows
 *   of U.
 */
export async function pivotedCholesky(matrix: Float64Array, size: number, turns: TurnTaker) {
  const upper = Float64Array.from(matrix);
  const order = Uint32Array.from({ length: size }, (_, i) => i);
  /** The diagonal after the steps so far. */
  const left = Float64Array.from({ length: size }, (_, i) => upper[i * size + i] as number);
  const least = left.reduce((max, value) => Math.max(max, value), 0) * PIVOT_MIN * size;
  let done = 0;
  for (let rank = 0; rank < size; rank += 1) {
    if (turns.isDue) await turns.take();
    const pivot = largestFrom(left, rank);
    const value = left[pivot] as number;
    if (!(value > least)) return { upper, order, rank };
    exchange(upper, size, rank, pivot);
    for (const list of [order, left]) {
      [list[rank], list[pivot]] = [list[pivot] as number, list[rank] as number];
    }
    const own = upper.subarray(rank * size, (rank + 1) * size);
    for (let i = done; i < rank; i += 1) subtract(own, upper.subarray(i * size), rank);
    const root = Math.sqrt(value);
    own[rank] = root;
    for (let j = rank + 1; j < size; j += 1) {
      const entry = (own[j] as number) / root;
      own[j] = entry;
      left[j] = (left[j] as number) - entry * entry;
    }
    if (rank + 1 - done < ROWS_AT_ONCE) continue;
    subtractSquares(upper, size, done);
    done = rank + 1;
  }
  return { upper, order, rank: size };
}

function largestFrom(values: Float64Array, from: number): number {
  let place = from;
  for (let i = from + 1; i < values.length; i += 1) {
    if ((values[i] as number) > (values[place] as number)) place = i;
  }
  return place;
}

/** target -= row' row, restricted to columns from `at` on. */
function subtract(target: Float64Array, row: Float64Array, at: number): void {
  const factor = row[at] as number;
  for (let j = at; j < target.length; j += 1) {
    target[j] = (target[j] as number) - factor * (row[j] as number);
  }
}

/** Subtracts the squares of four rows from all later rows. */
function subtractSquares(upper: Float64Array, size: number, first: number): void {
  const [r0, r1, r2, r3] = [0, 1, 2, 3].map((i) =>
    upper.subarray((first + i) * size, (first + i + 1) * size),
  ) as [Float64Array, Float64Array, Float64Array, Float64Array];
  for (let i = first + ROWS_AT_ONCE; i < size; i += 1) {
    const [f0, f1] = [r0[i] as number, r1[i] as number];
    const [f2, f3] = [r2[i] as number, r3[i] as number];
    const begin = i * size;
    for (let j = i; j < size; j += 1) {
      const taken = f0 * (r0[j] as number) + f1 * (r1[j] as number);
      const more = f2 * (r2[j] as number) + f3 * (r3[j] as number);
      upper[begin + j] = (upper[begin + j] as number) - (taken + more);
    }
  }
}

/** Swaps rows and columns a and b, a < b. */
function exchange(upper: Float64Array, size: number, a: number, b: number): void {
  if (a === b) return;
  const swap = (i: number, j: number): void => {
    [upper[i], upper[j]] = [upper[j] as number, upper[i] as number];
  };
  for (let i = 0; i < a; i += 1) swap(i * size + a, i * size + b);
  swap(a * size + a, b * size + b);
  for (let i = a + 1; i < b; i += 1) swap(a * size + i, i * size + b);
  for (let i = b + 1; i < size; i += 1) swap(a * size + i, b * size + i);
}
