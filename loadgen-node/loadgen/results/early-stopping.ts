import type { Scenario } from '../../../shared/domain/scenario.ts';
import { percentileLabel } from '../base/number-format.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { countAbove } from './latency-statistics.ts';

/**
 * Early stopping (LoadGen: early_stopping.cc): number of queries that must meet the bound before a
 * run shows, with 99 % confidence, that the true share of slow queries is small enough.
 */

/** Result of early stopping (LoadGen: early_stopping.cc). */
export interface EarlyStopping {
  readonly isMet: boolean;
  /** LoadGen's text, with lines separated by `\n`. */
  readonly text: string;
  readonly needed: string;
  readonly seen: string;
  /** Queries still needed if none of them is above the bound; 0 when met. */
  readonly missingQueries: number;
  /** SingleStream: estimate of the target percentile in ns; 0 if there is none. */
  readonly singleStreamEstimateNs: number;
  /** Single- and MultiStream: estimate for MultiStream in ns; 0 if there is none. */
  readonly multiStreamEstimateNs: number;
}

/** Offline has no early stopping: always met, no text. */
export const NO_EARLY_STOPPING: EarlyStopping = {
  isMet: true,
  text: '',
  needed: '',
  seen: '',
  missingQueries: 0,
  singleStreamEstimateNs: 0,
  multiStreamEstimateNs: 0,
};

/** Confidence that LoadGen uses. */
const CONFIDENCE = 0.99;
/** Smaller terms of the series are ignored, as in LoadGen. */
const TERM_MIN = 2 ** -33;
/** Percentile of MultiStream's estimate from a SingleStream run. */
const MULTI_STREAM_PERCENTILE = 0.99;

/**
 * Smallest number of queries within the bound that outweighs `overCount` queries above it.
 * @param percentile Share that must meet the bound, 0 to 1; a tolerance is subtracted first.
 */
