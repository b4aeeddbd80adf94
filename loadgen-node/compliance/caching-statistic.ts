import type { Scenario } from '../../shared/domain/scenario.ts';
import { signedPercent } from './compare-performance.ts';
import { type ComplianceRun, numberOf, sampleCountOf } from './compliance-run.ts';
import { loweredShare } from './same-system.ts';
import type { TestCheck } from './test-verdict.ts';

/** Two-sided 95 % of a normal distribution. */
const Z_95 = 1.959964;

/** Lowering of the target rate beyond which latencies of two Server runs are not compared. */
const SAME_RATE_SHARE = 0.01;

/** Latencies may be shorter by this factor: what the official script allows streams, whose score is a latency. */
const LATENCY_FACTOR = 1.2;

/** How the test's rate relates to the submission run's. */
export interface RateStatistic {
  /** Test run / submission run. */
  readonly ratio: number;
  /** Bounds between which the ratio lies by chance in 95 of 100 cases, if samples completed independently. */
  readonly low: number;
  readonly high: number;
}

/**
 * Ratio of two rates with its interval by Poisson counting: n samples vary by √n, so the logarithm of the ratio by
 * √(1/n₁ + 1/n₂). It tells what counting alone can do; drift of the machines comes on top.
 * @returns undefined where a count or a rate is missing or 0.
 */
export function rateStatistic(
  reference: { readonly rate: number; readonly samples: number },
  tested: { readonly rate: number; readonly samples: number },
): RateStatistic | undefined {
  if (reference.rate <= 0 || reference.samples <= 0 || tested.samples <= 0) return undefined;
  const ratio = tested.rate / reference.rate;
  const spread = Math.exp(Z_95 * Math.sqrt(1 / reference.samples + 1 / tested.samples));
  return { ratio, low: ratio / spread, high: ratio * spread };
}

/** The rates with one sample and with samples as they come, with their statistic, for people; undefined in scenarios scored by latency. */
export function ratesInWords(reference: ComplianceRun, tested: ComplianceRun): string | undefined {
  const [a, b] = [countsOf(reference), countsOf(tested)];
  const statistic = a && b ? rateStatistic(a, b) : undefined;
  if (a === undefined || b === undefined || statistic === undefined) return undefined;
  const { ratio, low, high } = statistic;
  const meaning =
    low > 1
      ? 'faster than chance explains'
      : high < 1
        ? 'slower than chance explains'
        : 'no difference that chance does not explain';
  return (
    `the same sample against samples as they come: ${b.rate.toFixed(2)} against ${a.rate.toFixed(2)} samples/s, ratio ${ratio.toFixed(4)} ` +
    `(95 % interval by Poisson counting of ${b.samples} and ${a.samples} samples: ${low.toFixed(4)} to ${high.toFixed(4)}: ${meaning}; drift of the machines is not in it)${SCENARIO_NOTE[reference.scenario] ?? ''}`
  );
}

const SCENARIO_NOTE: Partial<Readonly<Record<Scenario, string>>> = {
  Server: '; in Server the arrivals decide both rates, so that latencies say more',
};

function countsOf(run: ComplianceRun): { rate: number; samples: number } | undefined {
  const rate =
    numberOf(run, 'result_samples_per_second') ?? numberOf(run, 'result_completed_samples_per_sec');
  const samples = sampleCountOf(run);
  return rate === undefined || samples === undefined ? undefined : { rate, samples };
}

const P50 = 'result_50.00_percentile_latency_ns';
const P90 = 'result_90.00_percentile_latency_ns';
const P999 = 'result_99.90_percentile_latency_ns';

/** Tails of the submission run's latencies: share of the queries that took longer, and the record with the bound. */
const TAILS = [
  [0.1, P90],
  [0.05, 'result_95.00_percentile_latency_ns'],
  [0.03, 'result_97.00_percentile_latency_ns'],
  [0.01, 'result_99.00_percentile_latency_ns'],
] as const;

/** Part of a tail's bound below which all but a thousandth of the test's queries must not lie. */
const TAIL_PART = 0.5;

