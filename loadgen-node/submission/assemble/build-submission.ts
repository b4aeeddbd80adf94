import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { CHECKER_LOG } from '../tree/tree-layout.ts';
import { assembleTree } from './assemble-tree.ts';
import { readSubmissionConfig } from './config/read-submission-config.ts';
import { planSubmission, type SubmissionPlan } from './plan/plan-submission.ts';
import { checkTreeTarget, writeTree } from './tree-files.ts';

/** Paths and flags of a build. */
export interface BuildOptions {
  readonly config: string;
  readonly tree: string;
  /** Takes runs of any length and verdict, and marks the tree. */
  readonly isDryRun: boolean;
  /** Replaces a tree that longhaul built. */
  readonly mayReplace: boolean;
  /**
   * Text of our own self-check of a tree, for compliance_checker_log.txt; absent: that file is not
   * written.
   */
  readonly selfCheck?: (tree: string, round: SubmissionRound) => Promise<string>;
}

/**
 * A tree that was built: its plan, the number of files, and what the submitter should know, one
 * sentence each.
 */
export interface BuiltTree {
  readonly plan: SubmissionPlan;
  readonly fileCount: number;
  readonly warnings: readonly string[];
}

/**
 * Builds a complete submission tree, or writes no file.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` (everything that is wrong, one per
 *   line), `ERR_OUTPUT`
 */
export async function buildSubmission(options: BuildOptions): Promise<BuiltTree> {
  const { tree, isDryRun, mayReplace, selfCheck } = options;
  const config = readSubmissionConfig(options.config);
  checkTreeTarget(tree, mayReplace);
  const { plan, warnings } = await planSubmission(config, isDryRun);
  const { files, notices } = assembleTree(plan);
  await writeTree(tree, files, async (folder) => {
    const text = await selfCheck?.(folder, plan.round);
    if (text === undefined) return;
    for (const division of plan.divisions) {
      const path = join(folder, division, plan.submitter, 'results', CHECKER_LOG);
      // The folder in which the tree was checked is not the one where it will be.
      writeFileSync(path, text.replaceAll(folder, '.'));
    }
  });
  return { plan, fileCount: files.entries().length, warnings: [...warnings, ...notices] };
}
