import { type ComplianceRun, numberOf } from './read-compliance-run.ts';
import type { TestCheck } from './test-verdict.ts';

/**
 * Standard deviations by which "the repeated query was faster" must exceed "the first one was" in a sign test: chance
 * does this once in three million runs.
 */
const DEVIATIONS = 5;

/** Share of the neighbours in which the repeated query has to be faster: less is no cache worth the name. */
const SHARE_MIN = 0.25;

/** What the detail log tells of neighbouring queries; see `FirstQueries`. */
interface Counts {
  readonly pairs: number;
  readonly repeatFaster: number;
  readonly firstFaster: number;
}

/**
 * Server and SingleStream: does the submission run itself show a cache that fills up? Once it is filled, neither the
 * run's rate nor its latencies tell it from an honest system, and the official comparison passes it. But of a first
 * query for a sample and a repeated one next to it, the repeated one is the quick one then, again and again; without a
 * cache it is as often the other way round, however noisy the machines are.
 * @returns undefined where the log does not tell: other scenarios, another LoadGen.
 */
export function firstQueryCheck(reference: ComplianceRun): TestCheck | undefined {
  const counts = countsOf(reference);
  if (counts === undefined) return undefined;
  const { pairs, repeatFaster, firstFaster } = counts;
  const excess = repeatFaster - firstFaster;
  const isCached =
    excess >= DEVIATIONS * Math.sqrt(repeatFaster + firstFaster) &&
    excess > 0 &&
    repeatFaster >= SHARE_MIN * pairs;
  const advice =
    "The submission run answered queries for samples that it had seen before in less than half of the time: something keeps results or intermediate data, which the rules forbid. The official comparison cannot see it once it is filled. Look for caches in the SUT, its runtime and proxies; LoadGen's own part of the latency is the same for both.";
  return {
    name: 'first queries',
    isMet: !isCached,
    isOfficial: false,
    text:
      `of ${pairs} neighbouring queries of the submission run, one the first for its sample and one not, the repeated one took ` +
      `less than half as long in ${repeatFaster}, the first one in ${firstFaster}; a cache makes the repeated one faster, chance either`,
    ...(isCached ? { advice } : {}),
  };
}

/** True where the log tells first queries apart. */
export function hasFirstQueries(run: ComplianceRun): boolean {
  return countsOf(run) !== undefined;
}

function countsOf(run: ComplianceRun): Counts | undefined {
  const pairs = numberOf(run, 'longhaul_first_query_pairs');
  const repeatFaster = numberOf(run, 'longhaul_first_query_repeat_faster');
  const firstFaster = numberOf(run, 'longhaul_first_query_first_faster');
  if (pairs === undefined || repeatFaster === undefined || firstFaster === undefined) {
    return undefined;
  }
  return { pairs, repeatFaster, firstFaster };
}
