import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { Phase } from '../schedule/loadable-sets.ts';
import type { QueryPlan } from '../schedule/query-plan.ts';
import type { EffectiveSettings } from '../settings/effective-settings.ts';

/** What a set is about, known before its first query. */
export interface SetGoal {
  readonly scenario: Scenario;
  /** Queries per second that the schedule asks for; 0 where the SUT decides how fast it goes. */
  readonly targetQps: number;
  /** Server's latency bound; 0 where there is none. */
  readonly latencyBoundNs: number;
  /** Percentile that the verdict looks at, as a fraction. */
  readonly percentile: number;
  readonly samplesPerQuery: number;
  /** Server: when the last query is due, in ns since the start; 0 elsewhere. */
  readonly lastDueNs: number;
  /** Time and queries after which issuing ends by itself; 0 in an accuracy run and in Offline, where all goes out. */
  readonly minDurationNs: number;
  readonly minQueryCount: number;
  /** What ends issuing in any case; 0: no such limit. */
  readonly maxDurationNs: number;
  readonly maxQueryCount: number;
}

/** The goal of a set by its settings and its plan. */
export function setGoal(phase: Phase, settings: EffectiveSettings, plan: QueryPlan): SetGoal {
  const { scenario, arrivalIntervalNs } = settings;
  const isTimed = phase === 'performance';
  const endsByItself = isTimed && scenario !== 'Server' && scenario !== 'Offline';
  return {
    scenario,
    targetQps: targetQps(settings, arrivalIntervalNs),
    latencyBoundNs: isTimed ? settings.targetLatencyNs : 0,
    percentile: settings.targetLatencyPercentile,
    samplesPerQuery: plan.samplesPerQuery,
    lastDueNs: plan.scheduledDeltaNs[plan.queryCount - 1] ?? 0,
    minDurationNs: endsByItself ? settings.targetDurationMs * 1e6 : 0,
    minQueryCount: endsByItself ? settings.minQueryCount : 0,
    maxDurationNs: isTimed ? settings.maxDurationMs * 1e6 : 0,
    maxQueryCount: isTimed ? settings.maxQueryCount : 0,
  };
}

function targetQps(settings: EffectiveSettings, arrivalIntervalNs: number): number {
  if (settings.scenario === 'Server') return settings.targetQps;
  return arrivalIntervalNs > 0 ? 1e9 / arrivalIntervalNs : 0;
}
