import { configInvalid } from '../../../../shared/base/errors/mlperf-error.ts';
import { numberOf } from '../../../loadgen/logs/read/detail-log.ts';
import { Z_95 } from '../../../search/peak/over-share.ts';
import { test05SeedsOfRound } from '../../rules/submission-rounds.ts';
import { VERIFY_FILES } from '../../rules/test-files.ts';
import { comparePerformance, signedPercent } from './compare-performance.ts';
import {
  type ComplianceRun,
  check,
  ms,
  rateOf,
  sampleCountOf,
  seedsInWords,
  type TestCheck,
} from './read-compliance-run.ts';
import { loweredShare } from './same-system.ts';
import { readTestedRuns, type TestedFolders, type TestVerdict, verdictOn } from './verify-test.ts';

/**
 * TEST04: is the system faster if the same sample is requested repeatedly? The official comparison
 * uses rates. In Server, where arrivals decide the rate, longhaul also compares latencies; in
 * Server and SingleStream it also looks for a cache that filled up during the submission run.
 * @throws MlperfError as {@link readTestedRuns}
 */
export async function verifyTest04(test: TestedFolders): Promise<TestVerdict> {
  const runs = await readTestedRuns(test);
  const { reference, tested } = runs;
  const { check, text } = comparePerformance('TEST04', test.round, runs);
  const notes = [ratesInWords(reference, tested), tailNote(reference, tested)];
  return verdictOn('TEST04', test.round, tested, {
    checks: [check, ...serverLatencyChecks(reference, tested), ...firstQueryChecks(reference)],
    notes: notes.filter((note) => note !== undefined),
    texts: new Map([[VERIFY_FILES.performance, text]]),
  });
}

/**
 * TEST05: is the system as fast with other random seeds? For rounds up to v4.1.
 * @throws MlperfError as {@link readTestedRuns}
 */
export async function verifyTest05(test: TestedFolders): Promise<TestVerdict> {
  const { round } = test;
  const seeds = test05SeedsOfRound(round);
  if (seeds === undefined) throw configInvalid(`round ${round} has no seeds for TEST05`);
  const runs = await readTestedRuns(test);
  const { check, text } = comparePerformance('TEST05', round, runs);
  return verdictOn('TEST05', round, runs.tested, {
    checks: [check],
    notes: [`alternate seeds of round ${round}: ${seedsInWords(seeds)}`],
    texts: new Map([[VERIFY_FILES.performance, text]]),
  });
}

/*
 * Checks of TEST04 beyond the official comparison of rates: latencies in Server, first queries in
 * the submission run, and the random error of two rates.
 */

/** Difference of target rates from which latencies of two Server runs are not compared. */
const SAME_RATE_SHARE = 0.01;

/**
 * Factor by which latencies may be shorter: the official script's tolerance for SingleStream and
 * MultiStream, whose score is a latency.
 */
const LATENCY_FACTOR = 1.2;

const P50 = 'result_50.00_percentile_latency_ns';
const P90 = 'result_90.00_percentile_latency_ns';
const P999 = 'result_99.90_percentile_latency_ns';

/**
 * Server: arrivals decide the rate, so a cache cannot raise it and the official comparison cannot
 * detect one. A cache changes the latency. Not met if the test's median is below 1/1.2 of the
 * submission run's, and nine of ten of its queries were faster than half of the submission run's
 * median: with hundreds of queries that is not chance, nor a slightly shifted distribution.
 * @returns No check for other scenarios.
 */
