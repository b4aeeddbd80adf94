import type { ScenarioRules } from './scenario-rules.ts';

/** One query of all samples, at the start. */
export const offline: ScenarioRules = {
  waitsForCompletion: false,
  scheduledAt: 'start',
  endsNaturally: true,
};
