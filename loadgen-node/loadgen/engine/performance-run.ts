import assert from 'node:assert';
import type { SystemUnderTest } from '../../../shared/domain/system-under-test.ts';
import { formatFixed } from '../base/number-format.ts';
import { writeResults } from '../logs/write/result-lines.ts';
import { performanceSummaryText } from '../logs/write/summary-log.ts';
import type { TestLogs } from '../logs/write/test-logs.ts';
import { leastQueries, queriesToDecide } from '../results/early-stopping.ts';
import { compareFirstQueries, type FirstQueries } from '../results/first-queries.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import { summarize } from '../results/summarize.ts';
import { LoadableSets } from '../schedule/sample-order.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { dispatchTimes, judgeDispatch } from './generator-bound.ts';
import type { SetEnd } from './issue/issue-query-controller.ts';
import { isBrokenEnd } from './issue/issue-threads.ts';
import { joinMeasurements, measurementsOf } from './measurements.ts';
import { PhaseTotals, writeFailures } from './phase-counts.ts';
import { courseOf, courseOfParts } from './run-course.ts';
import { runSet } from './run-set.ts';
import type { SetInput } from './set-lookers.ts';
import type { IssuedSet, TestContext } from './test-context.ts';
import type { PerformanceOutcome, RunExtension, StoppingGoal } from './test-outcome.ts';

/**
 * Runs the first set under the clock (LoadGen: RunPerformanceMode).
 * @param askNameAgain LoadGen asks the SUT for its name after the run; untimed, before the results.
 * @returns Null if the test was interrupted, or the SUT broke, before the first query.
 */
export async function runPerformance(
  context: TestContext,
  sutName: string,
  askNameAgain: () => Promise<void>,
): Promise<PerformanceOutcome | null> {
  const { parts, effective, loadgen, logs } = context;
  logs.detail.message('Starting performance mode');
  const set = new LoadableSets('performance', effective, parts.qsl, loadgen).at(0);
  const input = {
    ...({ phase: 'performance', set, setIndex: 0, setCount: 1 } as const),
    ...(parts.extendsUntilDecided === true && { decision: firstDecision(effective) }),
  };
  const run = await measureSet(context, input, askNameAgain);
  if (run === null) return null;
  writePerformance(context, sutName, run.outcome);
  await parts.qsl.unloadSamplesFromRam(set.sampleIndices);
  return run.outcome;
}

/** Queries that early stopping needs if none is above the bound. */
function firstDecision({
  scenario,
  targetLatencyPercentile,
  hasEarlyStopping,
}: EffectiveSettings): StoppingGoal | undefined {
  const neededQueries = hasEarlyStopping ? queriesToDecide(scenario, targetLatencyPercentile) : 0;
  return neededQueries > 0 ? { neededQueries, earlierQueries: 0 } : undefined;
}

/** A measured run with the context it ran in. */
export interface MeasuredSet {
  readonly context: TestContext;
  readonly outcome: PerformanceOutcome;
}

/** Adds the work for other clients that the SUT, which has stopped by now, reports. */
export function withOtherWork(
  performance: PerformanceOutcome,
  sut: SystemUnderTest,
): PerformanceOutcome {
  const otherWork = (sut.parts?.() ?? []).flatMap(({ name, otherWork: work }) =>
    work === null ? [] : [{ name, ...work }],
  );
  return { ...performance, otherWork };
}

/** Issues one set under the clock and computes its results; the caller writes them and unloads. */
export async function measureSet(
  context: TestContext,
  input: SetInput,
  askNameAgain: () => Promise<void>,
): Promise<MeasuredSet | null> {
  const { parts, effective, logs, sink, nextIds } = context;
  const firstPart = nextIds.part;
  sink.beginPhase();
  const stamps = effective.printTimestamps ? new TimestampPrinter(logs) : null;
  const issued = await runSet(context, input);
  if (issued === null) return null;
  stamps?.printEnd(issued.end);
  const totals = new PhaseTotals();
  totals.add(issued, sink.failures);
  const findings =
    parts.extendsUntilDecided === true
      ? extendedFindings(await extendRun(context, input, issued, totals), context)
      : judgeSet(issued, context);
  writeFailures(logs.detail, sink.failures);
  if (!totals.isBroken) await askNameAgain();
  const contractErrors = sink.contractErrors.takeCount();
  const outcome = {
    ...totals.outcome(contractErrors, sink.failures),
    ...findings,
    parts: Array.from({ length: nextIds.part - firstPart }, (_, i) => firstPart + i),
    firstQueries: firstQueriesOf(issued, context),
    otherWork: [],
  };
  return { context, outcome };
}

