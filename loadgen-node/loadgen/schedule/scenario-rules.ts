import type { Scenario } from '../../../shared/domain/scenario.ts';

/** Instant at which a query is due: its issue, the plan, the start, or an arrival interval. */
export type ScheduledAt = 'issue' | 'plan' | 'start' | 'interval';

/**
 * Rules of a scenario while queries are issued. Data, not code: the issue loop reads it once per
 * query inside the timed region.
 */
export interface ScenarioRules {
  /** True: the next query waits while `outstandingMax` samples are outstanding. */
  readonly waitsForCompletion: boolean;
  /** Samples outstanding from which on the next query waits: 1 but in a closed loop. */
  readonly outstandingMax: number;
  /**
   * Instant from which latency counts: that of the issue, that of the plan, the start of the set, or
   * the arrival interval in which the last query is done. It is also when a query is due.
   */
  readonly scheduledAt: ScheduledAt;
  /** True: issuing ends once the least count and the least duration are reached. */
  readonly endsNaturally: boolean;
}

const ONE_AT_A_TIME = { waitsForCompletion: true, outstandingMax: 1 } as const;
const OPEN = { waitsForCompletion: false, outstandingMax: 1 } as const;

const RULES: Readonly<Record<Scenario, ScenarioRules>> = {
  /** One sample at a time; the next goes out when the last is done. */
  SingleStream: { ...ONE_AT_A_TIME, scheduledAt: 'issue', endsNaturally: true },
  /** One query of several samples at a time; the next goes out when all samples of the last are done. */
  MultiStream: { ...ONE_AT_A_TIME, scheduledAt: 'issue', endsNaturally: true },
  /** Queries by the clock, whatever the SUT does: a late one goes out at once, none is left out. */
  Server: { ...OPEN, scheduledAt: 'plan', endsNaturally: false },
  /** One query of all samples, at the start. */
  Offline: { ...OPEN, scheduledAt: 'start', endsNaturally: true },
};

/**
 * MultiStream of round v0.5: a query at every arrival interval. While the last query is not done an
 * interval is skipped, and all later queries are delayed by it.
 */
const INTERVAL_MULTI_STREAM: ScenarioRules = {
  ...ONE_AT_A_TIME,
  scheduledAt: 'interval',
  endsNaturally: true,
};

/**
 * Rules of a scenario (LoadGen: issue_query_controller.h, one specialization per scenario).
 * @param arrivalIntervalNs Above 0 in round v0.5's MultiStream only.
 * @param concurrency Queries of one sample that are outstanding all the time: a closed loop, which no scenario of LoadGen is.
 */
export function scenarioRules(
  scenario: Scenario,
  arrivalIntervalNs: number,
  concurrency?: number,
): ScenarioRules {
  if (concurrency !== undefined) return { ...RULES.SingleStream, outstandingMax: concurrency };
  return arrivalIntervalNs > 0 ? INTERVAL_MULTI_STREAM : RULES[scenario];
}
