import { formatNs } from '../../shared/config/duration.ts';
import type { SampleRecorder } from '../recorder/sample-recorder.ts';
import { transportWaitsNs } from '../recorder/transport-waits.ts';
import { latencyStatistics, percentileOf } from '../results/latency-statistics.ts';
import type { LatencyStatistics, PerformanceSummary } from '../results/performance-summary.ts';
import { type Measurements, summarize } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';

/** Share of the latency bound that p99 of the dispatch lag may take where nothing else is said. */
const LAG_SHARE_MAX_DEFAULT = 0.1;

/** How late LoadGen itself was, and whether that decided the result. */
export interface DispatchFindings {
  readonly dispatchLag: LatencyStatistics;
  /** Taken by the SUT's transport - issued, by query; null for a SUT without a transport. */
  readonly transportWait: LatencyStatistics | null;
  readonly isGeneratorBound: boolean;
  readonly generatorBoundReason: string;
}

/**
 * Judges LoadGen's own lateness. Latency counts from the schedule, so that a late LoadGen can only
 * make the SUT look worse; this says when it did.
 */
export function judgeDispatch(
  recorder: SampleRecorder,
  measured: Measurements,
  settings: EffectiveSettings,
  summary: PerformanceSummary,
  lagShareMax: number = LAG_SHARE_MAX_DEFAULT,
): DispatchFindings {
  const lagsNs = recorder.dispatchLagsNs().sort();
  const waitsNs = transportWaitsNs(recorder.columns()).sort();
  const reason =
    verdictFlip(recorder, { measured, settings, summary }) ??
    largeLag(lagsNs, settings, lagShareMax) ??
    '';
  return {
    dispatchLag: latencyStatistics(lagsNs),
    transportWait: waitsNs.length === 0 ? null : latencyStatistics(waitsNs),
    isGeneratorBound: reason !== '',
    generatorBoundReason: reason,
  };
}

function verdictFlip(
  recorder: SampleRecorder,
  {
    measured,
    settings,
    summary,
  }: {
    measured: Measurements;
    settings: EffectiveSettings;
    summary: PerformanceSummary;
  },
): string | null {
  // Only Server keeps a schedule that LoadGen could miss.
  if (settings.scenario !== 'Server') return null;
  const sampleLatenciesNs = recorder.completedLatenciesFromIssueNs();
  const fromIssue = summarize({ ...measured, sampleLatenciesNs }, settings, 0);
  if (fromIssue.isValid === summary.isValid) return null;
  return (
    'the verdict would be the other one if latency were taken from the issue ' +
    `(${fromIssue.target.valueNs} ns instead of ${summary.target.valueNs} ns at the target percentile)`
  );
}

function largeLag(
  sortedLagsNs: Float64Array,
  settings: EffectiveSettings,
  lagShareMax: number,
): string | null {
  if (settings.scenario !== 'Server') return null;
  const lagNs = percentileOf(sortedLagsNs, 0.99);
  const { useTokenLatencies, serverTtftLatencyNs, targetLatencyNs } = settings;
  const lagNsMax = (useTokenLatencies ? serverTtftLatencyNs : targetLatencyNs) * lagShareMax;
  if (lagNs <= lagNsMax) return null;
  const percent = Number((lagShareMax * 100).toPrecision(3));
  return (
    `queries went out late: p99 of the dispatch lag is ${formatNs(lagNs)}, more than ${percent} % of the ` +
    `latency bound (${formatNs(lagNsMax)})`
  );
}
