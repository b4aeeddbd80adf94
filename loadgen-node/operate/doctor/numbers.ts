/** The smallest; null of none. */
export function minimum(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}
