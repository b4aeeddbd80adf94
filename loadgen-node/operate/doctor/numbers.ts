/** The smallest; null of none. */
export function minimum(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}

/** The middle one, the upper of two; null of none. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
