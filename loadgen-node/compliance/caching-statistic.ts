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
const P99 = 'result_99.00_percentile_latency_ns';
const P999 = 'result_99.90_percentile_latency_ns';

/** Share of the submission run's slowest hundredth below which all but a thousandth of the test's queries must not lie. */
const TAIL_SHARE = 0.5;

/**
 * Server: the arrivals decide the rate, so a cache cannot raise it and the official comparison cannot see one. What
 * a cache changes is the latency. Not met when the test's median is less than 1/1.2 of the submission run's and nine
 * of ten of the test's queries were faster than half of the submission run's: chance does not do this among
 * hundreds of queries, and a distribution that merely shifted a little does not either.
 *
 * A cache fills up in the submission run as well: there only the first query for each of some thousand samples is
 * slow, which may be one of ten or of a hundred. So it is not met either when all but a thousandth of the test's queries
 * were faster than half of what a hundredth of the submission run's took at least.
 * @returns undefined for other scenarios.
 */
export function serverLatencyCheck(
  reference: ComplianceRun,
  tested: ComplianceRun,
): TestCheck | undefined {
  if (reference.scenario !== 'Server') return undefined;
  const base = { name: 'latencies', isOfficial: false } as const;
  const before = [P50, P90, P99].map((key) => numberOf(reference, key));
  const after = [P50, P90, P999].map((key) => numberOf(tested, key));
  if ([...before, ...after].includes(undefined)) {
    const text = 'a log lacks the percentiles of its latencies';
    return { ...base, isMet: false, text, advice: LATENCY_ADVICE };
  }
  const [a, b, p99] = before as [number, number, number];
  const [c, d, p999] = after as [number, number, number];
  const text =
    `latencies with the same sample: median ${ms(c)}, 90 % below ${ms(d)}, 99.9 % below ${ms(p999)}; with samples as they come: ` +
    `median ${ms(a)}, 90 % below ${ms(b)}, 99 % below ${ms(p99)} (median ${signedPercent(c / a - 1)})`;
  const lowered = loweredShare(reference, tested);
  if (lowered > SAME_RATE_SHARE) {
    const note = `not judged, since the test's target rate is ${(100 * lowered).toFixed(1)} % lower, which shortens queues`;
    return { ...base, isMet: true, text: `${text}; ${note}` };
  }
  const isShifted = c * LATENCY_FACTOR < a && d < a;
  const isMet = !isShifted && p999 >= p99 * TAIL_SHARE;
  return { ...base, isMet, text, ...(isMet ? {} : { advice: LATENCY_ADVICE }) };
}

const LATENCY_ADVICE =
  'Queries for the same sample are answered much sooner than others. In Server the official comparison looks at the rate, which the arrivals decide, and cannot see this. Look for caches in the SUT, its runtime and proxies. Where the sizes of samples vary (JPEG files), sample 3 may be a small one: try another encoding; where other work disturbed the submission run, make both again.';

function ms(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}
