import { leastQueries } from '../results/early-stopping.ts';
import type { PerformanceSummary } from '../results/performance-summary.ts';
import { type Measurements, summarize } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { IssuedSet } from './issue/issued-set.ts';
import { joinMeasurements, measurementsOf } from './measurements.ts';
import type { PhaseTotals } from './phase-counts.ts';
import { runSet } from './run-set.ts';
import type { SetInput } from './set-lookers.ts';
import type { TestContext } from './test-context.ts';
import type { RunExtension } from './test-outcome.ts';

/** Extensions of one run: each asks for less than the one before unless the SUT gets worse. */
const EXTENSIONS_MAX = 64;
/** Queries of one extension; more would be a run of its own. */
const EXTENSION_QUERIES_MAX = 2 ** 22;

/** Least counts that a run too short for its percentile may be extended by. */
const SHORT_RUN_FACTOR = 10;

/** A run with all its extensions. */
export interface ExtendedRun {
  readonly measured: Measurements;
  readonly summary: PerformanceSummary;
  readonly extension: RunExtension;
  /** All parts, the first run included. */
  readonly parts: readonly IssuedSet[];
}

/**
 * Goes on with n - q more queries until early stopping decides (Rule: inference_rules v4.1, appendix on
 * early stopping, steps 2 to 4). LoadGen does not do this: the traces of the extensions are longhaul's
 * own, from seeds of their own. Ends without a decision where more queries cannot help: the latency
 * bound is missed, the SUT broke, or the bounds above are reached.
 */
export async function extendRun(
  context: TestContext,
  input: SetInput,
  first: IssuedSet,
  totals: PhaseTotals,
): Promise<ExtendedRun> {
  const { effective, loadgen, logs, sink } = context;
  const parts = [first];
  let measured = measurementsOf(first.recorder, effective);
  let summary = summarize(measured, effective, loadgen.percentileLabelDecimals);
  let queries = 0;
  while (needsMore(summary, totals) && parts.length <= EXTENSIONS_MAX) {
    const { missingQueries } = summary.validity.earlyStopping;
    if (missingQueries > EXTENSION_QUERIES_MAX) break;
    logs.detail.message(
      `Extending the run by ${missingQueries} queries until early stopping decides. LoadGen would end.`,
    );
    const extended = { ...context, effective: settingsOf(effective, missingQueries, parts.length) };
    const issued = await runSet(extended, { ...input, isLoaded: true });
    if (issued === null) break;
    parts.push(issued);
    totals.add(issued, sink.failures);
    queries += issued.recorder.issuedQueries;
    measured = joinMeasurements(measured, measurementsOf(issued.recorder, effective));
    summary = summarize(measured, effective, loadgen.percentileLabelDecimals);
  }
  const isDecided = summary.validity.earlyStopping.isMet;
  logs.detail.integer('longhaul_extensions', parts.length - 1);
  logs.detail.integer('longhaul_extension_queries', queries);
  return { measured, summary, parts, extension: { count: parts.length - 1, queries, isDecided } };
}

function needsMore(
  { validity, queryCount, target }: PerformanceSummary,
  totals: PhaseTotals,
): boolean {
  const { earlyStopping, performance } = validity;
  if (totals.isBroken || earlyStopping.isMet || earlyStopping.missingQueries === 0) return false;
  if (performance.isMet) return true;
  // In so short a run a single sample misses the percentile; where many do, more will not help.
  const least = leastQueries(target.percentile);
  return queryCount < least && earlyStopping.missingQueries < SHORT_RUN_FACTOR * least;
}

/** As many queries as are missing, in another order and on another schedule than any part before. */
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
