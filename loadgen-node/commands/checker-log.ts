import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';
import { checkTree } from '../submission/check/check-tree.ts';
import { reportText } from '../submission/check/report-text.ts';
import { resultsFolder } from '../submission/check/result-site.ts';
import {
  SUBMISSION_DIVISIONS,
  type SubmissionRound,
} from '../submission/rules/submission-rounds.ts';

/** Name of the self-check's text in a tree. Source: submission_rules, "Directory structure". */
const CHECKER_LOG = 'compliance_checker_log.txt';

/** Text of the self-check of a tree. */
export async function checkerLogText(tree: string, round: SubmissionRound): Promise<string> {
  return reportText(await checkTree(tree, { round }));
}

/**
 * Writes the self-check's text anew where a tree has it: what it said before the tree was changed holds no more.
 * @throws MlperfError `ERR_OUTPUT`, and what {@link checkTree} throws
 */
export async function renewCheckerLogs(tree: string, round: SubmissionRound): Promise<void> {
  const logs = checkerLogs(tree);
  if (logs.length === 0) return;
  const text = await checkerLogText(tree, round);
  for (const path of logs) {
    try {
      writeFileSync(path, text);
    } catch (error) {
      const why = describeSystemError(error);
      throw new MlperfError('ERR_OUTPUT', `cannot write ${path}: ${why}`, { cause: error });
    }
  }
}

function checkerLogs(tree: string): string[] {
  return SUBMISSION_DIVISIONS.filter((division) => existsSync(join(tree, division)))
    .flatMap((division) =>
      readdirSync(join(tree, division)).map((submitter) =>
        join(tree, resultsFolder(division, submitter), CHECKER_LOG),
      ),
    )
    .filter((path) => existsSync(path));
}
