/**
 * The share of queries above a latency bound, and how sure it is.
 *
 * Latencies of a queue come in clusters: while one query waits long, so does the next one. A test that takes queries for
 * independent is then far too sure: near the limit of an M/M/1 queue at 77 % load by a factor of 7. So the variance is
 * measured, by batch means: the queries are cut into batches that follow one another, and the counts of the batches vary more than
 * independent queries would let them. That factor divides the number of queries.
 */

/** Batches that the variance is made from. */
const BATCHES = 32;
/** Fewer queries in a batch say little of how long a cluster is. */
const BATCH_QUERIES_MIN = 4;

/** Queries of a probe, counted against the bound. */
export interface OverShare {
  readonly queries: number;
  readonly over: number;
  /** Variance of the share as a multiple of what independent queries would have; 1 or more, 1 where too few are over to tell. */
  readonly varianceFactor: number;
}

/** Queries and those of them above the bound, of one batch. */
export interface OverBatch {
  readonly queries: number;
  readonly over: number;
}

/** @param latenciesNs In the order of the queries. */
export function overShareOf(latenciesNs: Float64Array, boundNs: number): OverShare {
  const queries = latenciesNs.length;
  const size = Math.max(BATCH_QUERIES_MIN, Math.ceil(queries / BATCHES));
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

/** Variance among batches, as a multiple of the binomial one. */
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

/** Wilson's interval of the share, of as many queries as the clusters leave. */
export function shareInterval(
  { queries, over, varianceFactor }: OverShare,
  z: number,
): { readonly low: number; readonly high: number } {
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
