import { checkTree } from '../check/check-tree.ts';
import { writeCheckerLogs } from '../check/checker-log.ts';
import { treeReportText } from '../check/report/check-text.ts';
import { addFindings } from './add-findings.ts';
import { assembleTree } from './assemble-tree.ts';
import { readSubmissionConfig } from './config/read-submission-config.ts';
import { planSubmission, type SubmissionPlan } from './plan/plan-submission.ts';
import { checkTreeTarget, writeTree } from './tree-files.ts';

/** Paths and flags of a build. */
export interface BuildOptions {
  readonly config: string;
  readonly tree: string;
  /** True: accepts runs of any length and verdict, and marks the tree. */
  readonly isDryRun: boolean;
  /** True: replaces a tree built by longhaul. */
  readonly mayReplace: boolean;
}

/** A built tree: its plan, number of files, and one-sentence notices for the submitter. */
export interface BuiltTree {
  readonly plan: SubmissionPlan;
  readonly fileCount: number;
  readonly warnings: readonly string[];
}

/**
 * Builds a complete submission tree and checks it in a staging folder; a tree that fails the check
 * is removed.
 * @throws MlperfError `ERR_CONFIG_FILE`, `ERR_CONFIG_INVALID` (every problem, one per line),
 *   `ERR_OUTPUT`
 */
export async function buildSubmission(options: BuildOptions): Promise<BuiltTree> {
  const { tree, isDryRun, mayReplace } = options;
  const config = readSubmissionConfig(options.config);
  checkTreeTarget(tree, mayReplace);
  const { plan, problems } = await planSubmission(config, isDryRun);
  const { files, notices } = assembleTree(plan);
  await writeTree(tree, files, async (folder) => {
    const report = await checkTree(folder, { round: plan.round });
    addFindings(report.findings, { plan, files }, problems);
    problems.throwIfAny();
    // Findings name the staging folder, not the final one.
    writeCheckerLogs(folder, report, treeReportText(report).replaceAll(folder, '.'));
  });
  return { plan, fileCount: files.entries().length, warnings: [...problems.warnings, ...notices] };
}
