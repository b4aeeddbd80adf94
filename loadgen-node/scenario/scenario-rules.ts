import type { Scenario } from '../../shared/domain/scenario.ts';
import { multiStream } from './multi-stream.ts';
import { offline } from './offline.ts';
import { server } from './server.ts';
import { singleStream } from './single-stream.ts';

/**
 * What a scenario decides while queries are issued. Data, not code: the issue loop reads it once per
 * query inside the timed region.
 */
export interface ScenarioRules {
  /** True: the next query waits until all samples of the last one are done. */
  readonly waitsForCompletion: boolean;
  /**
   * Instant from which latency counts: that of the issue, that of the plan, or the start of the set.
   * It is also when a query is due.
   */
  readonly scheduledAt: 'issue' | 'plan' | 'start';
  /** True: issuing ends once the least count and the least duration are reached. */
  readonly endsNaturally: boolean;
}

const RULES: Readonly<Record<Scenario, ScenarioRules>> = {
  SingleStream: singleStream,
  MultiStream: multiStream,
  Server: server,
  Offline: offline,
};

/** Rules of a scenario (LoadGen: issue_query_controller.h, one specialization per scenario). */
export function scenarioRules(scenario: Scenario): ScenarioRules {
  return RULES[scenario];
}
