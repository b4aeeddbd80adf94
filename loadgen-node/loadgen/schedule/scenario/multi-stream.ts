import type { ScenarioRules } from './scenario-rules.ts';

/** One query of several samples at a time; the next goes out when all samples of the last are done. */
export const multiStream: ScenarioRules = {
  waitsForCompletion: true,
  scheduledAt: 'issue',
  endsNaturally: true,
};
