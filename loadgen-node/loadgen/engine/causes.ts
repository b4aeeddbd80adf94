import { formatNs, grouped, rounded } from '../../../shared/base/text.ts';
import type { LaneResult } from '../results/bound-verdicts.ts';
import { minPassingQueries, queriesToDecide } from '../results/early-stopping.ts';
import { disturbances } from '../results/generator-health.ts';
import type { KeepingUp } from '../results/queue-growth.ts';
import type { Standstill } from '../results/standstill.ts';
import type { PerformanceSummary } from '../results/summarize.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { isBrokenEnd } from './issue/issue-threads.ts';
import type {
  Cause,
  CauseKind,
  PerformanceOutcome,
  PhaseCounts,
  PhaseOutcome,
  Silence,
} from './test-outcome.ts';

interface CauseRow {
  readonly kind: CauseKind;
  /**
   * Rules that fail as a consequence of this cause; they are not listed as reasons of their own.
   */
  readonly explains: readonly string[];
  /** Text of the cause; null if it does not apply. */
  readonly find: (performance: PerformanceOutcome) => string | null;
}

const OF_LATENCY = ['latency-bound', 'early-stopping'];

/**
 * Causes in the order of the search: a later one is reported only if no earlier one explains the
 * run. 1. A SUT that broke explains everything else. 2. Failed samples rule out other claims. 3. A
 * late LoadGen makes latencies meaningless for the SUT. 4. Queries that waited in a standstill show
 * nothing about the load. 5. Latencies of a SUT that served other clients do not show what it does
 * alone. 6. A queue that grew all through the run, while LoadGen kept its schedule, means a load
 * above the SUT's capacity: no standstill and no other work on LoadGen's machine causes that, but
 * other work explains a tail. The last cause is the load.
 */
const CAUSES: readonly CauseRow[] = [
  {
    kind: 'sut-broke',
    explains: [
      ...['lost-samples', 'generator-bound', 'not-kept-up', 'latency-bound'],
      ...['min-duration', 'min-queries', 'early-stopping'],
    ],
    find: brokenText,
  },
  { kind: 'errors', explains: [], find: ({ counts }) => errorsText(counts) },
  {
    kind: 'loadgen',
    explains: ['not-kept-up', ...OF_LATENCY],
    find: (performance) =>
      performance.isGeneratorBound && !performance.isSutSlow
        ? `LoadGen itself was ${latenessInWords(performance)}`
        : null,
  },
  {
    kind: 'standstill',
    explains: ['early-stopping'],
    find: (performance) => {
      const standstill = decidingStandstill(performance);
      return standstill && standstillText(standstill);
    },
  },
  { kind: 'shared', explains: ['early-stopping'], find: sharedText },
  { kind: 'queue', explains: OF_LATENCY, find: ({ course }) => notKeptUpText(course.keepingUp) },
  {
    kind: 'disturbed',
    explains: ['early-stopping'],
    find: (performance) => {
      const missed = missedText(performance);
      if (missed === null || performance.health === null) return null;
      const isDisturbed = disturbances(performance.health).length > 0;
      return isDisturbed ? `${missed} while LoadGen's machine was disturbed` : null;
    },
  },
  { kind: 'load', explains: ['early-stopping'], find: missedText },
];

/** The first cause that applies to a performance run; null if none does. */
export function causeOf(performance: PerformanceOutcome | null): Cause | null {
  if (performance === null || performance.endCause === 'interrupted') return null;
  for (const { kind, find } of CAUSES) {
    const text = find(performance);
    if (text !== null) return { kind, text };
  }
  return null;
}

/** Rules that a performance run fails because of its cause. */
export function explainedBy(
  cause: Cause | null,
  performance: PerformanceOutcome | null,
  { scenario, targetLatencyPercentile }: EffectiveSettings,
): readonly string[] {
  const { explains = [] } = CAUSES.find(({ kind }) => kind === cause?.kind) ?? {};
  // A run of so few queries would be too short without any late one, too.
  const queries = performance?.summary.queryCount ?? 0;
  const isShort = queries < queriesToDecide(scenario, targetLatencyPercentile);
  const isOnlyReason = cause?.kind === 'standstill' && performance?.summary.keepsBounds === true;
  return (isShort && cause?.kind !== 'sut-broke') || isOnlyReason
    ? explains.filter((rule) => rule !== 'early-stopping')
    : explains;
}

/** Mean number of queries waiting for LoadGen below which other load did not disturb it. */
const WAITING_FEW = 0.1;

/** Figures that tell a LoadGen that was late all the time from one late for moments. */
export type LatenessFacts = Pick<PerformanceOutcome, 'dispatchLag' | 'summary' | 'durationNs'>;

/**
 * True if LoadGen was late only briefly: by Little's law (rate times mean lag) almost no query
 * waited for it, so a lower load would not have helped.
 */
export function wasLateForMoments({
  dispatchLag: { maxNs, meanNs },
  summary: { queryCount },
  durationNs,
}: LatenessFacts): boolean {
  return maxNs > 0 && meanNs * queryCount < WAITING_FEW * durationNs;
}

/** Text after "LoadGen was" for a LoadGen that was the limit; no full stop. */
export function latenessInWords(performance: LatenessFacts): string {
  return wasLateForMoments(performance) ? 'late for moments' : 'too slow for this load';
}

