import type { LoadInterval, LoadSearch } from './peak-search.ts';

/**
 * Estimate of the limit from all probes together.
 *
 * Model: near the limit the log-odds of being late are linear in the load: ln(p / (1 - p)) = ln(q /
 * (1 - q)) + s (load / limit - 1), with q the allowed late share. (An M/M/1 queue has P(T > t) =
 * exp(-(mu - lambda) t), whose logarithm is linear.) Limit and slope s come from a grid of
 * candidates with their likelihoods. Probes are weighted by nearness, since the line holds only
 * near the limit, and by their effective number of queries after clustering.
 */

/** A probe as input of the curve. */
export interface CurvePoint {
  readonly load: number;
  readonly queries: number;
  readonly over: number;
  readonly varianceFactor: number;
  /**
   * Number of probes with the same arrivals, which carry the same information: each has this
   * fraction of the weight.
   */
  readonly copies: number;
  /**
   * True if the queue grew all through the probe: its late queries only show the probe's duration,
   * and that the limit is lower.
   */
  readonly hasGrown: boolean;
}

const LIMITS = 120;
const SLOPES = 24;
const SLOPE_MIN = 0.2;
/** The slope grid extends by this factor around the prior's centre. */
const SLOPE_SPAN = 12;
/**
 * Centre of the slope's prior: queues under usual bounds have 4 to 20. If more queries arrive
 * within the bound, the centre is their number, as for M/M/c, whose waiting time has the tail
 * exp(-(c mu - lambda) t).
 */
const SLOPE_CENTRE = 9;
const SLOPE_LN_DEVIATION = 0.9;
/**
 * Slope factor for a time that is a mean over a response, such as time per token: it deviates by 1
 * / sqrt(n) if n queries arrive meanwhile, so the slope grows with sqrt(n).
 */
const AVERAGED_SLOPE = 5;
/**
 * If a query without load already takes more than this share of the bound at the percentile, little
 * is left for queueing, and lateness grows as slowly as the load (slope 1): the prior is lowered
 * then.
 */
const TIGHT_SHARE = 0.5;
const TIGHT_LN_DEVIATION = 1.6;
/** Number of fits: each is centred on the limit of the one before. */
const FITS = 3;
/**
 * Relative distance beyond which loads do not count: at first, and when the limit is well known.
 */
const REACH_FIRST = 0.5;
const REACH_MIN = 0.2;
/**
 * Minimum reach in half widths of the interval: a poorly known limit needs distant loads on both
 * sides.
 */
const REACH_WIDTHS = 3;
/** How often, and by how much, a grid is widened if its edge is likely. */
const WIDENINGS = 8;
const WIDENING = 2;
/** An interval end this close to the edge of the grid was cut by it. */
const EDGE = 1.1;
/**
 * A late share above this value and this multiple of the allowed share only shows that the limit is
 * lower: an overloaded queue grows with the probe's duration, so its share is not on the line.
 */
const FAR_LATE = 10;
const FAR_SHARE_MAX = 0.5;
/** Variance factor if no probe with a late query is near. */
const VARIANCE_FACTOR_UNKNOWN = 4;

/**
 * Fits the curve.
 * @param bracket Initial range of the limit; the grid grows if the probes allow values outside.
 * @param boundNs Latency above which a query is late, in ns.
 * @param confidence Confidence of the interval.
 */