function serverLatencyChecks(
  reference: ComplianceRun,
  tested: ComplianceRun,
): readonly TestCheck[] {
  if (reference.scenario !== 'Server') return [];
  const [p50, p90] = [numberOf(reference, P50), numberOf(reference, P90)];
  const [test50, test90] = [numberOf(tested, P50), numberOf(tested, P90)];
  if (p50 === undefined || p90 === undefined || test50 === undefined || test90 === undefined) {
    const advice = `The detail logs of both runs need "${P50}" and "${P90}": was a run broken off?`;
    return [check('latencies', false, 'a log lacks the percentiles of its latencies', { advice })];
  }
  const text =
    `latencies with the same sample: median ${ms(test50)}, 90 % below ${ms(test90)}; ` +
    `with samples as they come: median ${ms(p50)}, 90 % below ${ms(p90)} (median ${signedPercent(test50 / p50 - 1)})`;
  const lowered = loweredShare(reference, tested);
  if (lowered > SAME_RATE_SHARE) {
    const note = `not judged, since the test's target rate is ${(100 * lowered).toFixed(1)} % lower, which shortens queues`;
    return [check('latencies', true, `${text}; ${note}`)];
  }
  const isMet = test50 * LATENCY_FACTOR >= p50 || test90 >= p50;
  return [check('latencies', isMet, text, { advice: LATENCY_ADVICE })];
}

const LATENCY_ADVICE =
  'Queries for the same sample are answered much sooner than others. In Server the official comparison looks at the rate, which the arrivals decide, and cannot see this. Look for caches in the SUT, its runtime and proxies. Where the sizes of samples vary (JPEG files), sample 3 may be a small one: try another encoding; where other work disturbed all of the submission run, make both again.';

/**
 * Tails of the submission run's latencies: share of queries that took longer, and the record with
 * the limit.
 */
const TAILS = [
  [0.1, P90],
  [0.05, 'result_95.00_percentile_latency_ns'],
  [0.03, 'result_97.00_percentile_latency_ns'],
  [0.01, 'result_99.00_percentile_latency_ns'],
] as const;

/**
 * If all but a thousandth of the test's queries are below this part of a tail's limit, the
 * test lacks the tail.
 */
const TAIL_PART = 0.5;

/**
 * Note for Server logs of another LoadGen, which do not mark first queries. A cache that fills up
 * makes first queries slow: a tail only in the submission run. Other load for a moment does too, so
 * this is only a note.
 * @returns undefined if there is nothing to note.
 */
function tailNote(reference: ComplianceRun, tested: ComplianceRun): string | undefined {
  const firstShare = firstQueryShare(reference);
  const test999 = numberOf(tested, P999);
  if (reference.scenario !== 'Server' || firstQueries(reference) !== undefined) return undefined;
  if (firstShare === undefined || test999 === undefined) return undefined;
  // The largest tail in which all queries would be slow, with a margin of a quarter: its limit must
  // not be a slow query itself.
  const [share, key] = TAILS.find(([part]) => part <= 0.75 * firstShare) ?? [];
  const ns = key === undefined ? undefined : numberOf(reference, key);
  if (share === undefined || ns === undefined || test999 >= ns * TAIL_PART) return undefined;
  if (loweredShare(reference, tested) > SAME_RATE_SHARE) return undefined;
  return (
    `the slowest ${100 * share} % of the submission run took ${ms(ns)} or more, while 99.9 % of the queries for the same sample ` +
    `were below ${ms(test999)}: a cache that fills up in the submission run looks so (it would leave ${(100 * firstShare).toFixed(1)} % slow), ` +
    'and so does other work on the machines during a part of that run. Make the submission run again: a cache leaves the tail each time'
  );
}

/**
 * Expected share of first queries per sample, if n queries draw from k samples with replacement: k
 * (1 - e^(-n/k)) / n.
 */
function firstQueryShare(reference: ComplianceRun): number | undefined {
  const queries = sampleCountOf(reference);
  const samples = numberOf(reference, 'effective_performance_sample_count');
  if (queries === undefined || samples === undefined || queries <= 0) return undefined;
  return (samples / queries) * (1 - Math.exp(-queries / samples));
}

/**
 * Standard deviations of a sign test by which repeated queries must be faster more often than first
 * ones: by chance once in three million runs.
 */
const DEVIATIONS = 5;

