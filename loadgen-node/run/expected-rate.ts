import { formatNs, rounded } from '../../shared/base/text.ts';
import { planSizeProblems } from '../loadgen/settings/plan-size.ts';
import type { TestSettings } from '../loadgen/settings/test-settings.ts';
import type { RunReport } from './keep/run-report.ts';
import type { RunPlan } from './plan/run-plan.ts';

/** Factor from measured to expected rate: a SUT gets faster in a longer run. */
export const HEADROOM = 1.3;

/** Runs of one plan at most. */
const RUNS_MAX = 4;

/**
 * Settings that make LoadGen plan for this rate: the number of samples, or queries, that it needs.
 */
export function expecting(settings: TestSettings, qps: number): TestSettings {
  switch (settings.scenario) {
    case 'SingleStream':
      return { ...settings, singleStreamExpectedLatencyNs: 1e9 / qps };
    case 'MultiStream':
      return { ...settings, multiStreamExpectedLatencyNs: 1e9 / qps };
    default:
      return { ...settings, offlineExpectedQps: qps };
  }
}

/** True if the SUT finished everything that LoadGen had planned before the minimum duration. */
export function isTooShort({ outcome }: Pick<RunReport, 'outcome'>): boolean {
  return outcome.verdicts.loadgen.reasons.some(({ rule }) => rule === 'min-duration');
}

/** Queries (Offline: samples) per second of a run; 0 if none completed. */
export function seenRate({ outcome: { performance } }: Pick<RunReport, 'outcome'>): number {
  if (performance === null) return 0;
  const { summary, counts, durationNs } = performance;
  if (summary.scenario === 'Offline') return summary.rates.completed;
  return durationNs === 0 ? 0 : counts.completedQueries / (durationNs / 1e9);
}

/** The run that replaces one that was too short, and the message about it. */
export interface NextRun {
  readonly plan: RunPlan;
  /** Message for the user. */
  readonly text: string;
}

/**
 * Plans the run that replaces one that was too short because LoadGen expected a slower SUT: the
 * same run with the measured rate. LoadGen itself advises to change the expectation, and does not
 * plan while it measures.
 * @param takenNs Time of all runs so far.
 * @returns undefined if the run was long enough.
 */
export function nextRun(
  report: Pick<RunReport, 'plan' | 'outcome'>,
  number: number,
  takenNs: number,
): NextRun | undefined {
  const { plan, outcome } = report;
  const { scenario, minDurationMs, maxDurationMs } = plan.settings;
  const { performance, isInterrupted } = outcome;
  if (!plan.extendsUntilDecided || plan.auditConfig !== undefined) return undefined;
  if (performance === null || isInterrupted) return undefined;
  if (scenario === 'Server' || outcome.effectiveSettings.arrivalIntervalNs > 0) return undefined;
  const { endCause, counts } = performance;
  const hasRunOut = endCause === 'ran-out' || endCause === 'all-issued' || endCause === 'natural';
  if (!isTooShort(report) || !hasRunOut || counts.lostSamples > 0) return undefined;
  const qps = Number((seenRate(report) * HEADROOM).toPrecision(4));
  const settings = expecting(plan.settings, qps);
  const isLate = maxDurationMs > 0 && takenNs / 1e6 + 2 * minDurationMs > maxDurationMs;
  if (!(qps > 0) || isLate || number >= RUNS_MAX || planSizeProblems(settings).length > 0) {
    return undefined;
  }
  const what = scenario === 'Offline' ? 'samples' : 'queries';
  const few = scenario === 'Offline' ? counts.issuedSamples : counts.issuedQueries;
  const text =
    `made again with --target-qps ${qps}: LoadGen expected ${rounded(outcome.effectiveSettings.targetQps, 3)} ${what}/s and planned ${few}; ` +
    `the SUT did them in ${formatNs(performance.durationNs)}, and a run lasts ${formatNs(minDurationMs * 1e6)}`;
  return { plan: { ...plan, settings, planMark: `the run was ${text}` }, text };
}