export function fitLoadCurve(
  points: readonly CurvePoint[],
  bracket: LoadInterval,
  { boundNs, unloadedNs, averagedNs, percentile, confidence }: CurveQuestion,
): LoadCurve {
  let centre = Math.sqrt(bracket.low * bracket.high);
  const prior = {
    centre: Math.max(
      SLOPE_CENTRE,
      (centre * boundNs) / 1e9,
      AVERAGED_SLOPE * Math.sqrt((centre * averagedNs) / 1e9),
    ),
    lnDeviation: unloadedNs > TIGHT_SHARE * boundNs ? TIGHT_LN_DEVIATION : SLOPE_LN_DEVIATION,
  };
  const fixed = { percentile, confidence, prior };
  let range = { low: bracket.low / 1.4, high: bracket.high * 1.4 };
  let reach = REACH_FIRST;
  let curve = fitNear(points, { ...fixed, centre, reach, range });
  // A bracket may be wrong by chance: it must not make the interval narrower than the probes do.
  for (let i = 0; i < WIDENINGS && isCut(curve.interval, range); i += 1) {
    range = { low: range.low / WIDENING, high: range.high * WIDENING };
    curve = fitNear(points, { ...fixed, centre, reach, range });
  }
  for (let fit = 1; fit < FITS; fit += 1) {
    centre = curve.estimate;
    const { low, high } = curve.interval;
    reach = Math.max(REACH_MIN, (REACH_WIDTHS * (high - low)) / 2 / centre);
    // A grid around the likely values: finer, and as wide as the first fit allows.
    const margin = Math.max(high / low, 1.01) ** 0.75;
    range = { low: Math.max(range.low, low / margin), high: Math.min(range.high, high * margin) };
    curve = fitNear(points, { ...fixed, centre, reach, range });
  }
  return curve;
}

function isCut(interval: LoadInterval, range: LoadInterval): boolean {
  return interval.low < range.low * EDGE || interval.high > range.high / EDGE;
}

/**
 * Input of one fit: loads within `reach` of the centre, and a range of limits. The slope's prior is
 * lognormal.
 */
type Neighbourhood = Pick<CurveQuestion, 'percentile' | 'confidence'> &
  Readonly<Record<'centre' | 'reach', number>> & {
    readonly range: LoadInterval;
    readonly prior: Readonly<Record<'centre' | 'lnDeviation', number>>;
  };

/** Bound and confidence of a curve. */
interface CurveQuestion extends Pick<LoadSearch, 'boundNs' | 'percentile' | 'confidence'> {
  /** Latency at the percentile of queries sent one at a time, in ns. */
  readonly unloadedNs: number;
  /** Time that the bounded value is averaged over, in ns; 0: not an average. */
  readonly averagedNs: number;
}

function fitNear(points: readonly CurvePoint[], near: Neighbourhood): LoadCurve {
  const { centre, reach, range, percentile, confidence, prior } = near;
  const weighted = points
    .map((point) => ({ ...point, weight: nearness(point.load, centre, reach) / point.copies }))
    .filter(({ weight }) => weight > 0);
  const varianceFactor = pooledFactor(weighted);
  const offset = Math.log((1 - percentile) / percentile);
  const far = Math.min(FAR_SHARE_MAX, FAR_LATE * (1 - percentile));
  const farOdds = Math.log(far / (1 - far));
  const limits = geometric(range.low, range.high, LIMITS);
  const slopes = geometric(SLOPE_MIN, SLOPE_SPAN * prior.centre, SLOPES);
  const logs = new Float64Array(LIMITS * SLOPES);
  for (const { load, queries, over, weight, hasGrown } of weighted) {
    const n = (queries * weight) / varianceFactor;
    const k = (over * weight) / varianceFactor;
    const isFar = hasGrown || over > far * queries;
    // ln p = odds - ln(1 + e^odds), ln(1 - p) = -ln(1 + e^odds).
    const exactly = (odds: number): number => k * odds - n * softplus(odds);
    const atLeast = (odds: number): number =>
      odds >= farOdds ? 0 : n * (far * (odds - farOdds) - softplus(odds) + softplus(farOdds));
    for (let i = 0; i < LIMITS; i += 1) {
      const distance = load / (limits[i] as number) - 1;
      for (let j = 0; j < SLOPES; j += 1) {
        const odds = offset + (slopes[j] as number) * distance;
        const at = i * SLOPES + j;
        logs[at] = (logs[at] as number) + (isFar ? atLeast(odds) : exactly(odds));
      }
    }
  }
  return summarize(logs, limits, slopes, { confidence, varianceFactor, weighted, prior });
}

