import type { SampleRecorder } from '../../recorder/sample-recorder.ts';
import type { ScenarioRules } from '../../schedule/scenario-rules.ts';
import type { EffectiveSettings } from '../../settings/effective-settings.ts';
import type { EndCause, IssueThreads } from './issue-threads.ts';

/** Limits of a performance run that end the issuing. An accuracy run has none. */
export interface StopLimits {
  readonly minQueryCount: number;
  readonly targetDurationNs: number;
  /** 0 = no limit, in this and the next two. */
  readonly maxQueryCount: number;
  readonly maxDurationNs: number;
  /** Server only. */
  readonly maxAsyncQueries: number;
}

/** Limits of a performance run by its settings. */
export function stopLimits(settings: EffectiveSettings): StopLimits {
  return {
    minQueryCount: settings.minQueryCount,
    targetDurationNs: settings.targetDurationMs * 1e6,
    maxQueryCount: settings.maxQueryCount,
    maxDurationNs: settings.maxDurationMs * 1e6,
    maxAsyncQueries: settings.scenario === 'Server' ? settings.maxAsyncQueries : 0,
  };
}

/** The query that was just issued. The issue loop fills one such object again and again. */
export interface IssueMoment {
  readonly threads: IssueThreads;
  readonly thread: number;
  /** Its issue, in ns since the start. */
  readonly elapsedNs: number;
}

/**
 * Whether the query just issued was the last one of its thread (LoadGen: IssueQueriesInternal). Asked after each
 * query, in LoadGen's order; the elapsed time is that of the issue, not now. Hot path.
 */
export function stopAfterIssue(
  limits: StopLimits,
  rules: ScenarioRules,
  recorder: SampleRecorder,
  { threads, thread, elapsedNs }: IssueMoment,
): EndCause | null {
  // Server queries have one sample, so that outstanding samples are outstanding queries.
  if (limits.maxAsyncQueries !== 0 && recorder.outstandingSamples > limits.maxAsyncQueries) {
    return 'max-async';
  }
  const issuedQueries = recorder.issuedQueries;
  if (
    rules.endsNaturally &&
    issuedQueries >= limits.minQueryCount &&
    elapsedNs >= limits.targetDurationNs
  ) {
    return 'natural';
  }
  if (limits.maxQueryCount !== 0) {
    const most = shareOfThread(limits.maxQueryCount, thread, threads.count);
    if (threads.issuedBy(thread) >= most) return 'max-query-count';
  }
  if (limits.maxDurationNs !== 0 && elapsedNs > limits.maxDurationNs) return 'max-duration';
  return null;
}

/** Part of a count that falls to one thread: the first threads take the rest of the division. */
function shareOfThread(count: number, thread: number, threadCount: number): number {
  return Math.floor(count / threadCount) + (thread < count % threadCount ? 1 : 0);
}
