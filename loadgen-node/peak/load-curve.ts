import type { LoadInterval } from './peak-search.ts';

/**
 * Where the limit lies, by all probes together.
 *
 * Near the limit the log-odds of being late are taken as a straight line in the load: ln(p / (1 - p)) = ln(q / (1 - q)) + s (load / limit - 1), with
 * q the share that may be late. (An M/M/1 queue has P(T > t) = exp(-(mu - lambda) t), whose logarithm is such a line.) Limit and
 * slope s are taken from a grid of candidates, each with its likelihood; probes count by how near they are, since the line is
 * one only near the limit, and by as many queries as their clusters leave.
 */

/** A probe as the curve sees it. */
export interface CurvePoint {
  readonly load: number;
  readonly queries: number;
  readonly over: number;
  readonly varianceFactor: number;
  /** Number of probes with the same arrivals, which tell the same again: each counts for its part. */
  readonly copies: number;
}

/** What the probes say of the limit. */
export interface LoadCurve {
  /** Median of the limit. */
  readonly estimate: number;
  readonly interval: LoadInterval;
  /** Growth of the log-odds when the load grows by its own size. */
  readonly slope: number;
  /** Variance of a share near the limit, as a multiple of the binomial one. */
  readonly varianceFactor: number;
  /** Queries near the limit that it is made from. */
  readonly queries: number;
}

const LIMITS = 120;
const SLOPES = 16;
const SLOPE_MIN = 1;
const SLOPE_MAX = 100;
/** What is believed of the slope before the first probe: queues under usual bounds have 4 to 20. */
const SLOPE_CENTRE = 9;
const SLOPE_LN_DEVIATION = 0.9;
/** Loads further away than this share of the limit count nothing. */
const REACHES = [0.5, 0.2, 0.2];
/** Where no probe with a late query is near. */
const VARIANCE_FACTOR_UNKNOWN = 4;

/**
 * Fits the curve.
 * @param bracket Where the limit is looked for; the grid goes a little beyond.
 * @param confidence Of the interval.
 */
export function fitLoadCurve(
  points: readonly CurvePoint[],
  bracket: LoadInterval,
  percentile: number,
  confidence: number,
): LoadCurve {
  let centre = Math.sqrt(bracket.low * bracket.high);
  let range = { low: bracket.low / 1.4, high: bracket.high * 1.4 };
  let curve: LoadCurve | undefined;
  for (const reach of REACHES) {
    curve = fitNear(points, { centre, reach, range, percentile, confidence });
    centre = curve.estimate;
    const { low, high } = curve.interval;
    // A grid around what is likely: finer steps, and as wide as the first fit left it.
    const margin = Math.max(high / low, 1.01) ** 0.75;
    range = { low: Math.max(range.low, low / margin), high: Math.min(range.high, high * margin) };
  }
  return curve as LoadCurve;
}

interface Neighbourhood {
  readonly centre: number;
  readonly reach: number;
  readonly range: LoadInterval;
  readonly percentile: number;
  readonly confidence: number;
}

function fitNear(points: readonly CurvePoint[], near: Neighbourhood): LoadCurve {
  const { centre, reach, range, percentile, confidence } = near;
  const weighted = points
    .map((point) => ({ ...point, weight: nearness(point.load, centre, reach) / point.copies }))
    .filter(({ weight }) => weight > 0);
  const varianceFactor = pooledFactor(weighted);
  const offset = Math.log((1 - percentile) / percentile);
  const limits = geometric(range.low, range.high, LIMITS);
  const slopes = geometric(SLOPE_MIN, SLOPE_MAX, SLOPES);
  const logs = new Float64Array(LIMITS * SLOPES);
  for (const { load, queries, over, weight } of weighted) {
    const n = (queries * weight) / varianceFactor;
    const k = (over * weight) / varianceFactor;
    for (let i = 0; i < LIMITS; i += 1) {
      const distance = load / (limits[i] as number) - 1;
      for (let j = 0; j < SLOPES; j += 1) {
        const odds = offset + (slopes[j] as number) * distance;
        // ln p = odds - ln(1 + e^odds), ln(1 - p) = -ln(1 + e^odds).
        const at = i * SLOPES + j;
        logs[at] = (logs[at] as number) + k * odds - n * softplus(odds);
      }
    }
  }
  return summarize(logs, limits, slopes, { confidence, varianceFactor, weighted });
}

function summarize(
  logs: Float64Array,
  limits: Float64Array,
  slopes: Float64Array,
  {
    confidence,
    varianceFactor,
    weighted,
  }: {
    confidence: number;
    varianceFactor: number;
    weighted: readonly { queries: number; weight: number }[];
  },
): LoadCurve {
  const ofLimit = new Float64Array(LIMITS);
  let top = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < logs.length; at += 1) {
    logs[at] = (logs[at] as number) + slopePrior(slopes[at % SLOPES] as number);
    top = Math.max(top, logs[at] as number);
  }
  let total = 0;
  let slopeSum = 0;
  for (let at = 0; at < logs.length; at += 1) {
    const chance = Math.exp((logs[at] as number) - top);
    const i = Math.floor(at / SLOPES);
    ofLimit[i] = (ofLimit[i] as number) + chance;
    slopeSum += chance * Math.log(slopes[at % SLOPES] as number);
    total += chance;
  }
  const tail = (1 - confidence) / 2;
  const quantile = (share: number): number => quantileOf(limits, ofLimit, share * total);
  return {
    estimate: quantile(0.5),
    interval: { low: quantile(tail), high: quantile(1 - tail) },
    slope: Math.exp(slopeSum / total),
    varianceFactor,
    queries: weighted.reduce((sum, { queries, weight }) => sum + queries * weight, 0),
  };
}

/** Tricube: 1 at the centre, 0 from the reach on. */
function nearness(load: number, centre: number, reach: number): number {
  const distance = Math.abs(load / centre - 1) / reach;
  return distance >= 1 ? 0 : (1 - distance ** 3) ** 3;
}

/** One factor for all probes near the limit: that of a single probe is uncertain by a quarter. */
function pooledFactor(
  points: readonly { over: number; varianceFactor: number; weight: number }[],
): number {
  let sum = 0;
  let weights = 0;
  for (const { over, varianceFactor, weight } of points) {
    sum += over * weight * varianceFactor;
    weights += over * weight;
  }
  return weights > 0 ? sum / weights : VARIANCE_FACTOR_UNKNOWN;
}

function slopePrior(slope: number): number {
  return -0.5 * (Math.log(slope / SLOPE_CENTRE) / SLOPE_LN_DEVIATION) ** 2;
}

function softplus(x: number): number {
  return x > 30 ? x : Math.log(1 + Math.exp(x));
}

function geometric(low: number, high: number, count: number): Float64Array {
  const ratio = Math.log(high / low) / (count - 1);
  return Float64Array.from({ length: count }, (_, i) => low * Math.exp(ratio * i));
}

/** Value below which the weight `target` lies, between two grid points in proportion. */
function quantileOf(values: Float64Array, weights: Float64Array, target: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) {
    const weight = weights[i] as number;
    if (sum + weight >= target && weight > 0) {
      const value = values[i] as number;
      const before = values[i - 1] ?? value;
      return before + (value - before) * ((target - sum) / weight);
    }
    sum += weight;
  }
  return values[values.length - 1] as number;
}
