/*
 * A length of time is a float64: its exponent and the first few bits behind it are the number of its bucket, so that finding one takes
 * a store and a load. With n bits a bucket is at most 1/2^n of its lower edge wide.
 */

/** Values below count in the first bucket, those above in the last one. */
export const BUCKET_NS_MIN: number = 2 ** 10;
const BUCKET_NS_MAX: number = 2 ** 44;
const DOUBLINGS = 34;
/** Bits of the upper half of a float64 behind its exponent. */
const FRACTION_BITS = 20;

const scratch = new Float64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);
/** Where the upper half lies. */
const UPPER = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

function upperHalf(value: number): number {
  scratch[0] = value;
  return scratchWords[UPPER] as number;
}

/** Buckets of one relative width. */
export class LogBuckets {
  /** Between the two limits, and one below. */
  readonly count: number;
  readonly #perDoubling: number;
  readonly #droppedBits: number;
  readonly #firstBucket: number;

  /** @param bits Buckets in one doubling, as a power of 2. */
  constructor(bits: number) {
    this.#perDoubling = 2 ** bits;
    this.#droppedBits = FRACTION_BITS - bits;
    this.#firstBucket = (upperHalf(BUCKET_NS_MIN) >>> this.#droppedBits) - 1;
    this.count = 1 + DOUBLINGS * this.#perDoubling;
  }

  /** Number of the bucket of a length of time. Hot path. */
  bucketOf(ns: number): number {
    // Written so that NaN lands below as well.
    if (!(ns >= BUCKET_NS_MIN)) return 0;
    if (ns >= BUCKET_NS_MAX) return this.count - 1;
    return (upperHalf(ns) >>> this.#droppedBits) - this.#firstBucket;
  }

  /** Lower edge of a bucket in ns, exact; that of the first one is 0. */
  lowerEdgeNs(bucket: number): number {
    if (bucket === 0) return 0;
    const step = bucket - 1;
    const perDoubling = this.#perDoubling;
    return (
      BUCKET_NS_MIN * 2 ** Math.floor(step / perDoubling) * (1 + (step % perDoubling) / perDoubling)
    );
  }
}

/** Lengths of time, counted in buckets: any number of them in bounded memory. */
export class LogHistogram {
  readonly buckets: LogBuckets;
  /** Values by bucket. */
  readonly counts: Float64Array;
  count = 0;
  sumNs = 0;
  /** Exact; 0 without values. */
  largestNs = 0;

  constructor(buckets: LogBuckets) {
    this.buckets = buckets;
    this.counts = new Float64Array(buckets.count);
  }

  /** Adds one value, or the same so many times. Hot path. */
  add(ns: number, times = 1): void {
    const bucket = this.buckets.bucketOf(ns);
    this.counts[bucket] = (this.counts[bucket] as number) + times; // In range: bucketOf.
    this.count += times;
    this.sumNs += ns * times;
    if (ns > this.largestNs) this.largestNs = ns;
  }

  /** Adds all values of another one with such buckets. */
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
