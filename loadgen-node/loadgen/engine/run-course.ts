import type { RecordedColumns } from '../recorder/recording.ts';
import { keepingUp } from '../results/queue-growth.ts';
import { findStandstill } from '../results/standstill.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';
import type { IssuedSet } from './test-context.ts';
import type { RunCourse } from './test-outcome.ts';

/** How a set went over its time. @param hasOneRate Its queries come at LoadGen's own arrivals. */
export function courseOf(
  { recorder }: IssuedSet,
  settings: EffectiveSettings,
  hasOneRate: boolean,
): RunCourse {
  if (settings.scenario !== 'Server') return { keepingUp: null, standstill: null };
  const { targetLatencyNs, serverTtftLatencyNs: ttftNs, serverTpotLatencyNs: tpotNs } = settings;
  const columns = recorder.columns();
  const bounds = settings.useTokenLatencies ? { ttftNs, tpotNs } : targetLatencyNs;
  // All samples of a coalesced query are due at once.
  const isJudged = hasOneRate && columns.samplesPerQuery === 1;
  return {
    keepingUp: isJudged
      ? keepingUp(recorder.completedLatenciesFromIssueNs(), lastDueNs(columns))
      : null,
    standstill: findStandstill(columns, bounds),
  };
}

function lastDueNs({ queryEnd, scheduledNs }: RecordedColumns): number {
  return scheduledNs[queryEnd - 1] ?? 0;
}

/** The course of a run in several parts: a queue that grew in one of them grew; else the longest part tells most. */
export function courseOfParts(
  parts: readonly (RunCourse & { readonly queries: number })[],
): RunCourse {
  const byLength = [...parts].sort((a, b) => b.queries - a.queries);
  const grown = byLength.find(({ keepingUp: kept }) => kept?.state === 'grew') ?? byLength[0];
  const stood = byLength.map(({ standstill }) => standstill).filter((one) => one !== null);
  const [worst = null] = stood.sort((a, b) => b.lateSamples - a.lateSamples);
  return { keepingUp: grown?.keepingUp ?? null, standstill: worst };
}
