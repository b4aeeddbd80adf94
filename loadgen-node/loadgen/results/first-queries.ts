/** A query is faster below this part of the other one's latency that jitter seldom crosses and a kept result always does. */
const FASTER_PART = 0.5;

/**
 * Compares each query with the one before it where one of them is the first for its sample. They were asked
 * within moments, so that whatever else slows a system down (a cold start, other work, a long queue) meets both alike:
 * without something that keeps results either is as likely to be the slower one.
 * @param sampleIndices Sample of each query, in the order of the queries.
 * @param latencyOf Latency of a query in ns; NaN where it did not complete.
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
  /** Neighbours that were compared. */
  readonly pairCount: number;
  /** Of them: the repeated one took less than half as long as the first one. */
  readonly repeatFasterCount: number;
  /** Of them: the first one took less than half as long. */
  readonly firstFasterCount: number;
}
