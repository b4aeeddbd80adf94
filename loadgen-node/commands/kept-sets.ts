import type { LatencySplit } from '../analysis/latency-parts.ts';
import { latencySplitOfSets } from '../analysis/latency-split.ts';
import type { IssuedSet } from '../engine/issued-set.ts';

/** The sets whose results a run's are: all of a run that was extended, the last one of LoadGen's own search. */
export class KeptSets {
  readonly #isSearch: boolean;
  #sets: IssuedSet[] = [];

  /** @param isSearch True for the mode FindPeakPerformance. */
  constructor(isSearch: boolean) {
    this.#isSearch = isSearch;
  }

  /** Keeps a set, what its recorder holds included, until the run is reported. */
  keep(set: IssuedSet): void {
    if (this.#isSearch) this.#sets = [];
    this.#sets.push(set);
  }

  /** Where their time went; null without a performance phase, or where the SUT told no times. */
  split(nodeNames: readonly string[]): LatencySplit | null {
    return latencySplitOfSets(this.#sets, nodeNames);
  }
}
