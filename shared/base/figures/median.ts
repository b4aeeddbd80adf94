/** The middle value, of an even number of values the upper of the two; undefined of none. */
export function upperMedian(values: Iterable<number>): number | undefined {
  const sorted = Float64Array.from(values).sort();
  return sorted[sorted.length >> 1];
}
