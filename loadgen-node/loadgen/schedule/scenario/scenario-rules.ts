import type { Scenario } from '../../../../shared/domain/scenario.ts';
import { intervalMultiStream } from './interval-multi-stream.ts';
import { multiStream } from './multi-stream.ts';
import { offline } from './offline.ts';
import { server } from './server.ts';
import { singleStream } from './single-stream.ts';

/** What decides when a query is due. */
export type ScheduledAt = 'issue' | 'plan' | 'start' | 'interval';

/**
 * What a scenario decides while queries are issued. Data, not code: the issue loop reads it once per
 * query inside the timed region.
 */
export interface ScenarioRules {
  /** True: the next query waits until all samples of the last one are done. */
  readonly waitsForCompletion: boolean;
  /**
   * Instant from which latency counts: that of the issue, that of the plan, the start of the set, or
   * the arrival interval in which the last query is done. It is also when a query is due.
   */
  readonly scheduledAt: ScheduledAt;
  /** True: issuing ends once the least count and the least duration are reached. */
  readonly endsNaturally: boolean;
}

const RULES: Readonly<Record<Scenario, ScenarioRules>> = {
  SingleStream: singleStream,
  MultiStream: multiStream,
  Server: server,
  Offline: offline,
};

/**
 * Rules of a scenario (LoadGen: issue_query_controller.h, one specialization per scenario).
 * @param arrivalIntervalNs Above 0 in round v0.5's MultiStream only.
 */
export function scenarioRules(scenario: Scenario, arrivalIntervalNs: number): ScenarioRules {
  return arrivalIntervalNs > 0 ? intervalMultiStream : RULES[scenario];
}
