import { formatNs, rounded } from '../../../shared/base/text.ts';
import { disturbances } from '../health/generator-health.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import { isBrokenEnd } from './issue/issue-threads.ts';
import type { Cause, CauseKind, PerformanceOutcome, PhaseOutcome } from './test-outcome.ts';

interface CauseRow {
  readonly kind: CauseKind;
  /** Rules that are not met because of it: they are no reasons of their own. */
  readonly explains: readonly string[];
  /** Its words; null where it was not there. */
  readonly find: (performance: PerformanceOutcome, settings: EffectiveSettings) => string | null;
}

const OF_LATENCY = ['latency-bound', 'early-stopping'];
const OF_LENGTH = ['min-duration', 'min-queries', 'early-stopping'];

/**
 * Causes in the order in which they are looked for: a later one is claimed only where no earlier one explains what was seen. A SUT that broke
 * explains all; times that a late LoadGen made say nothing of the SUT; queries that waited in one standstill say nothing of the load;
 * a queue that grew all through the run is a load above what the SUT completes, while LoadGen kept its schedule, and other work on LoadGen's
 * machine explains neither of them, but a tail. What is left is a load too close to what the SUT does.
 */
const CAUSES: readonly CauseRow[] = [
  {
    kind: 'sut-broke',
    explains: ['lost-samples', 'generator-bound', 'not-kept-up', 'latency-bound', ...OF_LENGTH],
    find: (performance) => brokenText(performance),
  },
  {
    kind: 'loadgen',
    explains: ['not-kept-up', ...OF_LATENCY],
    find: ({ isGeneratorBound, isSutSlow }) =>
      isGeneratorBound && !isSutSlow ? 'LoadGen itself was too slow for this load' : null,
  },
  {
    kind: 'standstill',
    explains: ['early-stopping'],
    find: (performance, settings) =>
      isMissedByStandstill(performance, settings) ? standstillText(performance) : null,
  },
  {
    kind: 'queue',
    explains: OF_LATENCY,
    find: (performance) => notKeptUpText(performance),
  },
  {
    kind: 'disturbed',
    explains: ['early-stopping'],
    find: (performance) => {
      const isDisturbed =
        performance.health !== null && disturbances(performance.health).length > 0;
      return isBoundMissed(performance) && isDisturbed
        ? "the latency bound was missed while LoadGen's machine was disturbed"
        : null;
    },
  },
  {
    kind: 'load',
    explains: ['early-stopping'],
    find: (performance) => (isBoundMissed(performance) ? 'the latency bound was missed' : null),
  },
];

/** The first cause of a performance run; null where none is found. */
export function causeOf(
  performance: PerformanceOutcome | null,
  settings: EffectiveSettings,
): Cause | null {
  if (performance === null) return null;
  for (const { kind, find } of CAUSES) {
    const text = find(performance, settings);
    if (text !== null) return { kind, text };
  }
  return null;
}

/** Rules that are not met because of a cause. */
export function explainedBy(cause: Cause | null): readonly string[] {
  return CAUSES.find(({ kind }) => kind === cause?.kind)?.explains ?? [];
}

function brokenText({ endCause }: PhaseOutcome): string | null {
  if (endCause === 'stall') return 'the SUT stopped answering';
  if (endCause === 'all-failed') return 'every sample failed';
  return endCause === 'fault' ? 'the SUT broke' : null;
}

function isBoundMissed({ summary, endCause }: PerformanceOutcome): boolean {
  return !summary.validity.performance.isMet && !isBrokenEnd(endCause);
}

/** Without the samples that were late by the standstill, the bound would have been kept. */
function isMissedByStandstill(
  performance: PerformanceOutcome,
  { targetLatencyPercentile }: EffectiveSettings,
): boolean {
  const { summary, course } = performance;
  if (course.standstill === null || !isBoundMissed(performance)) return false;
  const { completedSampleCount, overlatencyCount, tokens } = summary;
  const within = tokens?.good?.samples ?? completedSampleCount - overlatencyCount;
  const others = completedSampleCount - within - course.standstill.lateSamples;
  return others <= (1 - targetLatencyPercentile) * completedSampleCount;
}

function standstillText({ course }: PerformanceOutcome): string | null {
  if (course.standstill === null) return null;
  const { fromNs, toNs, completedSamples } = course.standstill;
  const how = completedSamples === 0 ? 'answered nothing' : 'hardly answered';
  return `the SUT ${how} for ${formatNs(toNs - fromNs)}, from ${formatNs(fromNs)} on`;
}

/** Text of a queue that grew all through a run; null where it did not. */
function notKeptUpText({ course, summary }: PerformanceOutcome): string | null {
  if (course.keepingUp?.state !== 'grew') return null;
  const { completed, scheduled } = summary.rates;
  return `the SUT did not keep up: ${rounded(completed, 3)} of ${rounded(scheduled, 3)} queries/s completed`;
}