/**
 * Server: the arrivals decide the rate, so a cache cannot raise it and the official comparison cannot see one. What
 * a cache changes is the latency. Not met in either of two cases.
 *
 * The test's median is less than 1/1.2 of the submission run's, and nine of ten of its queries were faster than half
 * of the submission run's: chance does not do this among hundreds of queries, and a distribution that merely shifted a
 * little does not either.
 *
 * All but a thousandth of the test's queries were faster than half of what the slowest of the submission run's took,
 * as many of them as a cache leaves slow: it fills up in the submission run as well, where the first query for each
 * sample of the performance set is slow ({@link firstQueryShare}), and the others are as quick as in the test.
 * @returns undefined for other scenarios.
 */
export function serverLatencyCheck(
  reference: ComplianceRun,
  tested: ComplianceRun,
): TestCheck | undefined {
  if (reference.scenario !== 'Server') return undefined;
  const base = { name: 'latencies', isOfficial: false } as const;
  const latencies = readLatencies(reference, tested);
  if (latencies === undefined) {
    const text = 'a log lacks the percentiles of its latencies';
    return { ...base, isMet: false, text, advice: LATENCY_ADVICE };
  }
  const { p50, p90, test50, test90, test999, tail } = latencies;
  const slowest =
    tail === undefined
      ? ''
      : `, the slowest ${100 * tail.share} % took ${ms(tail.ns)} or more (a cache would leave ${(100 * tail.firstShare).toFixed(1)} % slow)`;
  const text =
    `latencies with the same sample: median ${ms(test50)}, 90 % below ${ms(test90)}, 99.9 % below ${ms(test999)}; ` +
    `with samples as they come: median ${ms(p50)}, 90 % below ${ms(p90)}${slowest} (median ${signedPercent(test50 / p50 - 1)})`;
  const lowered = loweredShare(reference, tested);
  if (lowered > SAME_RATE_SHARE) {
    const note = `not judged, since the test's target rate is ${(100 * lowered).toFixed(1)} % lower, which shortens queues`;
    return { ...base, isMet: true, text: `${text}; ${note}` };
  }
  const isShifted = test50 * LATENCY_FACTOR < p50 && test90 < p50;
  const hasNoTail = tail !== undefined && test999 < tail.ns * TAIL_PART;
  const isMet = !isShifted && !hasNoTail;
  return { ...base, isMet, text, ...(isMet ? {} : { advice: LATENCY_ADVICE }) };
}

/** In ns. */
interface Latencies {
  /** Of the submission run. */
  readonly p50: number;
  readonly p90: number;
  readonly test50: number;
  readonly test90: number;
  readonly test999: number;
  /** The submission run's slowest; undefined where a cache would leave too few slow for any tail to show. */
  readonly tail:
    | { readonly share: number; readonly ns: number; readonly firstShare: number }
    | undefined;
}

function readLatencies(reference: ComplianceRun, tested: ComplianceRun): Latencies | undefined {
  const [p50, p90] = [numberOf(reference, P50), numberOf(reference, P90)];
  const [test50, test90, test999] = [P50, P90, P999].map((key) => numberOf(tested, key));
  if (p50 === undefined || p90 === undefined) return undefined;
  if (test50 === undefined || test90 === undefined || test999 === undefined) return undefined;
  return { p50, p90, test50, test90, test999, tail: tailOf(reference) };
}

/** The largest tail in which all queries would be slow, with a quarter to spare: a bound is not one of the slow. */
function tailOf(reference: ComplianceRun): Latencies['tail'] {
  const firstShare = firstQueryShare(reference);
  if (firstShare === undefined) return undefined;
  const found = TAILS.find(([share]) => share <= 0.75 * firstShare);
  const ns = found === undefined ? undefined : numberOf(reference, found[1]);
  return found === undefined || ns === undefined ? undefined : { share: found[0], ns, firstShare };
}

/**
 * Share of a run's queries that are the first for their sample, where n queries draw from k samples with replacement:
 * k (1 - e^(-n/k)) of n.
 */
function firstQueryShare(reference: ComplianceRun): number | undefined {
  const queries = sampleCountOf(reference);
  const samples = numberOf(reference, 'effective_performance_sample_count');
  if (queries === undefined || samples === undefined || queries <= 0) return undefined;
  return (samples / queries) * (1 - Math.exp(-queries / samples));
}

const LATENCY_ADVICE =
  'Queries for the same sample are answered much sooner than others. In Server the official comparison looks at the rate, which the arrivals decide, and cannot see this. Look for caches in the SUT, its runtime and proxies. Where the sizes of samples vary (JPEG files), sample 3 may be a small one: try another encoding; where other work disturbed the submission run, make both again.';

function ms(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}
