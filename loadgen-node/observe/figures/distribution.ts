/** Statistics of durations. All are NaN without values. */
export interface Distribution {
  readonly minNs: number;
  readonly meanNs: number;
  readonly maxNs: number;
  /** @param percentile 0 to 1; the rank is LoadGen's (`rankOf`). */
  percentileNs(percentile: number): number;
}

/** A distribution to which values, and other distributions of its kind, can be added. */
export interface GrowingDistribution<D> extends Distribution {
  readonly count: number;
  add(ns: number): void;
  addAll(other: D): void;
  clear(): void;
}
