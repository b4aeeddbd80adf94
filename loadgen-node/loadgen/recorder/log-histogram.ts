/*
 * Buckets of durations by float64 bits: exponent and first fraction bits are the bucket number, so
 * a lookup takes one store and one load. With n bits a bucket is at most 1/2^n of its lower edge
 * wide.
 */

/** Smaller values count in the first bucket, larger ones in the last. */
export const BUCKET_NS_MIN: number = 2 ** 10;
const BUCKET_NS_MAX: number = 2 ** 44;
const DOUBLINGS = 34;
/** Fraction bits in the upper half of a float64. */
const FRACTION_BITS = 20;

const scratch = new Float64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);
/** Index of the upper half. */
const UPPER = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

function upperHalf(value: number): number {
  scratch[0] = value;
  return scratchWords[UPPER] as number;
}

/** Buckets of equal relative width. */
export class LogBuckets {
  /** Buckets between the two limits, plus one below. */
  readonly count: number;
  readonly #perDoubling: number;
  readonly #droppedBits: number;
  readonly #firstBucket: number;

  /** @param bits 2^bits buckets per doubling. */
  constructor(bits: number) {
    this.#perDoubling = 2 ** bits;
    this.#droppedBits = FRACTION_BITS - bits;
    this.#firstBucket = (upperHalf(BUCKET_NS_MIN) >>> this.#droppedBits) - 1;
    this.count = 1 + DOUBLINGS * this.#perDoubling;
  }

  /** Bucket number of a duration. Hot path. */
  bucketOf(ns: number): number {
    // Written so that NaN counts in the first bucket, too.
    if (!(ns >= BUCKET_NS_MIN)) return 0;
    if (ns >= BUCKET_NS_MAX) return this.count - 1;
    return (upperHalf(ns) >>> this.#droppedBits) - this.#firstBucket;
  }

  /** Lower edge of a bucket in ns, exact; 0 for the first bucket. */
  lowerEdgeNs(bucket: number): number {
    if (bucket === 0) return 0;
    const step = bucket - 1;
    const perDoubling = this.#perDoubling;
    return (
      BUCKET_NS_MIN * 2 ** Math.floor(step / perDoubling) * (1 + (step % perDoubling) / perDoubling)
    );
  }
}

/** Counts durations in buckets: any number of them in bounded memory. */
export class LogHistogram {
  readonly buckets: LogBuckets;
  /** Number of values per bucket. */
  readonly counts: Float64Array;
  count = 0;
  sumNs = 0;
  /** Exact largest value; 0 without values. */
  largestNs = 0;

  constructor(buckets: LogBuckets) {
    this.buckets = buckets;
    this.counts = new Float64Array(buckets.count);
  }

  /** Adds a value `times` times. Hot path. */
  add(ns: number, times = 1): void {
    const bucket = this.buckets.bucketOf(ns);
    this.counts[bucket] = (this.counts[bucket] as number) + times; // In range: bucketOf.
    this.count += times;
    this.sumNs += ns * times;
    if (ns > this.largestNs) this.largestNs = ns;
  }

  /** Adds all values of another histogram with the same buckets. */
  addAll(other: LogHistogram): void {
    const { counts } = this;
    for (let i = 0; i < counts.length; i += 1) {
      counts[i] = (counts[i] as number) + (other.counts[i] as number);
    }
    this.count += other.count;
    this.sumNs += other.sumNs;
    this.largestNs = Math.max(this.largestNs, other.largestNs);
  }

  clear(): void {
    this.counts.fill(0);
    this.count = 0;
    this.sumNs = 0;
    this.largestNs = 0;
  }
}
