import { LogBuckets, LogHistogram } from './log-histogram.ts';

/** Of gaps between tokens: below 0.8 % wide, 35 KB. */
const GAP_BUCKETS: LogBuckets = new LogBuckets(7);

/** An empty histogram of gaps between tokens. */
export function gapHistogram(): LogHistogram {
  return new LogHistogram(GAP_BUCKETS);
}

/**
 * Times between the tokens of a sample, by LoadGen's clock. Of several tokens that come at one instant the first has the time since the
 * token before it and the others have none: so a sample of n tokens has n - 1 gaps, which sum to the time from its first token to its
 * completion, with which the tokens come that were not told before.
 *
 * Hot path: takes 16 bytes per sample in the constructor, and allocates nothing later.
 */
export class TokenGaps {
  /** All gaps of all samples. */
  readonly histogram: LogHistogram = gapHistogram();
  /** By sample: tokens so far, when the last one came by the clock, and the longest gap. */
  readonly #counts: Uint32Array;
  readonly #lastNs: Float64Array;
  readonly #longestNs: Float32Array;

  constructor(sampleCount: number) {
    this.#counts = new Uint32Array(sampleCount);
    this.#lastNs = new Float64Array(sampleCount);
    this.#longestNs = new Float32Array(sampleCount);
  }

  /** Longest time between two tokens of a sample in ns; NaN where there are no two. */
  longestNs(sample: number): number {
    return (this.#counts[sample] as number) < 2 ? Number.NaN : (this.#longestNs[sample] as number);
  }

  /** True once the first token of a sample came. */
  hasBegun(sample: number): boolean {
    return (this.#counts[sample] as number) > 0;
  }

  /** The first token of a sample came. */
  begin(sample: number, atNs: number): void {
    this.#counts[sample] = 1;
    this.#lastNs[sample] = atNs;
  }

  /** So many came; without a first one they have no effect. */
  add(sample: number, count: number, atNs: number): void {
    const before = this.#counts[sample] as number;
    if (before === 0) return;
    const gapNs = Math.max(0, atNs - (this.#lastNs[sample] as number));
    this.#counts[sample] = before + count;
    this.#lastNs[sample] = atNs;
    if (gapNs > (this.#longestNs[sample] as number)) this.#longestNs[sample] = gapNs;
    this.histogram.add(gapNs);
    if (count > 1) this.histogram.add(0, count - 1);
  }

  /** The sample completed with so many tokens in all. */
  end(sample: number, tokenCount: number, atNs: number): void {
    const missing = tokenCount - (this.#counts[sample] as number);
    if (missing > 0) this.add(sample, missing, atNs);
  }
}
