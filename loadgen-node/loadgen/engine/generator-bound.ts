import { formatExactNs, formatNs } from '../../../shared/base/text.ts';
import { causesOfLateness, starvation } from '../health/generator-health.ts';
import { transportWaitsNs } from '../recorder/recording.ts';
import { latencyStatistics, percentileOf } from '../results/latency-statistics.ts';
import type { Measurements } from '../results/measurements.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import { summarize } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { joinTimes } from './measurements.ts';
import type { IssuedSet } from './test-context.ts';
import { type DispatchFindings, SUT_TOO_SLOW } from './test-outcome.ts';

/** Default share of the latency bound that p99 of the dispatch lag may take. */
const LAG_SHARE_MAX_DEFAULT = 0.1;

/** A set with its results, to be judged. */
export interface JudgedSet {
  readonly issued: IssuedSet;
  readonly measured: Measurements;
  readonly settings: EffectiveSettings;
  readonly summary: PerformanceSummary;
  /** Default: 0.1. */
  readonly lagShareMax: number | undefined;
}

/**
 * Judges LoadGen's own lateness. Latency counts from the schedule, so that a late LoadGen can only
 * make the SUT look worse; this says when it did, and what kept LoadGen from its work.
 */
export function judgeDispatch(judged: JudgedSet): DispatchFindings {
  const { recorder, health } = judged.issued;
  const lagsNs = recorder.dispatchLagsNs().sort();
  const reason = reasonOf(judged, lagsNs);
  const causes = health === null ? [] : causesOfLateness(health);
  return {
    ...dispatchTimes([judged.issued]),
    isGeneratorBound: reason !== '',
    generatorBoundReason: reason === '' ? '' : [reason, ...causes].join('; '),
    health,
  };
}

/** Lateness of LoadGen and waits of the transport, over all parts of a run. */
export function dispatchTimes(
  parts: readonly IssuedSet[],
): Pick<DispatchFindings, 'dispatchLag' | 'transportWait'> {
  const allOf = (of: (part: IssuedSet) => Float64Array): Float64Array =>
    parts.map(of).reduce(joinTimes).sort();
  const waitsNs = allOf(({ recorder }) => transportWaitsNs(recorder.columns()));
  return {
    dispatchLag: latencyStatistics(allOf(({ recorder }) => recorder.dispatchLagsNs())),
    transportWait: waitsNs.length === 0 ? null : latencyStatistics(waitsNs),
  };
}

/** Empty where LoadGen was not the limit; also where no sample completed, since there is no result then that it could limit. */
function reasonOf(judged: JudgedSet, sortedLagsNs: Float64Array): string {
  if (judged.summary.completedSampleCount === 0) return '';
  const lagShareMax = judged.lagShareMax ?? LAG_SHARE_MAX_DEFAULT;
  return (
    verdictFlip(judged) ??
    largeLag(sortedLagsNs, judged, lagShareMax) ??
    starved(judged, lagShareMax) ??
    ''
  );
}

function verdictFlip(judged: JudgedSet): string | null {
  const { settings, summary } = judged;
  // Only Server keeps a schedule that LoadGen could miss, and has a bound.
  if (settings.scenario !== 'Server') return null;
  const fromIssue = summarizeFromIssue(judged);
  if (fromIssue.isValid === summary.isValid) return null;
  const what = summary.tokens === null ? 'latency' : 'TTFT';
  return (
    `the verdict would be the other one if ${what} were taken from the issue ` +
    `(${formatExactNs(targetNs(fromIssue))} instead of ${formatExactNs(targetNs(summary))} at the target percentile)`
  );
}

/** Latency of Server at the target percentile; of a token model its time to the first token. */
function targetNs({ tokens, target }: PerformanceSummary): number {
  return tokens?.targetFirstTokenNs ?? target.valueNs;
}

function summarizeFromIssue({ issued, measured, settings }: JudgedSet): PerformanceSummary {
  const { recorder } = issued;
  const sampleLatenciesNs = recorder.completedLatenciesFromIssueNs();
  const tokens = measured.tokens && recorder.tokensFromIssue();
  return summarize({ ...measured, sampleLatenciesNs, tokens }, settings, 0);
}

/** Words of the reason that its dispatch lag is too large. */
export const LARGE_LAG = 'queries went out late: p99 of the dispatch lag';

function largeLag(
  sortedLagsNs: Float64Array,
  judged: JudgedSet,
  lagShareMax: number,
): string | null {
  const bound = boundOf(judged.settings);
  if (bound === null) return null;
  const lagNs = percentileOf(sortedLagsNs, 0.99);
  const lagNsMax = bound.ns * lagShareMax;
  if (lagNs <= lagNsMax) return null;
  const percent = Number((lagShareMax * 100).toPrecision(3));
  return (
    `${LARGE_LAG} is ${formatNs(lagNs)}, more than ${formatNs(lagNsMax)} ` +
    `(${percent} % of the ${bound.name} of ${formatNs(bound.ns)})${alsoSlow(judged)}`
  );
}

/** A late LoadGen does not make a slow SUT fast: who reads the one has to know the other. */
function alsoSlow(judged: JudgedSet): string {
  const { settings, summary } = judged;
  if (settings.scenario !== 'Server') return '';
  const fromIssue = summarizeFromIssue(judged);
  const { validity } = fromIssue;
  if (validity.performance.isMet) return '';
  const told =
    summary.tokens === null
      ? `latency at the target percentile is ${formatNs(targetNs(fromIssue))}`
      : `TTFT and TPOT at the target percentile are ${validity.performance.seen}`;
  return `, and ${SUT_TOO_SLOW}: taken from the issue, ${told}`;
}

/** Bound that the queries of a schedule have to keep; null without a schedule. */
function boundOf({
  scenario,
  useTokenLatencies,
  serverTtftLatencyNs,
  targetLatencyNs,
  arrivalIntervalNs,
}: EffectiveSettings): { readonly name: string; readonly ns: number } | null {
  if (scenario === 'Server') {
    if (useTokenLatencies) return { name: 'TTFT bound', ns: serverTtftLatencyNs };
    return { name: 'latency bound', ns: targetLatencyNs };
  }
  // Round v0.5's MultiStream: a query is to be done before the next one is due.
  return arrivalIntervalNs > 0 ? { name: 'arrival interval', ns: arrivalIntervalNs } : null;
}

/** Without a schedule there is no lag: only the health of LoadGen's process is known. */
function starved({ issued, settings, summary }: JudgedSet, shareMax: number): string | null {
  const { health, plan } = issued;
  if (health === null || plan.scheduledDeltaNs.length > 0) return null;
  // Server without a schedule is a closed loop: several streams.
  const scenario = settings.scenario === 'Server' ? 'SingleStream' : settings.scenario;
  const { percentiles } = summary.queryLatency ?? summary.sampleLatency;
  const typicalNs = percentiles.find(({ percentile }) => percentile === 0.5)?.valueNs ?? 0;
  return starvation(health, scenario, typicalNs, shareMax);
}
