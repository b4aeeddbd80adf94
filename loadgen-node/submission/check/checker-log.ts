import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeText } from '../../../shared/base/files/read-file.ts';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { CHECKER_LOG } from '../tree/tree-layout.ts';
import { checkTree } from './check-tree.ts';
import { resultsFolder } from './read/sites.ts';
import type { CheckReport } from './report/check-report.ts';
import { treeReportText } from './report/check-text.ts';

/**
 * Repeats the check of a changed tree, if it contains the text of an earlier check, which is now
 * outdated.
 * @throws MlperfError `ERR_OUTPUT`, and errors of {@link checkTree}
 */
export async function renewCheckerLogs(tree: string, round: SubmissionRound): Promise<void> {
  const report = await checkTree(tree, { round });
  writeTo(checkerLogs(tree, report).filter(existsSync), treeReportText(report));
}

/**
 * Writes the self-check's text to the results of each submitter. @throws MlperfError `ERR_OUTPUT`
 */
export function writeCheckerLogs(tree: string, report: CheckReport, text: string): void {
  writeTo(checkerLogs(tree, report), text);
}

function checkerLogs(tree: string, { results }: CheckReport): string[] {
  const paths = results.map(({ division, submitter }) =>
    join(tree, resultsFolder(division, submitter), CHECKER_LOG),
  );
  return [...new Set(paths)];
}

function writeTo(paths: readonly string[], text: string): void {
  for (const path of paths) writeText(path, text);
}