/** Smallest share of pairs in which the repeated query must be faster: less does not matter. */
const SHARE_MIN = 0.25;

/**
 * Server and SingleStream: does the submission run itself show a cache that fills up? Once filled,
 * rate and latencies look like those of an honest system, and the official comparison passes. But
 * of a first query for a sample and a neighbouring repeated one, the repeated one is then faster
 * again and again; without a cache both are faster equally often, however noisy the machines are.
 * @returns No check if the log has no counts: other scenarios, another LoadGen.
 */
function firstQueryChecks(reference: ComplianceRun): readonly TestCheck[] {
  const counts = firstQueries(reference);
  if (counts === undefined) return [];
  const { pairs, repeatFaster, firstFaster } = counts;
  const excess = repeatFaster - firstFaster;
  const isCached =
    excess >= DEVIATIONS * Math.sqrt(repeatFaster + firstFaster) &&
    excess > 0 &&
    repeatFaster >= SHARE_MIN * pairs;
  const text =
    `of ${pairs} neighbouring queries of the submission run, one the first for its sample and one not, the repeated one took ` +
    `less than half as long in ${repeatFaster}, the first one in ${firstFaster}; a cache makes the repeated one faster, chance either`;
  const advice =
    "The submission run answered queries for samples that it had seen before in less than half of the time: something keeps results or intermediate data, which the rules forbid. The official comparison cannot see it once it is filled. Look for caches in the SUT, its runtime and proxies; LoadGen's own part of the latency is the same for both.";
  return [check('first queries', !isCached, text, { advice })];
}

/**
 * Counts of neighbouring queries in the detail log; see `FirstQueries`. Undefined if the log lacks
 * them.
 */
function firstQueries(run: ComplianceRun) {
  const pairs = numberOf(run, 'longhaul_first_query_pairs');
  const repeatFaster = numberOf(run, 'longhaul_first_query_repeat_faster');
  const firstFaster = numberOf(run, 'longhaul_first_query_first_faster');
  if (pairs === undefined || repeatFaster === undefined || firstFaster === undefined) {
    return undefined;
  }
  return { pairs, repeatFaster, firstFaster };
}

/**
 * Ratio of two rates (test run / submission run) with its 95 % random interval, assuming
 * independent completions: n samples vary by √n, so the logarithm of the ratio by √(1/n₁ + 1/n₂).
 * It covers counting error only; drift of the machines comes on top.
 * @returns undefined if a count or a rate is missing or 0.
 */
export function rateStatistic(reference: CountedRate, tested: CountedRate) {
  if (reference.rate <= 0 || reference.samples <= 0 || tested.samples <= 0) return undefined;
  const ratio = tested.rate / reference.rate;
  const spread = Math.exp(Z_95 * Math.sqrt(1 / reference.samples + 1 / tested.samples));
  return { ratio, low: ratio / spread, high: ratio * spread };
}

/**
 * Text on the rates with one sample and with normal samples, with their statistic; undefined in
 * scenarios scored by latency.
 */
function ratesInWords(reference: ComplianceRun, tested: ComplianceRun): string | undefined {
  const [a, b] = [countedRate(reference), countedRate(tested)];
  const statistic = a && b && rateStatistic(a, b);
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
    `(95 % interval by Poisson counting of ${b.samples} and ${a.samples} samples: ${low.toFixed(4)} to ${high.toFixed(4)}: ${meaning}; drift of the machines is not in it)${reference.scenario === 'Server' ? SERVER_NOTE : ''}`
  );
}

const SERVER_NOTE = '; in Server the arrivals decide both rates, so that latencies say more';

/** Samples per second, and the number of samples behind it; undefined if the log lacks one. */
function countedRate(run: ComplianceRun) {
  const rate = rateOf(run);
  const samples = sampleCountOf(run);
  return rate === undefined || samples === undefined ? undefined : { rate, samples };
}

type CountedRate = NonNullable<ReturnType<typeof countedRate>>;
