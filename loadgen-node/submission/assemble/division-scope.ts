import type { SubmissionDivision } from '../rules/submission-rounds.ts';
import type { TreeLayout } from '../tree/tree-layout.ts';
import type { PlannedResult, SubmissionPlan } from './plan/plan-types.ts';
import type { PlannedFiles } from './planned-files.ts';

/** Everything that one division of a tree is made from. */
export interface DivisionScope {
  readonly plan: SubmissionPlan;
  readonly layout: TreeLayout;
  readonly division: SubmissionDivision;
  readonly results: readonly PlannedResult[];
  readonly files: PlannedFiles;
  readonly notices: string[];
}
