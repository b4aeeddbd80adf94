/**
 * Share of queries above a latency bound, and its certainty.
 *
 * Latencies in a queue are clustered: while one query waits long, so does the next. A test that
 * assumes independent queries is far too certain: near the limit of an M/M/1 queue at 77 % load by
 * a factor of 7. So the variance is measured by batch means: queries are divided into consecutive
 * batches, whose counts vary more than for independent queries. That factor divides the number of
 * queries.
 */

/** Mean; 0 without values. */
export function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length === 0 ? 0 : sum / values.length;
}

/** Number of batches for the variance. */
const BATCHES = 32;
/** Fewest queries per batch: fewer do not show the length of a cluster. */
export const BATCH_QUERIES_MIN = 4;

/** Queries of a probe, counted against the bound. */
export interface OverShare {
  readonly queries: number;
  readonly over: number;
  /**
   * Variance of the share relative to independent queries; at least 1, and 1 if too few are above
   * the bound.
   */
  readonly varianceFactor: number;
}

/** Queries of one batch, and those above the bound. */
export type OverBatch = Pick<OverShare, 'queries' | 'over'>;

/**
 * @param latenciesNs In query order.
 * @param batchMin Fewest queries per batch.
 */
export function overShareOf(
  latenciesNs: Float64Array,
  boundNs: number,
  batchMin = BATCH_QUERIES_MIN,
): OverShare {
  const queries = latenciesNs.length;
  const size = Math.max(batchMin, Math.ceil(queries / BATCHES));
  const batches: OverBatch[] = [];
  let over = 0;
  for (let begin = 0; begin < queries; begin += size) {
    const end = Math.min(queries, begin + size);
    let overOfBatch = 0;
    for (let i = begin; i < end; i += 1) {
      if ((latenciesNs[i] as number) > boundNs) overOfBatch += 1;
    }
    batches.push({ queries: end - begin, over: overOfBatch });
    over += overOfBatch;
  }
  return { queries, over, varianceFactor: varianceFactorOf(batches) };
}

/** Variance between batches, relative to the binomial one. */
export function varianceFactorOf(batches: readonly OverBatch[]): number {
  let queries = 0;
  let over = 0;
  for (const batch of batches) {
    queries += batch.queries;
    over += batch.over;
  }
  if (batches.length < 2 || over === 0 || over === queries) return 1;
  const share = over / queries;
  let squares = 0;
  for (const batch of batches) squares += (batch.over - share * batch.queries) ** 2;
  const factor =
    (squares * batches.length) / ((batches.length - 1) * queries * share * (1 - share));
  return Math.max(1, factor);
}

/** Wilson interval of the share, for the effective number of queries after clustering. */
export function shareInterval({ queries, over, varianceFactor }: OverShare, z: number) {
  if (queries === 0) return { low: 0, high: 1 };
  const n = queries / varianceFactor;
  const share = over / queries;
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z / n / 2) ** 2);
  return {
    low: over === 0 ? 0 : Math.max(0, middle - half),
    high: over === queries ? 1 : Math.min(1, middle + half),
  };
}

/** Standard normal quantiles for the confidences of a search, one-sided. */

/** Half of an interval at 95 %. */
export const Z_95 = 1.959964;

/**
 * Standard normal quantile of a probability (Acklam's rational approximation, relative error below
 * 2e-9).
 * @param chance Above 0 and below 1.
 */
export function normalDeviate(chance: number): number {
  if (chance > 0.5) return -normalDeviate(1 - chance);
  if (chance < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(chance));
    return polynomial(TAIL_TOP, q) / polynomial(TAIL_BOTTOM, q);
  }
  const q = chance - 0.5;
  const r = q * q;
  return (polynomial(TOP, r) * q) / polynomial(BOTTOM, r);
}

const TOP = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
];
const BOTTOM = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
  1,
];
const TAIL_TOP = [
  -0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
  4.374664141464968, 2.938163982698783,
];
const TAIL_BOTTOM = [
  0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1,
];

function polynomial(coefficients: readonly number[], x: number): number {
  let value = 0;
  for (const coefficient of coefficients) value = value * x + coefficient;
  return value;
}
