import { LATENCY_PARTS } from './latency-parts.ts';

/** Sums of latency and parts over some samples. */
export class PartSums {
  count = 0;
  #latencyNs = 0;
  readonly #partsNs = new Float64Array(LATENCY_PARTS.length);

  /** @param partsNs In the order of {@link LATENCY_PARTS}. */
  add(partsNs: Float64Array, latencyNs: number): void {
    this.count += 1;
    this.#latencyNs += latencyNs;
    const sums = this.#partsNs;
    for (let i = 0; i < sums.length; i += 1) sums[i] = (sums[i] as number) + (partsNs[i] as number);
  }

  /** Mean of a part by its index, in ns; NaN of nothing. */
  meanOf(index: number): number {
    return (this.#partsNs[index] as number) / this.count;
  }

  get meanLatencyNs(): number {
    return this.#latencyNs / this.count;
  }
}

/** What one SUT node's samples took. */
export interface NodeTimes {
  /** Number of the node. */
  readonly index: number;
  readonly sums: PartSums;
  /** Its samples among the slowest of the run. */
  tailCount: number;
}

/** All that a split says of a run beside its table. */
export interface SplitFindings {
  readonly all: PartSums;
  readonly typical: PartSums;
  readonly tail: PartSums;
  readonly nodes: readonly NodeTimes[];
  /** Samples that were lost or whose node told no times. */
  readonly unknownCount: number;
  /** Offline. */
  readonly isAllAtOnce: boolean;
  /** MultiStream: a query counts once, by the sample that came last. */
  readonly isOfQueries: boolean;
  /** Samples that are left out because their node told more time than passed, and the worst remainder in ns. */
  readonly overtold: { readonly count: number; readonly leastNs: number };
}
