import { signedPercent } from './compare-performance.ts';
import { hasFirstQueries } from './first-query-check.ts';
import { type ComplianceRun, numberOf, sampleCountOf } from './read-compliance-run.ts';
import { loweredShare } from './same-system.ts';
import type { TestCheck } from './test-verdict.ts';

/** Lowering of the target rate beyond which latencies of two Server runs are not compared. */
const SAME_RATE_SHARE = 0.01;

/** Latencies may be shorter by this factor: what the official script allows streams, whose score is a latency. */
const LATENCY_FACTOR = 1.2;

const P50 = 'result_50.00_percentile_latency_ns';
const P90 = 'result_90.00_percentile_latency_ns';
const P999 = 'result_99.90_percentile_latency_ns';

/**
 * Server: the arrivals decide the rate, so a cache cannot raise it and the official comparison cannot see one. What
 * a cache changes is the latency. Not met where the test's median is less than 1/1.2 of the submission run's, and nine
 * of ten of its queries were faster than half of the submission run's: chance does not do this among hundreds of
 * queries, and a distribution that merely shifted a little does not either.
 * @returns undefined for other scenarios.
 */
export function serverLatencyCheck(
  reference: ComplianceRun,
  tested: ComplianceRun,
): TestCheck | undefined {
  if (reference.scenario !== 'Server') return undefined;
  const base = { name: 'latencies', isOfficial: false } as const;
  const [p50, p90] = [numberOf(reference, P50), numberOf(reference, P90)];
  const [test50, test90] = [numberOf(tested, P50), numberOf(tested, P90)];
  if (p50 === undefined || p90 === undefined || test50 === undefined || test90 === undefined) {
    const text = 'a log lacks the percentiles of its latencies';
    const advice = `The detail logs of both runs need "${P50}" and "${P90}": was a run broken off?`;
    return { ...base, isMet: false, text, advice };
  }
  const text =
    `latencies with the same sample: median ${ms(test50)}, 90 % below ${ms(test90)}; ` +
    `with samples as they come: median ${ms(p50)}, 90 % below ${ms(p90)} (median ${signedPercent(test50 / p50 - 1)})`;
  const lowered = loweredShare(reference, tested);
  if (lowered > SAME_RATE_SHARE) {
    const note = `not judged, since the test's target rate is ${(100 * lowered).toFixed(1)} % lower, which shortens queues`;
    return { ...base, isMet: true, text: `${text}; ${note}` };
  }
  const isMet = test50 * LATENCY_FACTOR >= p50 || test90 >= p50;
  return { ...base, isMet, text, ...(isMet ? {} : { advice: ADVICE }) };
}

const ADVICE =
  'Queries for the same sample are answered much sooner than others. In Server the official comparison looks at the rate, which the arrivals decide, and cannot see this. Look for caches in the SUT, its runtime and proxies. Where the sizes of samples vary (JPEG files), sample 3 may be a small one: try another encoding; where other work disturbed all of the submission run, make both again.';

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
 * Server, logs of another LoadGen, which do not tell first queries apart: a cache fills up in the submission run, where
 * the first query for each sample is slow, and leaves a tail that the test has not. Other work on the machines during a
 * moment of the submission run leaves one as well, so this is a note and no verdict.
 * @returns undefined where there is nothing to say.
 */
export function tailNote(reference: ComplianceRun, tested: ComplianceRun): string | undefined {
  if (reference.scenario !== 'Server' || hasFirstQueries(reference)) return undefined;
  if (loweredShare(reference, tested) > SAME_RATE_SHARE) return undefined;
  const test999 = numberOf(tested, P999);
  const tail = tailOf(reference);
  if (tail === undefined || test999 === undefined || test999 >= tail.ns * TAIL_PART) {
    return undefined;
  }
  const { share, ns, firstShare } = tail;
  return (
    `the slowest ${100 * share} % of the submission run took ${ms(ns)} or more, while 99.9 % of the queries for the same sample ` +
    `were below ${ms(test999)}: a cache that fills up in the submission run looks so (it would leave ${(100 * firstShare).toFixed(1)} % slow), ` +
    'and so does other work on the machines during a part of that run. Make the submission run again: a cache leaves the tail each time'
  );
}

/** The largest tail in which all queries would be slow, with a quarter to spare: a bound is not one of the slow. */
function tailOf(
  reference: ComplianceRun,
): { readonly share: number; readonly ns: number; readonly firstShare: number } | undefined {
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

function ms(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}
