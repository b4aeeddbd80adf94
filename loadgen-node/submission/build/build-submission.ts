import { assembleTree } from './assemble-tree.ts';
import { readSubmissionConfig } from './config/read-submission-config.ts';
import { planSubmission } from './plan/plan-submission.ts';
import type { SubmissionPlan } from './plan/plan-types.ts';
import { checkTarget, writeTree } from './write-tree.ts';

/** What a tree is built from, and where to. */
export interface BuildOptions {
  readonly config: string;
  readonly tree: string;
  /** Takes runs of any length and verdict, and marks the tree. */
  readonly isDryRun: boolean;
  /** Replaces a tree that longhaul built. */
  readonly mayReplace: boolean;
  /**
   * Adds to the tree when all else is written and before it is in its place.
   * @param folder Where the tree lies until then.
   */
  readonly finish?: (folder: string, plan: SubmissionPlan) => Promise<void>;
}

/** A tree that was built. */
export interface BuiltTree {
  readonly plan: SubmissionPlan;
  readonly fileCount: number;
  /** What the submitter should know, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Builds a submission tree: all of it, or nothing.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` (everything that is wrong, one per line), `ERR_OUTPUT`
 */
export async function buildSubmission(options: BuildOptions): Promise<BuiltTree> {
  const { tree, isDryRun, mayReplace, finish } = options;
  const config = readSubmissionConfig(options.config);
  checkTarget(tree, mayReplace);
  const { plan, warnings } = await planSubmission(config, isDryRun);
  const { files, notices } = assembleTree(plan);
  await writeTree(tree, files, async (folder) => finish?.(folder, plan));
  return { plan, fileCount: files.entries.length, warnings: [...warnings, ...notices] };
}