/**
 * First queries of an extended run come from its first part only: later parts have seen all
 * samples.
 */
function firstQueriesOf(
  { plan, recorder }: IssuedSet,
  { effective: { scenario } }: TestContext,
): FirstQueries | null {
  if (scenario !== 'Server' && scenario !== 'SingleStream') return null;
  // Each query has one sample here, so query and sample numbers are the same.
  return compareFirstQueries(plan.sampleIndices, plan.queryCount, (query) =>
    recorder.queryLatencyNs(query),
  );
}

function judgeSet(issued: IssuedSet, { effective: settings, loadgen, parts }: TestContext) {
  const measured = measurementsOf(issued, settings);
  const summary = summarize(measured, settings, loadgen.percentileLabelDecimals);
  const lagShareMax = parts.generatorLagShareMax;
  const findings = judgeDispatch({ issued, measured, settings, summary, lagShareMax });
  const hasOneRate = parts.arrivals === undefined;
  const names = parts.sut.parts?.().map(({ name }) => name) ?? [];
  const course = courseOf(issued, settings, summary, { hasOneRate, names });
  return { summary, extension: null, course, ...findings };
}

/**
 * Findings of an extended run: each part is judged by itself, and the worst one stands for the run;
 * times are those of all parts.
 */
function extendedFindings(
  { parts, ...run }: Awaited<ReturnType<typeof extendRun>>,
  context: TestContext,
) {
  const judged = parts.map((issued) => judgeSet(issued, context));
  const worst = judged.find(({ isGeneratorBound }) => isGeneratorBound) ?? judged[0];
  assert(worst !== undefined);
  const course = courseOfParts(
    judged.map((one, i) => ({
      ...one.course,
      queries: one.summary.queryCount,
      beginNs: (parts[i] as IssuedSet).end.startNs - (parts[0] as IssuedSet).end.startNs,
    })),
  );
  return { ...worst, ...dispatchTimes(parts), ...run, course };
}

/** Writes summary and result lines of a run (LoadGen: PerformanceSummary). */
export function writePerformance(
  context: TestContext,
  sutName: string,
  outcome: PerformanceOutcome,
): void {
  const { logs, effective, loadgen } = context;
  const { summary, counts, endCause } = outcome;
  // Valid needs LoadGen's rules and an end at which the C++ LoadGen would have ended too.
  const isValid = summary.isValid && counts.lostSamples === 0 && !isBrokenEnd(endCause);
  logs.appendSummary(
    performanceSummaryText({ sutName, settings: effective, summary, isValid, loadgen }),
  );
  writeResults(logs.detail, summary, isValid);
  if (loadgen.logsErrorCount) logs.detail.integer('num_errors', logs.detail.errorCount);
}

/**
 * Prints the wall-clock start and end of a performance run, to match it with other logs (LoadGen:
 * print_timestamps). Outside the timed region.
 */
class TimestampPrinter {
  readonly #logs: TestLogs;
  readonly #beginMs: number;

  /** Prints the start. */
  constructor(logs: TestLogs) {
    this.#logs = logs;
    this.#beginMs = Date.now();
    logs.print(
      `Loadgen :: Perf mode start. system_clock Timestamp = ${secondsOf(this.#beginMs)}\n`,
    );
  }

  /** Prints the end, and the duration by the test's clock and by the wall clock. */
  printEnd({ startNs, endNs }: SetEnd): void {
    const endMs = Date.now();
    const clockMs = Math.trunc((endNs - startNs) / 1e6);
    const wallMs = endMs - this.#beginMs;
    this.#logs.print(
      `Loadgen :: Perf mode stop. system_clock Timestamp = ${secondsOf(endMs)}\n` +
        `Loadgen :: PerfClock Perf duration = ${clockMs}ms\n` +
        `Loadgen :: system_clock Perf duration = ${wallMs}ms\n` +
        `Loadgen :: PerfClock/system_clock ratio : ${formatFixed(clockMs / wallMs, 4)}\n`,
    );
  }
}

function secondsOf(epochMs: number): number {
  return Math.trunc(epochMs / 1000);
}

