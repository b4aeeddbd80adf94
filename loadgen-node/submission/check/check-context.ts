import type { SubmissionRound } from '../rules/submission-rounds.ts';
import type { TreeLayout } from '../tree-layout.ts';
import type { DetailLogs } from './detail-logs.ts';
import type { Findings } from './findings.ts';
import type { TreeListing } from './tree-listing.ts';

/** What every check of a tree works with. */
export interface CheckContext {
  readonly listing: TreeListing;
  readonly findings: Findings;
  readonly round: SubmissionRound;
  readonly layout: TreeLayout;
  readonly logs: DetailLogs;
  /** Folder with the accuracy logs before they were truncated, laid out as the tree is; undefined: none is known. */
  readonly originals: string | undefined;
}
