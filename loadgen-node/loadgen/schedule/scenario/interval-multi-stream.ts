import type { ScenarioRules } from './scenario-rules.ts';

/**
 * MultiStream of round v0.5: a query at every arrival interval. While the last query is not done an
 * interval is skipped, and all later queries are delayed by it.
 */
export const intervalMultiStream: ScenarioRules = {
  waitsForCompletion: true,
  scheduledAt: 'interval',
  endsNaturally: true,
};
