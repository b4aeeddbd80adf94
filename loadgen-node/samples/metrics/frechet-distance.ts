import assert from 'node:assert';
import { LoopTurns, type TurnTaker } from '../../../shared/base/async.ts';
import { addCrossProduct, type Matrix } from './cross-product.ts';
import { pivotedCholesky } from './pivoted-cholesky.ts';
import { symmetricEigenvalues } from './symmetric-eigenvalues.ts';

/** Mean and covariance of features. */
export interface FeatureStatistics {
  readonly mean: Float64Array;
  /** Square, row-major. */
  readonly covariance: Float64Array;
}

/** Feature rows centred at a time. */
const ROWS_AT_ONCE = 512;

/**
 * Mean and covariance like NumPy's mean and cov: divisor is the number of rows - 1.
 * @param rows Features of each picture, all of the same length; at least two rows.
 */
export async function featureStatistics(
  rows: readonly Float32Array[],
  turns: TurnTaker = new LoopTurns(),
): Promise<FeatureStatistics> {
  const size = rows[0]?.length ?? 0;
  const mean = meanOf(rows, size);
  const covariance = new Float64Array(size * size);
  const target = { values: covariance, rows: size, columns: size };
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
    const part = centredRows(rows.slice(first, first + ROWS_AT_ONCE), mean);
    await addCrossProduct(target, part, part, turns, { isSymmetric: true });
  }
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      const value = at(covariance, i * size + j) / (rows.length - 1);
      covariance[i * size + j] = value;
      covariance[j * size + i] = value;
    }
  }
  return { mean, covariance };
}

function centredRows(rows: readonly Float32Array[], mean: Float64Array): Matrix {
  const columns = mean.length;
  const values = new Float64Array(rows.length * columns);
  for (const [row, features] of rows.entries()) {
    for (let i = 0; i < columns; i += 1) values[row * columns + i] = at(features, i) - at(mean, i);
  }
  return { values, rows: rows.length, columns };
}

function meanOf(rows: readonly Float32Array[], size: number): Float64Array {
  const sums = new Float64Array(size);
  for (const row of rows) {
    for (let i = 0; i < size; i += 1) sums[i] = at(sums, i) + at(row, i);
  }
  return sums.map((sum) => sum / rows.length);
}

/**
 * Frechet distance of two normal distributions: |m1 - m2|² + tr(S1) + tr(S2) - 2 tr(sqrt(S1 S2)).
 * Source: text_to_image/tools/fid/fid_score.py. The trace is the sum of square roots of the
 * eigenvalues of S1 S2, which equal those of L' S2 L with S1 = L L': no matrix root is needed, and
 * a singular product is not a special case.
 */
export async function frechetDistance(
  a: FeatureStatistics,
  b: FeatureStatistics,
  turns: TurnTaker = new LoopTurns(),
): Promise<number> {
  const size = a.mean.length;
  assert(b.mean.length === size && a.covariance.length === size * size);
  let distance = 0;
  for (let i = 0; i < size; i += 1) {
    distance += (at(a.mean, i) - at(b.mean, i)) ** 2;
    distance += at(a.covariance, i * size + i) + at(b.covariance, i * size + i);
  }
  const { values, rows } = await sandwich(a.covariance, b.covariance, size, turns);
  const eigenvalues = await symmetricEigenvalues(values, rows, turns);
  return eigenvalues.reduce((sum, value) => sum - 2 * Math.sqrt(Math.max(0, value)), distance);
}

/**
 * L' S L with L L' = matrix; only the lower triangle is filled, and its size is the matrix's rank.
 */
async function sandwich(
  matrix: Float64Array,
  other: Float64Array,
  size: number,
  turns: TurnTaker,
): Promise<Matrix> {
  const { upper, order, rank } = await pivotedCholesky(matrix, size, turns);
  const factor: Matrix = { values: new Float64Array(size * rank), rows: size, columns: rank };
  for (let i = 0; i < rank; i += 1) {
    for (let j = i; j < size; j += 1) factor.values[j * rank + i] = at(upper, i * size + j);
  }
  // U is no longer needed: its memory is reused for S in pivot order.
  const inOrder: Matrix = { values: upper, rows: size, columns: size };
  for (const [i, from] of order.entries()) {
    for (const [j, to] of order.entries()) upper[i * size + j] = at(other, from * size + to);
  }
  const half: Matrix = { values: new Float64Array(size * rank), rows: size, columns: rank };
  await addCrossProduct(half, inOrder, factor, turns, { isLowerB: true });
  const whole: Matrix = { values: new Float64Array(rank * rank), rows: rank, columns: rank };
  await addCrossProduct(whole, factor, half, turns, { isLowerA: true, isSymmetric: true });
  return whole;
}

function at(values: Float64Array | Float32Array, i: number): number {
  return values[i] as number;
}
