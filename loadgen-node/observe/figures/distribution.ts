/** Lengths of time as figures read them. All are NaN where there are no values. */
export interface Distribution {
  readonly minNs: number;
  readonly meanNs: number;
  readonly maxNs: number;
  /** @param percentile 0 to 1; the rank is LoadGen's (`rankOf`). */
  percentileNs(percentile: number): number;
}

/** A distribution that takes values, and those of others of its kind. */
export interface GrowingDistribution<D> extends Distribution {
  readonly count: number;
  add(ns: number): void;
  addAll(other: D): void;
  clear(): void;
}