function summarize(
  logs: Float64Array,
  limits: Float64Array,
  slopes: Float64Array,
  {
    confidence,
    varianceFactor,
    weighted,
    prior,
  }: Pick<Neighbourhood, 'confidence' | 'prior'> & {
    varianceFactor: number;
    weighted: readonly { queries: number; weight: number }[];
  },
): LoadCurve {
  const ofLimit = new Float64Array(LIMITS);
  let top = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < logs.length; at += 1) {
    const distance = Math.log((slopes[at % SLOPES] as number) / prior.centre) / prior.lnDeviation;
    logs[at] = (logs[at] as number) - 0.5 * distance ** 2;
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
    above: (load): number => 1 - shareBelow(limits, ofLimit, load) / total,
    estimate: quantile(0.5),
    interval: { low: quantile(tail), high: quantile(1 - tail) },
    slope: Math.exp(slopeSum / total),
    varianceFactor,
    queries: weighted.reduce((sum, { queries, weight }) => sum + queries * weight, 0),
  };
}

/** Estimate of the limit from all probes. */
export interface LoadCurve {
  /** Probability that the limit is above a load. */
  readonly above: (load: number) => number;
  /** Median of the limit. */
  readonly estimate: number;
  readonly interval: { low: number; high: number };
  /** Increase of the log-odds when the load doubles relative to the limit (slope s). */
  readonly slope: number;
  /** Variance of a share near the limit, relative to the binomial one. */
  readonly varianceFactor: number;
  /** Queries near the limit behind the estimate. */
  readonly queries: number;
}

/** Number of bisection steps. */
const HALVINGS = 40;

/**
 * Curve for several bounds: the limit is the lowest of theirs. They are treated as independent;
 * probes that miss one bound by chance tend to miss the other too, so the low end errs on the safe
 * side.
 * @param curves At least one.
 * @param confidence Confidence of the interval.
 */
export function jointCurve(curves: readonly LoadCurve[], confidence: number): LoadCurve {
  const leading = curves.reduce((a, b) => (b.estimate < a.estimate ? b : a));
  if (curves.length === 1) return leading;
  const above = (load: number): number =>
    curves.reduce((chance, curve) => chance * curve.above(load), 1);
  const tail = (1 - confidence) / 2;
  const quantile = (share: number): number => {
    let low = 0;
    let high = leading.interval.high * 2;
    for (let i = 0; i < HALVINGS; i += 1) {
      const middle = (low + high) / 2;
      if (above(middle) > 1 - share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  const interval = { low: quantile(tail), high: quantile(1 - tail) };
  return { ...leading, above, estimate: quantile(0.5), interval };
}

/** Weight of the values below one, interpolated linearly between grid points. */
function shareBelow(values: Float64Array, weights: Float64Array, value: number): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) {
    const at = values[i] as number;
    const weight = weights[i] as number;
    if (at > value) {
      const before = values[i - 1] ?? at;
      return value <= before ? sum : sum + (weight * (value - before)) / (at - before);
    }
    sum += weight;
  }
  return sum;
}

/** Tricube weight: 1 at the centre, 0 from the reach on. */
function nearness(load: number, centre: number, reach: number): number {
  const distance = Math.abs(load / centre - 1) / reach;
  return distance >= 1 ? 0 : (1 - distance ** 3) ** 3;
}

/**
 * One variance factor for all probes near the limit: that of a single probe is uncertain by a
 * quarter.
 */
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

function softplus(x: number): number {
  return x > 30 ? x : Math.log(1 + Math.exp(x));
}

function geometric(low: number, high: number, count: number): Float64Array {
  const ratio = Math.log(high / low) / (count - 1);
  return Float64Array.from({ length: count }, (_, i) => low * Math.exp(ratio * i));
}

/** Value with weight `target` below it, interpolated linearly between grid points. */
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
