/** A histogram bin: [from, to) in ns (the last bin includes `to`), and its number of values. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** A histogram of sorted positive values in bins of equal ratio; empty without values. */
export function logHistogram(sorted: Float64Array, binCount = 60): Bin[] {
  if (sorted.length === 0) return [];
  const from = Math.max(sorted[0] as number, 1);
  const to = Math.max(sorted.at(-1) as number, from * 1.1);
  const ratio = (to / from) ** (1 / binCount);
  const bins: Bin[] = [];
  let below = 0;
  for (let i = 0; i < binCount; i += 1) {
    const end = i === binCount - 1 ? to : from * ratio ** (i + 1);
    const upTo = i === binCount - 1 ? sorted.length : firstNotBelow(sorted, end);
    bins.push({ from: from * ratio ** i, to: end, value: upTo - below });
    below = upTo;
  }
  return bins;
}

/** Index of the first sorted value that is at least the bound. */
export function firstNotBelow(sorted: Float64Array, bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
