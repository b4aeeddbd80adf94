/**
 * Sum in NumPy's order: blocks of up to 128 numbers in eight partial sums, longer arrays in halves.
 * The last digit of a mean depends on it.
 */
function pairwiseSum(values: Float64Array): number {
  const { length } = values;
  if (length < 8) return values.reduce((sum, value) => sum + value, 0);
  if (length > 128) {
    const half = (length >> 1) - ((length >> 1) % 8);
    return pairwiseSum(values.subarray(0, half)) + pairwiseSum(values.subarray(half));
  }
  const sums = values.slice(0, 8);
  const whole = length - (length % 8);
  for (let i = 8; i < whole; i += 1) sums[i % 8] = (sums[i % 8] as number) + (values[i] as number);
  const pair = (i: number): number => (sums[i] as number) + (sums[i + 1] as number);
  let sum = pair(0) + pair(2) + (pair(4) + pair(6));
  for (let i = whole; i < length; i += 1) sum += values[i] as number;
  return sum;
}

/** Mean equal to `numpy.mean` to the last digit; NaN if empty. */
export function numpyMean(values: Float64Array): number {
  return pairwiseSum(values) / values.length;
}
