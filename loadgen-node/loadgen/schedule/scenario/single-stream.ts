import type { ScenarioRules } from './scenario-rules.ts';

/** One sample at a time; the next goes out when the last is done. */
export const singleStream: ScenarioRules = {
  waitsForCompletion: true,
  scheduledAt: 'issue',
  endsNaturally: true,
};
