/**
 * Counts of values by range, as a Prometheus histogram has them. Hot path: numbers in typed arrays; a
 * histogram of the metrics package takes some 300 ns a value, of which a sample has seven.
 */
export class BucketCounts {
  /** Upper bound of each range, included, ascending. */
  readonly bounds: readonly number[];
  /** Values per range, not summed up; the last one is of those above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] as number)) index += 1;
    this.counts[index] = (this.counts[index] as number) + 1; // In range: one count more than bounds.
    this.sum += value;
  }
}
