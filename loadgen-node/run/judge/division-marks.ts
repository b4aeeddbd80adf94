import { compressionBreaches } from '../../../shared/rules/check-compression.ts';
import type { RunPlan } from '../plan/run-plan.ts';

/**
 * Marks that a run outside the Network division carries on the screen and in every log: that its rules were
 * not enforced, and which of them the settings break.
 */
export function divisionMarks({ division, compression }: RunPlan): string[] {
  if (division === 'network') return [];
  return [
    'division open: the rules of the Network division are not enforced, this is no result of it',
    ...compressionBreaches(compression).map(
      (breach) => `against the rules of the Network division: ${breach}`,
    ),
  ];
}
