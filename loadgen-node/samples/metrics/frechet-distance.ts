import assert from 'node:assert';
import { symmetricEigenvalues } from './symmetric-eigenvalues.ts';

/** Mean and covariance of features. */
export interface FeatureStatistics {
  readonly mean: Float64Array;
  /** Square, row-major. */
  readonly covariance: Float64Array;
}

/** Pivots of Cholesky's method below this share of the largest one are noise of rounding. */
const PIVOT_MIN = 1e-15;

/**
 * Statistics of features as NumPy's mean and cov have them: divided by the number of rows less one.
 * @param rows Features of each picture, of the same length; two rows or more.
 */
export function featureStatistics(rows: readonly Float32Array[]): FeatureStatistics {
  const size = rows[0]?.length ?? 0;
  const mean = meanOf(rows, size);
  const covariance = new Float64Array(size * size);
  const centred = new Float64Array(size);
  for (const row of rows) {
    for (let i = 0; i < size; i += 1) centred[i] = at(row, i) - at(mean, i);
    for (let i = 0; i < size; i += 1) {
      const own = at(centred, i);
      const begin = i * size;
      for (let j = 0; j <= i; j += 1) {
        covariance[begin + j] = at(covariance, begin + j) + own * at(centred, j);
      }
    }
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

function meanOf(rows: readonly Float32Array[], size: number): Float64Array {
  const sums = new Float64Array(size);
  for (const row of rows) {
    for (let i = 0; i < size; i += 1) sums[i] = at(sums, i) + at(row, i);
  }
  return sums.map((sum) => sum / rows.length);
}

/**
 * Frechet distance of two normal distributions: |m1 - m2|² + tr(S1) + tr(S2) - 2 tr(sqrt(S1 S2)).
 * Source: text_to_image/tools/fid/fid_score.py. The trace is the sum of the roots of the eigenvalues of S1 S2, which are those
 * of L' S2 L with S1 = L L': no root of a matrix has to be found, and a singular product is no special case.
 */
export function frechetDistance(a: FeatureStatistics, b: FeatureStatistics): number {
  const size = a.mean.length;
  assert(b.mean.length === size && a.covariance.length === size * size);
  let distance = 0;
  for (let i = 0; i < size; i += 1) {
    distance += (at(a.mean, i) - at(b.mean, i)) ** 2;
    distance += at(a.covariance, i * size + i) + at(b.covariance, i * size + i);
  }
  const factor = choleskyRows(a.covariance, size);
  const rank = factor.length / size;
  const eigenvalues = symmetricEigenvalues(sandwich(factor, b.covariance, size), rank);
  return eigenvalues.reduce((sum, value) => sum - 2 * Math.sqrt(Math.max(0, value)), distance);
}

/** Columns of L, one behind the other, with L L' = matrix; the largest pivot first, as many columns as the rank. */
function choleskyRows(matrix: Float64Array, size: number): Float64Array {
  const left = Float64Array.from({ length: size }, (_, i) => at(matrix, i * size + i));
  const largest = left.reduce((max, value) => Math.max(max, value), 0);
  const columns = new Float64Array(size * size);
  for (let rank = 0; rank < size; rank += 1) {
    const pivot = left.indexOf(left.reduce((max, value) => Math.max(max, value), 0));
    if (pivot < 0 || at(left, pivot) <= largest * PIVOT_MIN * size) {
      return columns.subarray(0, rank * size);
    }
    const column = columns.subarray(rank * size, (rank + 1) * size);
    column.set(matrix.subarray(pivot * size, (pivot + 1) * size));
    for (let k = 0; k < rank; k += 1)
      addScaled(column, columns, k * size, -at(columns, k * size + pivot));
    const root = Math.sqrt(at(left, pivot));
    for (let i = 0; i < size; i += 1) {
      const value = at(column, i) / root;
      column[i] = value;
      left[i] = at(left, i) - value * value;
    }
    left[pivot] = 0;
  }
  return columns;
}

/** L' S L, of which the lower triangle is filled. @param columns Of L, one behind the other. */
function sandwich(columns: Float64Array, matrix: Float64Array, size: number): Float64Array {
  const rank = columns.length / size;
  const result = new Float64Array(rank * rank);
  const row = new Float64Array(size);
  for (let i = 0; i < rank; i += 1) {
    row.fill(0);
    for (let k = 0; k < size; k += 1) addScaled(row, matrix, k * size, at(columns, i * size + k));
    for (let j = 0; j <= i; j += 1) {
      let sum = 0;
      const begin = j * size;
      for (let k = 0; k < size; k += 1) sum += at(row, k) * at(columns, begin + k);
      result[i * rank + j] = sum;
    }
  }
  return result;
}

/** target += factor x the row of `source` that begins at `begin`. */
function addScaled(
  target: Float64Array,
  source: Float64Array,
  begin: number,
  factor: number,
): void {
  for (let i = 0; i < target.length; i += 1) {
    target[i] = (target[i] as number) + factor * (source[begin + i] as number);
  }
}

function at(values: Float64Array | Float32Array, i: number): number {
  return values[i] as number;
}
