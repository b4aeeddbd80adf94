import { rankOf } from '../../loadgen/results/latency-statistics.ts';
import type { GrowingDistribution } from './figures.ts';

/*
 * A length of time is a float64: its exponent and the first five bits behind it are the number of its bucket, so that
 * finding one takes a store and a load. A bucket is at most 1/32 of its lower edge wide; a percentile is told as the middle
 * of its bucket, which is off by 1/64 of the value, 1.6 %, at most.
 */

/** Largest relative error of {@link LatencyHistogram.percentileNs} above {@link LATENCY_NS_MIN}. */
export const RELATIVE_ERROR_MAX: number = 1 / 64;

/** Values below count in the first bucket, those above in the last one. */
export const LATENCY_NS_MIN: number = 2 ** 10;
const LATENCY_NS_MAX: number = 2 ** 44;

/** Buckets in one doubling. */
const PER_DOUBLING = 32;
/** Of the upper half of a float64: what lies behind the five bits of the bucket. */
const DROPPED_BITS = 15;
const DOUBLINGS = 34;
/** Buckets between the two limits, and one below. */
export const BUCKET_COUNT: number = 1 + DOUBLINGS * PER_DOUBLING;

const scratch = new Float64Array(1);
const scratchWords = new Uint32Array(scratch.buffer);
/** Where the upper half lies. */
const UPPER = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;
const FIRST_BUCKET = upperHalf(LATENCY_NS_MIN) - 1;

function upperHalf(value: number): number {
  scratch[0] = value;
  return (scratchWords[UPPER] as number) >>> DROPPED_BITS;
}

/** Number of the bucket of a length of time. Hot path. */
export function bucketOf(ns: number): number {
  // Written so that NaN lands below as well.
  if (!(ns >= LATENCY_NS_MIN)) return 0;
  if (ns >= LATENCY_NS_MAX) return BUCKET_COUNT - 1;
  scratch[0] = ns;
  return ((scratchWords[UPPER] as number) >>> DROPPED_BITS) - FIRST_BUCKET;
}

/** Lower edge of a bucket in ns, exact; that of the first one is 0. */
export function lowerEdgeNs(bucket: number): number {
  if (bucket === 0) return 0;
  const step = bucket - 1;
  return (
    LATENCY_NS_MIN *
    2 ** Math.floor(step / PER_DOUBLING) *
    (1 + (step % PER_DOUBLING) / PER_DOUBLING)
  );
}

/**
 * Lengths of time, counted in buckets of one relative width: percentiles of any number of values in
 * 8.7 KB.
 */
export class LatencyHistogram implements GrowingDistribution {
  /** Values by bucket. */
  readonly counts: Float64Array = new Float64Array(BUCKET_COUNT);
  count = 0;
  sumNs = 0;
  #largestNs = 0;
  /** Is not kept. */
  readonly minNs: number = Number.NaN;

  get meanNs(): number {
    return this.sumNs / this.count;
  }

  /** Exact. */
  get maxNs(): number {
    return this.count === 0 ? Number.NaN : this.#largestNs;
  }

  /** Hot path. */
  add(ns: number): void {
    const bucket = bucketOf(ns);
    this.counts[bucket] = (this.counts[bucket] as number) + 1; // In range: bucketOf.
    this.count += 1;
    this.sumNs += ns;
    if (ns > this.#largestNs) this.#largestNs = ns;
  }

  /** Adds all values of another one. */
  addAll(other: LatencyHistogram): void {
    const { counts } = this;
    for (let i = 0; i < BUCKET_COUNT; i += 1) {
      counts[i] = (counts[i] as number) + (other.counts[i] as number);
    }
    this.count += other.count;
    this.sumNs += other.sumNs;
    this.#largestNs = Math.max(this.#largestNs, other.#largestNs);
  }

  clear(): void {
    this.counts.fill(0);
    this.count = 0;
    this.sumNs = 0;
    this.#largestNs = 0;
  }

  /**
   * Share of the values that are above a bound, 0 to 1; NaN without values. Values in the bucket of the bound are taken to
   * lie evenly in it.
   */
  shareAbove(boundNs: number): number {
    const place = bucketOf(boundNs);
    const [low, high] = [lowerEdgeNs(place), lowerEdgeNs(place + 1)];
    let above = ((this.counts[place] as number) * (high - boundNs)) / (high - low);
    for (let bucket = place + 1; bucket < BUCKET_COUNT; bucket += 1) {
      above += this.counts[bucket] as number;
    }
    // The largest value is exact.
    return boundNs >= this.#largestNs && this.count > 0 ? 0 : above / this.count;
  }

  /**
   * By the rule of all percentiles, within {@link RELATIVE_ERROR_MAX}, and never above the largest
   * value; NaN without values.
   */
  percentileNs(percentile: number): number {
    if (this.count === 0) return Number.NaN;
    const rank = rankOf(this.count, percentile);
    let below = 0;
    for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) {
      below += this.counts[bucket] as number;
      if (below <= rank) continue;
      const middleNs = (lowerEdgeNs(bucket) + lowerEdgeNs(bucket + 1)) / 2;
      return Math.min(middleNs, this.#largestNs);
    }
    return this.#largestNs;
  }
}