export function minPassingQueries(
  overCount: number,
  percentile: number,
  confidence: number = CONFIDENCE,
): number {
  const withoutOver = Math.ceil(Math.log(1 - confidence) / Math.log(percentile));
  let low = Math.trunc(overCount * (percentile / (1 - percentile)) + withoutOver);
  let high = overCount * withoutOver + withoutOver + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (chanceOfAtMost(overCount, middle, percentile) < 1 - confidence) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Probability of `over` or fewer among `over + passing` queries: the regularized incomplete beta
 * function. With tens of millions of queries its rounding decides about the last query, so all
 * operations are in LoadGen's order.
 */
function chanceOfAtMost(over: number, passing: number, percentile: number): number {
  const odds = percentile / (percentile - 1);
  let term = 1;
  let sum = 1;
  for (let i = 0; Math.abs(term) > TERM_MIN; i += 1) {
    term *= ((i - over) * odds) / (1 + passing + i);
    sum += term;
  }
  const logBeta = lnGamma(passing) + lnGamma(over + 1) - lnGamma(passing + over + 1);
  const logFactor = passing * Math.log(percentile) + over * Math.log(1 - percentile) - logBeta;
  return (Math.exp(logFactor) / passing) * sum;
}

/** Coefficients of the series for ln of Gamma in C's mathematical library (fdlibm, e_lgamma_r). */
const SERIES: readonly number[] = [
  ...[-1.6309293409657527e-3, 8.363399189962821e-4, -5.9518755745034e-4],
  ...[7.936505586430196e-4, -2.7777777772877554e-3, 8.333333333333297e-2],
];
const SERIES_CONSTANT = 0.4189385332046727;

/** ln of Gamma for whole x >= 1, as in the C library. */
function lnGamma(x: number): number {
  if (x < 8) return Math.log(FACTORIALS[x - 1] as number);
  const inverse = 1 / x;
  const square = inverse * inverse;
  const series = SERIES.reduce((sum, one) => one + square * sum, 0);
  return (x - 0.5) * (Math.log(x) - 1) + (SERIES_CONSTANT + inverse * series);
}

const FACTORIALS: readonly number[] = [1, 1, 2, 6, 24, 120, 720];

/** Input of early stopping beside the latencies. */
interface EarlyStoppingInput {
  readonly settings: EffectiveSettings;
  /** Decimals of the target percentile in texts. */
  readonly labelDecimals: 0 | 1;
  readonly queryCount: number;
  /** MultiStream: sorted query latencies, which its early stopping uses. */
  readonly queriesNs: Float64Array;
}

/**
 * Early stopping for the scenario.
 * @param sortedNs Latencies of the samples, or their token times.
 * @param boundNs Server: bound for these times.
 * @param bound Name of the bound.
 */
export function earlyStoppingOf(
  { settings, labelDecimals, queryCount, queriesNs }: EarlyStoppingInput,
  sortedNs: Float64Array,
  boundNs: number,
  bound = 'latency bound',
): EarlyStopping {
  const { scenario, targetLatencyPercentile: percentile } = settings;
  switch (scenario) {
    case 'Offline':
      return NO_EARLY_STOPPING;
    case 'Server':
      return earlyStoppingOfServer(queryCount, countAbove(sortedNs, boundNs), percentile, bound);
    case 'SingleStream':
    case 'MultiStream': {
      const isSingle = scenario === 'SingleStream';
      const options = { labelDecimals, estimatesMultiStream: isSingle };
      return earlyStoppingOfStream(isSingle ? sortedNs : queriesNs, percentile, options);
    }
  }
}

/** Server: checks that there are enough queries for the number of samples above the bound. */
function earlyStoppingOfServer(
  queryCount: number,
  overCount: number,
  percentile: number,
  bound = 'latency bound',
): EarlyStopping {
  const needed = minPassingQueries(overCount, percentile) + overCount;
  const isMet = queryCount >= needed;
  const text = isMet
    ? ' * Run successful.'
    : ` * Run unsuccessful.\n * Processed ${queryCount} queries.\n` +
      ` * Would need to run at least ${needed - queryCount} more queries,\n` +
      ' with the run being successful if every additional\n query were under latency.';
  return {
    ...NO_EARLY_STOPPING,
    isMet,
    text,
    needed: `${needed} queries with ${overCount} samples above the ${bound}`,
    seen: `${queryCount} queries`,
    missingQueries: Math.max(0, needed - queryCount),
  };
}

/** Single- and MultiStream: a conservative estimate of the percentile. */
export function earlyStoppingOfStream(
  sortedNs: Float64Array,
  percentile: number,
  options: { readonly labelDecimals: 0 | 1; readonly estimatesMultiStream: boolean },
): EarlyStopping {
  const count = sortedNs.length;
  const label = percentileLabel(percentile, options.labelDecimals);
  const leastCount = leastQueries(percentile);
  const estimate = estimatePercentile(sortedNs, percentile);
  let text =
    estimate === null
      ? ` * Only processed ${count} queries.\n` +
        ` * Need to process at least ${leastCount} queries for early stopping.`
      : ` * Processed at least ${leastCount} queries (${count}).\n` +
        ` * Would discard ${estimate.discardedCount} highest latency queries.\n` +
        ` * Early stopping ${label}th percentile estimate: ${estimate.valueNs}`;
  let multiStreamEstimateNs = estimate?.valueNs ?? 0;
  if (options.estimatesMultiStream) {
    const forMultiStream = estimatePercentile(sortedNs, MULTI_STREAM_PERCENTILE);
    multiStreamEstimateNs = estimate === null ? 0 : (forMultiStream?.valueNs ?? 0);
    if (estimate !== null) {
      text += multiStreamText(forMultiStream?.valueNs, options.labelDecimals);
    }
  }
  return {
    isMet: estimate !== null,
    text,
    needed: `${leastCount} queries`,
    seen: `${count} queries`,
    missingQueries: Math.max(0, leastCount - count),
    singleStreamEstimateNs: options.estimatesMultiStream ? (estimate?.valueNs ?? 0) : 0,
    multiStreamEstimateNs,
  };
}

function multiStreamText(valueNs: number | undefined, labelDecimals: 0 | 1): string {
  const label = percentileLabel(MULTI_STREAM_PERCENTILE, labelDecimals);
  if (valueNs !== undefined)
    return `\n * Early stopping ${label}th percentile estimate: ${valueNs}`;
  return (
    `\n * Not enough queries processed for ${label}th percentile\n` +
    ' early stopping estimate (would need to process at\n' +
    ` least ${leastQueries(MULTI_STREAM_PERCENTILE)} total queries).`
  );
}

/** Smallest run in which one query above the bound is allowed; shorter runs give no estimate. */
export function leastQueries(percentile: number): number {
  return minPassingQueries(1, percentile) + 1;
}

/**
 * Smallest number of queries with which early stopping can declare a run VALID; 0 in scenarios
 * without early stopping.
 */
export function queriesToDecide(scenario: Scenario, percentile: number): number {
  if (scenario === 'Offline') return 0;
  return scenario === 'Server' ? minPassingQueries(0, percentile) : leastQueries(percentile);
}

/**
 * Estimate after discarding as many of the highest values as the count allows. Null with too few
 * values.
 */
function estimatePercentile(
  sortedNs: Float64Array,
  percentile: number,
): { valueNs: number; discardedCount: number } | null {
  const over = allowedOver(sortedNs.length, percentile);
  if (over < 1) return null;
  return { valueNs: sortedNs[sortedNs.length - over] as number, discardedCount: over - 1 };
}

/**
 * Largest number of queries above the bound that a run of `count` queries allows; -1 if the run is
 * too short even without any.
 */
export function allowedOver(
  count: number,
  percentile: number,
  confidence: number = CONFIDENCE,
): number {
  // Each query above the bound needs more queries: `low` is allowed, `high` is not.
  let low = -1;
  let high = count + 1;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (minPassingQueries(middle, percentile, confidence) + middle <= count) low = middle;
    else high = middle;
  }
  return low;
}