function brokenText(outcome: PhaseOutcome): string | null {
  const { endCause, silence, counts } = outcome;
  if (silence !== null) {
    const when = counts.completedSamples === 0 ? '' : ` after ${formatNs(silence.fromNs)}`;
    return `the SUT ${silentWords(silence, counts)}${when}`;
  }
  if (endCause === 'all-failed') return 'every sample failed';
  return endCause === 'fault' ? 'the SUT broke' : null;
}

/** Text for a SUT that stopped completing samples. */
export function silentWords({ waitingSamples }: Silence, counts: PhaseCounts): string {
  if (counts.completedSamples > 0) return 'stopped answering';
  return counts.lostSamples > waitingSamples ? 'completed no sample' : 'never answered';
}

function errorsText({ lostSamples, issuedSamples, contractErrors }: PhaseCounts): string | null {
  if (lostSamples > 0)
    return `${grouped(lostSamples)} of ${grouped(issuedSamples)} samples were lost`;
  return contractErrors > 0 ? 'the SUT broke the contract with its responses' : null;
}

/** Text for missed bounds; null if all were kept, or if the SUT broke. */
function missedText({ summary, endCause }: PerformanceOutcome): string | null {
  if (summary.keepsBounds || isBrokenEnd(endCause)) return null;
  const missed = summary.lanes.length === 1 ? [] : missedLanes(summary);
  const whose = missed.length === 0 ? '' : ` of ${missed.map(({ name }) => name).join(' and ')}`;
  return `the latency bound${whose} was missed`;
}

/** Lanes that miss at least one bound. */
export function missedLanes({ lanes }: PerformanceSummary): LaneResult[] {
  return lanes.filter(({ bounds }) => bounds.some(({ isMet }) => !isMet));
}

/**
 * The standstill that decided the run: without its late samples every lane would have kept its
 * bounds, or the run would have had enough queries for early stopping. Null if there was none, or
 * if the queue grew all through the run.
 */
export function decidingStandstill(performance: PerformanceOutcome): Standstill | null {
  const { keepingUp, late, keptStandstill } = performance.course;
  if (keepingUp?.state === 'grew' || isBrokenEnd(performance.endCause)) return null;
  const { completedSampleCount: count, lanes, target, validity } = performance.summary;
  const { keepsBounds: isMet } = performance.summary;
  const standstill = isMet ? keptStandstill : (late?.standstill ?? null);
  if (standstill === null || (isMet && validity.earlyStopping.isMet)) return null;
  const othersOf = ({ name, lateSamples }: LaneResult): number =>
    Math.max(0, lateSamples - (standstill.lateOfLanes.get(name) ?? 0));
  const others = lanes.reduce((sum, lane) => sum + othersOf(lane), 0);
  const isEnough = isMet
    ? standstill.lateSamples > 0 && minPassingQueries(others, target.percentile) + others <= count
    : lanes.every((lane) => wouldKeepBounds(lane, othersOf(lane)));
  return isEnough ? standstill : null;
}

/** True if a lane would keep its bounds with only `lateSamples` samples late. */
function wouldKeepBounds({ bounds, completedSamples }: LaneResult, lateSamples: number): boolean {
  return bounds.every(
    ({ isMet, percentile }) =>
      // LoadGen compares the sample of this rank with the bound.
      isMet || lateSamples < completedSamples - Math.floor(completedSamples * percentile),
  );
}

/** A standstill with its start and length; no full stop. */
export function standstillText(standstill: Standstill): string {
  const { count, totalNs, longestNs, fromNs, completedSamples, part } = standstill;
  const how = completedSamples === 0 ? 'answered nothing' : 'hardly answered';
  const who = part ?? 'the SUT';
  return count === 1
    ? `${who} ${how} for ${formatNs(longestNs)}, from ${formatNs(fromNs)} on`
    : `${who} ${how} ${count} times, for ${formatNs(totalNs)} in all, the longest from ${formatNs(fromNs)} on`;
}

/** Samples for other clients, per sample of the run, from which they matter. */
export const OTHER_SHARE_MIN = 0.01;

/** Text about work of SUT parts for other clients; null if it was too little to matter. */
export function otherWorkText({
  otherWork,
  summary,
}: Pick<PerformanceOutcome, 'otherWork' | 'summary'>): string | null {
  const samples = otherWork.reduce((sum, one) => sum + one.samples, 0);
  if (samples === 0 || samples < OTHER_SHARE_MIN * summary.completedSampleCount) return null;
  return otherWork.map(({ name, text }) => `${name} ${text}`).join(', ');
}

/**
 * Other clients explain a growing queue only if they sent at least as many samples as it grew by.
 */
function sharedText(performance: PerformanceOutcome): string | null {
  const { course, otherWork, summary } = performance;
  const { state, share } = course.keepingUp ?? {};
  if (state !== 'grew') return missedText(performance) && otherWorkText(performance);
  const samples = otherWork.reduce((sum, one) => sum + one.samples, 0);
  return samples < (share ?? 0) * summary.completedSampleCount ? null : otherWorkText(performance);
}

/** Text about a SUT that did not keep up; null if it did, or if that is unknown. */
function notKeptUpText(kept: KeepingUp | null): string | null {
  if (kept?.state !== 'grew') return null;
  const { answeredPerSecond, scheduledPerSecond } = kept;
  return `the SUT did not keep up: ${rounded(answeredPerSecond, 3)} of ${rounded(scheduledPerSecond, 3)} queries/s completed`;
}
