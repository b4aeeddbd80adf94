import type { Scenario } from '../../../shared/domain/scenario.ts';

/** When a query is due: at its issue, by the plan, at the start, or by an arrival interval. */
export type ScheduledAt = 'issue' | 'plan' | 'start' | 'interval';

/**
 * Rules of a scenario for the issue loop. Data, not code: the loop reads them once per query inside
 * the timed region.
 */
export interface ScenarioRules {
  /** True: the next query waits while `outstandingMax` samples are outstanding. */
  readonly waitsForCompletion: boolean;
  /** Outstanding samples from which the next query waits; 1 except in a closed loop. */
  readonly outstandingMax: number;
  /**
   * Start of the latency, and the due time: the issue, the plan, the start of the set, or the
   * arrival interval in which the last query completes.
   */
  readonly scheduledAt: ScheduledAt;
  /** True: issuing ends when the minimum count and the minimum duration are reached. */
  readonly endsNaturally: boolean;
}

const ONE_AT_A_TIME = { waitsForCompletion: true, outstandingMax: 1 } as const;
const OPEN = { waitsForCompletion: false, outstandingMax: 1 } as const;

const RULES: Readonly<Record<Scenario, ScenarioRules>> = {
  /** One sample at a time; the next goes out when the last completes. */
  SingleStream: { ...ONE_AT_A_TIME, scheduledAt: 'issue', endsNaturally: true },
  /**
   * One query of several samples at a time; the next goes out when all samples of the last
   * complete.
   */
  MultiStream: { ...ONE_AT_A_TIME, scheduledAt: 'issue', endsNaturally: true },
  /**
   * Queries by the clock, independent of the SUT: a late query goes out at once, none is omitted.
   */
  Server: { ...OPEN, scheduledAt: 'plan', endsNaturally: false },
  /** One query of all samples, at the start. */
  Offline: { ...OPEN, scheduledAt: 'start', endsNaturally: true },
};

/**
 * MultiStream of round v0.5: one query per arrival interval. If the last query is outstanding, the
 * interval is skipped and all later queries are delayed by it.
 */
const INTERVAL_MULTI_STREAM: ScenarioRules = {
  ...ONE_AT_A_TIME,
  scheduledAt: 'interval',
  endsNaturally: true,
};

/**
 * Rules of a scenario (LoadGen: issue_query_controller.h, one specialization per scenario).
 * @param arrivalIntervalNs Above 0 in round v0.5's MultiStream only.
 * @param concurrency Constant number of outstanding one-sample queries: a closed loop, not a
 *   scenario of LoadGen.
 */
export function scenarioRules(
  scenario: Scenario,
  arrivalIntervalNs: number,
  concurrency?: number,
): ScenarioRules {
  if (concurrency !== undefined) return { ...RULES.SingleStream, outstandingMax: concurrency };
  return arrivalIntervalNs > 0 ? INTERVAL_MULTI_STREAM : RULES[scenario];
}
