import { rounded } from '../../../shared/base/text.ts';
import { type OtherArrivals, ownEndOf } from '../../loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../loadgen/settings/test-settings.ts';
import { departuresOf } from './departures.ts';
import type { RunValues } from './run-settings.ts';

/**
 * Settings that fix the length of a run, directly or by LoadGen's files: it then ends as in
 * LoadGen.
 */
const LENGTHS: readonly (keyof RunValues)[] = [
  ...(['minDuration', 'maxDuration', 'minQueryCount', 'maxQueryCount'] as const),
  ...(['round', 'mlperfConf', 'userConf'] as const),
];

/** Default limit of a run that is extended until its verdict is decided. */
export const UNTIL_DECIDED_MS_MAX = 600_000;

/** A run that exceeds its minimum duration by less than this needs no note. */
const NOTABLE_MS = 5_000;

/** True for a run without a requested length: it is extended until its verdict is decided. */
export function goesOnByDefault(
  values: RunValues,
  said: ReadonlySet<string>,
  isAudited: boolean,
): boolean {
  const { extendUntilDecided, mode } = values;
  // A load test has nothing to decide: it lasts for its own length.
  if (extendUntilDecided === false || isAudited || departuresOf(values).length > 0) return false;
  return (mode === 'performance' || mode === 'submission') && !LENGTHS.some((key) => said.has(key));
}

/**
 * Text on the length of a Server run at a low rate, and on the number of runs; undefined if the
 * minimum duration or the arrivals decide it.
 * @param made `isUntilDecided`: the run has no requested length.
 */
export function lengthInWords(
  {
    scenario,
    mode,
    serverTargetQps: qps,
    minQueryCount,
    minDurationMs,
    maxDurationMs,
  }: TestSettings,
  made: {
    readonly isUntilDecided: boolean;
    readonly runCount: number;
    readonly arrivals: OtherArrivals | undefined;
  },
): string | undefined {
  const { isUntilDecided, runCount, arrivals } = made;
  const isByArrivals = arrivals?.kind === 'closed-loop' || (arrivals && ownEndOf(arrivals));
  const neededMs = (minQueryCount / qps) * 1e3;
  const isTimed = mode === 'PerformanceOnly' || mode === 'SubmissionRun';
  if (scenario !== 'Server' || !isTimed || isByArrivals || neededMs <= minDurationMs)
    return undefined;
  const rate = `at ${rounded(qps, 4)} queries/s`;
  const all =
    runCount === 1 ? '' : `; all ${runCount} runs take about ${inWords(runCount * neededMs)}`;
  if (!isUntilDecided) {
    if (
      neededMs < 1.5 * minDurationMs + NOTABLE_MS ||
      (maxDurationMs > 0 && neededMs > maxDurationMs)
    )
      return undefined;
    return `${rate} a run takes about ${inWords(neededMs)}, not ${inWords(minDurationMs)}: it has at least ${minQueryCount} queries (--min-query-count)${all}`;
  }
  const needed = `${rate} early stopping decides after about ${inWords(neededMs)}, when there are ${minQueryCount} queries`;
  return maxDurationMs > 0 && neededMs > maxDurationMs
    ? `${needed}; this run ends undecided after ${inWords(maxDurationMs)} (longer: --extend-until-decided --max-duration ${Math.ceil((1.2 * neededMs) / 6e4)}m)`
    : `${needed} (--min-duration: shorter, and perhaps undecided)${all}`;
}

function inWords(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1e3)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 6e4)} min` : `${Math.round(ms / 3.6e6)} hours`;
}
