import { BUCKET_NS_MIN, LogBuckets, LogHistogram } from '../../loadgen/recorder/log-histogram.ts';
import { rankOf } from '../../loadgen/results/latency-statistics.ts';
import type { Distribution, GrowingDistribution } from './distribution.ts';

/** A bucket is at most 1/32 of its lower edge wide. */
const BUCKETS: LogBuckets = new LogBuckets(5);

/**
 * Largest relative error of {@link LatencyHistogram.percentileNs} above {@link LATENCY_NS_MIN}: a
 * percentile is reported as the middle of its bucket.
 */
export const RELATIVE_ERROR_MAX: number = 1 / 64;

/** Smaller values count in the first bucket. */
export const LATENCY_NS_MIN: number = BUCKET_NS_MIN;

export const BUCKET_COUNT: number = BUCKETS.count;

/** Bucket number of a duration. Hot path. */
export function bucketOf(ns: number): number {
  return BUCKETS.bucketOf(ns);
}

/** Lower edge of a bucket in ns, exact; 0 for the first. */
export function lowerEdgeNs(bucket: number): number {
  return BUCKETS.lowerEdgeNs(bucket);
}

/** A histogram's current content as a distribution. */
export function distributionOf(histogram: LogHistogram): Distribution {
  const { count, sumNs, largestNs } = histogram;
  return {
    minNs: Number.NaN,
    meanNs: sumNs / count,
    maxNs: count === 0 ? Number.NaN : largestNs,
    percentileNs: (percentile) => percentileIn(histogram, percentile),
  };
}

/**
 * Value at a percentile: the middle of its bucket, but at most the largest value; NaN without
 * values.
 */
function percentileIn(
  { counts, count, buckets, largestNs }: LogHistogram,
  percentile: number,
): number {
  if (count === 0) return Number.NaN;
  const rank = rankOf(count, percentile);
  let below = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    below += counts[bucket] as number;
    if (below <= rank) continue;
    const middleNs = (buckets.lowerEdgeNs(bucket) + buckets.lowerEdgeNs(bucket + 1)) / 2;
    return Math.min(middleNs, largestNs);
  }
  return largestNs;
}

/**
 * Its values in ascending order, each as the middle of its bucket; at most `countMax`, at even
 * ranks.
 */
export function spreadValues(
  { counts, count, buckets, largestNs }: LogHistogram,
  countMax: number,
): Float64Array<ArrayBuffer> {
  const values = new Float64Array(Math.min(count, countMax));
  let filled = 0;
  let below = 0;
  for (let bucket = 0; bucket < counts.length && filled < values.length; bucket += 1) {
    below += counts[bucket] as number;
    const end = Math.round((below / count) * values.length);
    const middleNs = (buckets.lowerEdgeNs(bucket) + buckets.lowerEdgeNs(bucket + 1)) / 2;
    values.fill(Math.min(middleNs, largestNs), filled, end);
    filled = end;
  }
  if (values.length > 0) values[values.length - 1] = largestNs;
  return values;
}

/**
 * Durations counted in buckets of equal relative width: percentiles of any number of values in 8.7
 * KB.
 */
export class LatencyHistogram
  extends LogHistogram
  implements GrowingDistribution<LatencyHistogram>
{
  /** Not stored. */
  readonly minNs: number = Number.NaN;

  constructor() {
    super(BUCKETS);
  }

  get meanNs(): number {
    return this.sumNs / this.count;
  }

  /** Exact. */
  get maxNs(): number {
    return this.count === 0 ? Number.NaN : this.largestNs;
  }

  /**
   * Share of the values above a bound, 0 to 1; NaN without values. Assumes an even spread within
   * the bound's bucket.
   */
  shareAbove(boundNs: number): number {
    const place = bucketOf(boundNs);
    const [low, high] = [lowerEdgeNs(place), lowerEdgeNs(place + 1)];
    let above = ((this.counts[place] as number) * (high - boundNs)) / (high - low);
    for (let bucket = place + 1; bucket < BUCKET_COUNT; bucket += 1) {
      above += this.counts[bucket] as number;
    }
    // The largest value is exact.
    return boundNs >= this.largestNs && this.count > 0 ? 0 : above / this.count;
  }

  /** Within {@link RELATIVE_ERROR_MAX}. */
  percentileNs(percentile: number): number {
    return percentileIn(this, percentile);
  }
}
