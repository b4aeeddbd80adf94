import { packageVersion } from '../../../shared/process/package-files.ts';
import type { SubmissionRound } from '../rules/submission-rounds.ts';
import { checkFiles } from './check-files.ts';
import { CHECK_REPORT_VERSION, type CheckReport, orderFindings } from './check-report.ts';
import { Findings } from './findings.ts';
import { TreeListing } from './tree-listing.ts';

/** What a check may be told. */
export interface CheckOptions {
  /** Absent: the round whose seeds the logs have; where there are none, the default one. */
  readonly round?: SubmissionRound;
}

/**
 * Checks a submission tree by all rules that are known. Logs are streamed; nothing is written.
 * @throws MlperfError `ERR_CONFIG_FILE` when there is no tree, `ERR_CONFIG_INVALID` when it is of several rounds.
 */
export async function checkTree(root: string, options: CheckOptions = {}): Promise<CheckReport> {
  const listing = await TreeListing.of(root);
  const findings = new Findings();
  checkFiles(listing, findings);
  return {
    schemaVersion: CHECK_REPORT_VERSION,
    checker: `longhaul ${packageVersion()}`,
    round: options.round ?? 'v4.1',
    roundFrom: options.round === undefined ? 'default' : 'said',
    results: [],
    ...orderFindings(findings.all()),
  };
}
