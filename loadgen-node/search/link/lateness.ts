/** Width of a bin in ns, and how many there are: up to 20 ms, the last one holds what is later. */
const BIN_NS = 10_000;
const BIN_COUNT = 2_000;

/** How much later than the model says the shim handed bytes on: a histogram in bins of 10 µs. */
export class Lateness {
  readonly #bins = new Uint32Array(BIN_COUNT);
  #count = 0;
  maxNs = 0;

  add(lateNs: number): void {
    const bin = Math.min(BIN_COUNT - 1, Math.max(0, Math.floor(lateNs / BIN_NS)));
    this.#bins[bin] = (this.#bins[bin] as number) + 1;
    this.#count += 1;
    this.maxNs = Math.max(this.maxNs, lateNs);
  }

  /** Upper end of the bin that holds the percentile (0 to 1), in ns; 0 where nothing was handed on. */
  percentileNs(percentile: number): number {
    const rank = Math.ceil(this.#count * percentile);
    if (rank === 0) return 0;
    let seen = 0;
    for (let bin = 0; bin < BIN_COUNT; bin += 1) {
      seen += this.#bins[bin] as number;
      if (seen >= rank) return Math.min(this.maxNs, (bin + 1) * BIN_NS);
    }
    return this.maxNs;
  }
}
