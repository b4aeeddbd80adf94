/**
 * A query counts as faster if it takes less than this share of the other's latency: jitter seldom
 * does that, a cached result always does.
 */
const FASTER_PART = 0.5;

/**
 * Compares neighbouring queries of which one is the first for its sample. They ran within moments
 * of each other, so other slowness (a cold start, other work, a long queue) affects both: without a
 * result cache either is equally likely to be slower.
 * @param sampleIndices Sample of each query, in query order.
 * @param latencyOf Latency of a query in ns; NaN if it did not complete.
 */
export function compareFirstQueries(
  sampleIndices: ArrayLike<number>,
  queryCount: number,
  latencyOf: (query: number) => number,
): FirstQueries {
  const seen = new Set<number>();
  let [pairCount, repeatFasterCount, firstFasterCount] = [0, 0, 0];
  let wasFirst: boolean | undefined;
  for (let query = 0; query < queryCount; query += 1) {
    const sampleIndex = sampleIndices[query] as number;
    const isFirst = !seen.has(sampleIndex);
    if (isFirst) seen.add(sampleIndex);
    const isPair = wasFirst !== undefined && wasFirst !== isFirst;
    wasFirst = isFirst;
    if (!isPair) continue;
    const [own, before] = [latencyOf(query), latencyOf(query - 1)];
    if (Number.isNaN(own) || Number.isNaN(before)) continue;
    const [firstNs, repeatNs] = isFirst ? [own, before] : [before, own];
    pairCount += 1;
    if (repeatNs < firstNs * FASTER_PART) repeatFasterCount += 1;
    if (firstNs < repeatNs * FASTER_PART) firstFasterCount += 1;
  }
  return {
    pairCount,
    repeatFasterCount,
    firstFasterCount,
  };
}

export interface FirstQueries {
  /** Number of compared pairs. */
  readonly pairCount: number;
  /** Pairs in which the repeated query took less than half as long as the first one. */
  readonly repeatFasterCount: number;
  /** Pairs in which the first query took less than half as long. */
  readonly firstFasterCount: number;
}
