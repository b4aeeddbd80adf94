import type { SubmissionRound } from '../../rules/submission-rounds.ts';
import type { TreeLayout } from '../../tree/tree-layout.ts';
import type { Findings } from '../rules/findings.ts';
import type { DetailLogs } from './detail-logs.ts';
import type { OriginalLogs } from './original-logs.ts';
import type { ResultSite } from './result-site.ts';
import type { TreeListing } from './tree-listing.ts';

/** What every check of a tree works with. */
export interface CheckContext {
  readonly listing: TreeListing;
  readonly findings: Findings;
  readonly round: SubmissionRound;
  readonly layout: TreeLayout;
  readonly logs: DetailLogs;
  /** Accuracy logs before they were truncated; undefined: none are known. */
  readonly originals: OriginalLogs | undefined;
  /** Truncated logs that were held against their originals, by path. */
  readonly comparedOriginals: Set<string>;
  /** Results by the hash of their accuracy log, the first one that has it. */
  readonly accuracyHashes: Map<string, ResultSite>;
}
