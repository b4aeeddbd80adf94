import { LogBuckets, LogHistogram } from './log-histogram.ts';

/** Buckets for gaps between tokens: less than 0.8 % wide, 35 KB. */
const GAP_BUCKETS: LogBuckets = new LogBuckets(7);

/** An empty histogram of gaps between tokens. */
export function gapHistogram(): LogHistogram {
  return new LogHistogram(GAP_BUCKETS);
}

/**
 * Times between the tokens of a sample, by LoadGen's clock. If several tokens arrive at once, the
 * first has the time since the previous token and the others 0. So a sample of n tokens has n - 1
 * gaps, whose sum is completion - first token; tokens not reported before arrive with the
 * completion.
 *
 * Hot path: allocates 16 bytes per sample in the constructor, and nothing later.
 */
export class TokenGaps {
  /** All gaps of all samples. */
  readonly histogram: LogHistogram = gapHistogram();
  /** By sample: tokens so far, clock at the last one, and the longest gap. */
  readonly #counts: Uint32Array;
  readonly #lastNs: Float64Array;
  readonly #longestNs: Float32Array;

  constructor(sampleCount: number) {
    this.#counts = new Uint32Array(sampleCount);
    this.#lastNs = new Float64Array(sampleCount);
    this.#longestNs = new Float32Array(sampleCount);
  }

  /** Longest gap between two tokens of a sample in ns; NaN below two tokens. */
  longestNs(sample: number): number {
    return (this.#counts[sample] as number) < 2 ? Number.NaN : (this.#longestNs[sample] as number);
  }

  /** True if the first token of a sample has come. */
  hasBegun(sample: number): boolean {
    return (this.#counts[sample] as number) > 0;
  }

  /** Records the first token of a sample. */
  begin(sample: number, atNs: number): void {
    this.#counts[sample] = 1;
    this.#lastNs[sample] = atNs;
  }

  /** Records `count` tokens; ignored before the first token. */
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

  /** Records the completion of a sample with its total token count. */
  end(sample: number, tokenCount: number, atNs: number): void {
    const missing = tokenCount - (this.#counts[sample] as number);
    if (missing > 0) this.add(sample, missing, atNs);
  }
}
