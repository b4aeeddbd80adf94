import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { SUBMISSION_DIVISIONS, type SubmissionRound } from '../rules/submission-rounds.ts';
import { noTree, TreeLayout } from '../tree/tree-layout.ts';
import { checkFiles } from './check-files.ts';
import { checkSubmitter } from './check-submitter.ts';
import { checkTodo } from './check-todo.ts';
import { detectRound } from './detect-round.ts';
import type { CheckContext } from './read/check-context.ts';
import { type DetailLogReader, DetailLogs } from './read/detail-logs.ts';
import { OriginalLogs } from './read/original-logs.ts';
import { submittersOf } from './read/result-site.ts';
import { TreeListing } from './read/tree-listing.ts';
import {
  CHECK_REPORT_VERSION,
  type CheckedResult,
  type CheckReport,
  orderFindings,
} from './report/check-report.ts';
import { Findings } from './rules/findings.ts';

/** What a check may be told. */
export interface CheckOptions {
  /** Absent: the round whose seeds the logs have; where there are none, the default one. */
  readonly round?: SubmissionRound | undefined;
  /** Folder with the accuracy logs as they were before truncation ({@link OriginalLogs}): hashes are computed. */
  readonly originals?: string | undefined;
  /** Warnings are errors. */
  readonly isStrict?: boolean | undefined;
  /** Reads a detail log; default: from the file, each time. */
  readonly readLog?: DetailLogReader | undefined;
}

/**
 * Checks a submission tree by all rules that are known. Logs are streamed; nothing is written.
 * @throws MlperfError `ERR_CONFIG_FILE` when there is no tree, or no folder of originals, `ERR_CONFIG_INVALID` when it is of several rounds.
 */
export async function checkTree(root: string, options: CheckOptions = {}): Promise<CheckReport> {
  const listing = TreeListing.of(root);
  checkIsTree(listing);
  const logs = new DetailLogs(listing, options.readLog);
  const said = options.round;
  const { round, roundFrom } =
    said === undefined
      ? await detectRound(listing, logs)
      : { round: said, roundFrom: 'said' as const };
  const findings = new Findings(round, options.isStrict === true);
  const layout = new TreeLayout(round);
  const context: CheckContext = {
    listing,
    findings,
    round,
    layout,
    logs,
    originals: options.originals === undefined ? undefined : new OriginalLogs(options.originals),
    comparedOriginals: new Set(),
    accuracyHashes: new Map(),
  };
  checkFiles(listing, findings);
  checkTodo(context);
  const results: CheckedResult[] = [];
  const submitters = submittersOf(listing);
  if (submitters.length === 0) {
    findings.add('no-results', '.', 'No division has the folder of a submitter.');
  }
  for (const { division, submitter } of submitters) {
    results.push(...(await checkSubmitter(context, division, submitter)));
  }
  if (submitters.length > 0 && results.length === 0) {
    findings.add('no-results', '.', 'No submitter has the folder of a result.');
  }
  return {
    schemaVersion: CHECK_REPORT_VERSION,
    checker: `longhaul ${packageVersion()}`,
    round,
    roundFrom,
    ...(context.originals !== undefined && { comparedOriginals: context.comparedOriginals.size }),
    results,
    ...orderFindings(findings.all()),
  };
}

/** What has no division is no tree, and nobody is helped by a report on it. @throws MlperfError `ERR_CONFIG_FILE` */
function checkIsTree(listing: TreeListing): void {
  if (SUBMISSION_DIVISIONS.some((division) => listing.hasFolder(division))) return;
  throw noTree(listing.root);
}
