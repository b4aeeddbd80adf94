import { existsSync, lstatSync } from 'node:fs';
import { posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { statIfThere } from '../../../shared/base/files/read-file.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { type TreeListing, treeListing } from '../check/read/tree-listing.ts';
import { SUBMISSION_DIVISIONS, type SubmissionRound } from '../rules/submission-rounds.ts';
import { noTree, treeLayout } from '../tree/tree-layout.ts';

/**
 * State of accuracy.txt before truncation: `needed`; `made` by the truncation if missing (TEST01 up
 * to v5.1); or `hash-only` (TEST07 and TEST09, whose accuracy is in another file).
 */
type TextBefore = 'needed' | 'made' | 'hash-only';

/**
 * An accuracy log that is truncated for submission. Paths are relative to the tree, with forward
 * slashes.
 */
export interface LogPlace {
  readonly log: string;
  /** Path of its accuracy.txt. */
  readonly text: string;
  readonly textBefore: TextBefore;
}

/**
 * Tests whose accuracy log is truncated in the flat layout. Source: the truncation tool from v6.0
 * on.
 */
const FLAT_TESTS: Readonly<Record<string, TextBefore>> = {
  TEST01: 'needed',
  TEST07: 'hash-only',
  TEST09: 'hash-only',
};

/**
 * Finds the accuracy logs that the round's truncation tool processes, in every division and of
 * every submitter. Source: truncate_accuracy_log.py of the rounds' tags.
 * @throws MlperfError `ERR_CONFIG_FILE` without a division, if the tree has another round's
 *   layout, or if a log is not a plain file.
 */
export function findLogPlaces(tree: string, round: SubmissionRound): LogPlace[] {
  const listing = treeListing(tree);
  const submitters = SUBMISSION_DIVISIONS.flatMap((division) => below(listing, division));
  if (submitters.length === 0) throw noTree(tree);
  return submitters.flatMap((submitter) => placesOf(listing, round, submitter));
}

/** The accuracy logs of a submitter in a division. @throws MlperfError `ERR_CONFIG_FILE` */
function placesOf(listing: TreeListing, round: SubmissionRound, submitter: string): LogPlace[] {
  const { isFlat } = treeLayout(round);
  const refuse = (path: string, isOfFlat: boolean): void => {
    if (isFlat === isOfFlat || !existsSync(listing.pathOf(path))) return;
    const rounds = isOfFlat ? 'v6.0 and later' : 'v5.1 and before';
    const text = `${path} is of the layout of ${rounds}, and the round is ${round}: say --round`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  };
  const scenariosIn = (folder: string): string[] =>
    below(listing, posix.join(submitter, folder))
      .flatMap((system) => below(listing, system))
      .flatMap((model) => below(listing, model));
  const ofResults = scenariosIn('results').flatMap((scenario) => {
    const own = placeIn(listing, scenario, 'needed');
    refuse(posix.join(scenario, 'measurements.json'), true);
    const tests = below(listing, scenario).filter((folder) => /\/TEST\d\d$/.test(folder));
    const ofTests = tests.flatMap((folder) => {
      refuse(folder, true);
      return placeIn(listing, folder, FLAT_TESTS[posix.basename(folder)]);
    });
    return [...own, ...ofTests];
  });
  for (const name of ['compliance', 'measurements']) refuse(posix.join(submitter, name), false);
  // v5.1's tool skips what the open division need not have.
  const isLeftOut = round === 'v5.1' && submitter.startsWith('open/');
  const ofTests = isLeftOut ? [] : scenariosIn('compliance');
  return [
    ...ofResults,
    ...ofTests.flatMap((scenario) => placeIn(listing, posix.join(scenario, 'TEST01'), 'made')),
  ];
}

/** Paths of a folder's subfolders; empty if it does not exist. */
function below(listing: TreeListing, folder: string): string[] {
  return listing.entries(folder).folders.map((name) => posix.join(folder, name));
}

/**
 * The truncatable accuracy log of a folder, if there is one. @throws MlperfError `ERR_CONFIG_FILE`
 */
function placeIn(
  listing: TreeListing,
  folder: string,
  textBefore: TextBefore | undefined,
): LogPlace[] {
  if (textBefore === undefined) return [];
  const log = posix.join(folder, 'accuracy', RUN_FILES.accuracy);
  const text = posix.join(folder, 'accuracy', RUN_FILES.accuracyText);
  for (const path of [log, text]) {
    const stat = statIfThere(listing.pathOf(path), lstatSync);
    if (stat === undefined || stat.isFile()) continue;
    throw new MlperfError('ERR_CONFIG_FILE', `${path} is not a plain file (a link, a folder?)`);
  }
  return existsSync(listing.pathOf(log)) ? [{ log, text, textBefore }] : [];
}
