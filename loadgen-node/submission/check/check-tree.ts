import { posix } from 'node:path';
import { packageVersion } from '../../../shared/base/files/package-files.ts';
import { SUBMISSION_DIVISIONS, type SubmissionRound } from '../rules/submission-rounds.ts';
import { noTree, TreeLayout } from '../tree/tree-layout.ts';
import { checkSubmitter } from './check-submitter.ts';
import { detectRound } from './detect-round.ts';
import { OriginalLogs } from './read/original-logs.ts';
import { DOCUMENT_BYTES_MAX, documentLines } from './read/read-document.ts';
import { type DetailLogReader, DetailLogs } from './read/run-log.ts';
import type { CheckContext } from './read/sites.ts';
import { TreeListing } from './read/tree-listing.ts';
import {
  CHECK_REPORT_VERSION,
  type CheckedResult,
  type CheckReport,
  orderFindings,
} from './report/check-report.ts';
import { Findings } from './rules/findings.ts';

/** Options of a check of a tree. */
export interface CheckOptions {
  /** Absent: the round whose seeds the logs have; where there are none, the default one. */
  readonly round?: SubmissionRound | undefined;
  /**
   * Folder with the accuracy logs as they were before truncation ({@link OriginalLogs}): hashes are
   * computed.
   */
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
  // What has no division is no tree, and nobody is helped by a report on it.
  if (!SUBMISSION_DIVISIONS.some((division) => listing.hasFolder(division))) throw noTree(root);
  const logs = new DetailLogs(listing, options.readLog);
  const said = options.round;
  const { round, roundFrom } =
    said === undefined
      ? await detectRound(listing, logs)
      : { round: said, roundFrom: 'said' as const };
  const findings = new Findings(round, options.isStrict === true);
  const context: CheckContext = {
    ...{ file: '.', listing, findings, round, logs },
    layout: new TreeLayout(round),
    originals: options.originals === undefined ? undefined : new OriginalLogs(options.originals),
    comparedOriginals: new Set(),
    accuracyHashes: new Map(),
  };
  checkFiles(context);
  const submitters = SUBMISSION_DIVISIONS.flatMap((division) =>
    listing.entries(division).folders.map((submitter) => ({ division, submitter })),
  );
  if (submitters.length === 0) {
    findings.add('no-results', '.', 'No division has the folder of a submitter.');
  }
  const results: CheckedResult[] = [];
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

/** Texts for people; a .txt is one in documentation only, elsewhere it is of a tool. */
const TEXT = /(?:\.md|\.adoc|\/documentation\/.*\.txt)$/;

/** READMEs of compliance tests and the like, which longhaul wrote. */
const EVIDENCE = /^[^/]+\/[^/]+\/documentation\/evidence\//;

/**
 * What submitters bring may have a TODO of others; the README.md of an implementation is their own.
 */
const SOURCE = /^[^/]+\/[^/]+\/(?:code|src)\/(?![^/]+\/[^/]+\/README\.md$)/;

/** Names, sizes and kinds of all files and folders, and texts for people. */
function checkFiles(context: CheckContext): void {
  const { listing, findings } = context;
  findings.check('tree', context);
  const paths = [
    ...[...listing.folderPaths()].map((file) => ({ file, isFolder: true })),
    ...[...listing.filePaths()].map((file) => ({ file, isFolder: false })),
  ];
  for (const { file, isFolder } of paths) {
    if (file === '') continue;
    const [name, folder] = [posix.basename(file), posix.dirname(file)];
    const isOfDivision = SUBMISSION_DIVISIONS.some((division) => file.startsWith(`${division}/`));
    const bytes = listing.bytesOf(file) ?? 0;
    findings.check('path', { ...context, file, name, folder, isFolder, isOfDivision, bytes });
    const isText = TEXT.test(file) && !EVIDENCE.test(file) && !SOURCE.test(file);
    if (isFolder || !isText || bytes > DOCUMENT_BYTES_MAX) continue;
    for (const [i, text] of documentLines(context, file).entries()) {
      findings.check('textLine', { file, line: i + 1, text });
    }
  }
}
