import type { ScenarioRules } from './scenario-rules.ts';

/** Queries by the clock, whatever the SUT does: a late one goes out at once, none is left out. */
export const server: ScenarioRules = {
  waitsForCompletion: false,
  scheduledAt: 'plan',
  endsNaturally: false,
};