/** Most extensions of one run: each is smaller than the last unless the SUT gets worse. */
const EXTENSIONS_MAX = 64;
/** Most queries of one extension; more would be a run of its own. */
const EXTENSION_QUERIES_MAX = 2 ** 22;

/** Smallest factor by which a run too short for its percentile is extended. */
const SHORT_RUN_FACTOR = 2;

/**
 * Extends a run by n - q queries until early stopping decides (Rule: inference_rules v4.1, appendix
 * on early stopping, steps 2 to 4). LoadGen does not do this: the extensions are longhaul's own,
 * with their own seeds. Ends without a decision if more queries cannot help: the latency bound is
 * missed, the SUT broke, or the limits above or LoadGen's max_duration are reached.
 * @returns `parts`: all parts, including the first run.
 */
async function extendRun(
  context: TestContext,
  input: SetInput,
  first: IssuedSet,
  totals: PhaseTotals,
) {
  const { effective, loadgen, logs, sink } = context;
  const parts = [first];
  let measured = measurementsOf(first, effective);
  let summary = summarize(measured, effective, loadgen.percentileLabelDecimals);
  let queries = 0;
  const leftMs = (): number => timeLeftMs(context, first);
  while (needsMore(summary, totals) && parts.length <= EXTENSIONS_MAX && leftMs() > 0) {
    const { missingQueries } = summary.validity.earlyStopping;
    if (missingQueries > EXTENSION_QUERIES_MAX) break;
    if (scheduleMs(effective, missingQueries) > leftMs()) {
      logs.detail.message('The run is not extended: max_duration would end it without a decision.');
      break;
    }
    logs.detail.message(
      `Extending the run by ${missingQueries} queries until early stopping decides. LoadGen would end.`,
    );
    const settings = settingsOf(effective, missingQueries, parts.length);
    const maxDurationMs = effective.maxDurationMs && leftMs();
    const extended = { ...context, effective: { ...settings, maxDurationMs } };
    const { queryCount: earlierQueries } = summary;
    const decision = { neededQueries: earlierQueries + missingQueries, earlierQueries };
    const issued = await runSet(extended, { ...input, isLoaded: true, decision });
    if (issued === null) break;
    parts.push(issued);
    totals.add(issued, sink.failures);
    queries += issued.recorder.issuedQueries;
    measured = joinMeasurements(measured, measurementsOf(issued, effective));
    summary = summarize(measured, effective, loadgen.percentileLabelDecimals);
  }
  const isDecided = summary.validity.earlyStopping.isMet;
  logs.detail.integer('longhaul_extensions', parts.length - 1);
  logs.detail.integer('longhaul_extension_queries', queries);
  const extension: RunExtension = { count: parts.length - 1, queries, isDecided };
  return { summary, parts, extension };
}

/** Minimum time that queries take: only Server has a schedule. */
function scheduleMs({ scenario, targetQps }: EffectiveSettings, queries: number): number {
  return scenario === 'Server' ? (queries / targetQps) * 1e3 : 0;
}

/** Time left under LoadGen's max_duration, in whole ms; infinite without that limit. */
function timeLeftMs({ parts, effective }: TestContext, { end }: IssuedSet): number {
  if (effective.maxDurationMs === 0) return Number.POSITIVE_INFINITY;
  const takenMs = (parts.clock.nowNs() - end.startNs) / 1e6;
  return Math.max(0, Math.floor(effective.maxDurationMs - takenMs));
}

function needsMore(
  { validity, queryCount, target }: PerformanceSummary,
  totals: PhaseTotals,
): boolean {
  const { earlyStopping, performance } = validity;
  if (totals.isBroken || earlyStopping.isMet || earlyStopping.missingQueries === 0) return false;
  if (performance.isMet) return true;
  // In so short a run one sample misses the percentile; if many are late, more queries do not help.
  const least = leastQueries(target.percentile);
  return queryCount < least && earlyStopping.missingQueries < SHORT_RUN_FACTOR * least;
}

/**
 * Settings of an extension: the missing number of queries, with new seeds for order and schedule.
 */
function settingsOf(
  effective: EffectiveSettings,
  missingQueries: number,
  part: number,
): EffectiveSettings {
  return {
    ...effective,
    minQueryCount: missingQueries,
    targetDurationMs: 0,
    sampleConcatenatePermutation: false,
    sampleIndexRngSeed: effective.sampleIndexRngSeed + BigInt(part),
    scheduleRngSeed: effective.scheduleRngSeed + BigInt(part),
  };
}
