import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import {
  SUBMISSION_DIVISIONS,
  type SubmissionDivision,
  type SubmissionRound,
} from '../rules/submission-rounds.ts';
import { noTree, TreeLayout } from '../tree/tree-layout.ts';

/**
 * What accuracy.txt is before the truncation: `needed`, or `made` by it where there is none (TEST01 up to v5.1), or
 * nothing but the hash (TEST07 and TEST09, whose accuracy is in another file).
 */
type TextBefore = 'needed' | 'made' | 'hash-only';

/** An accuracy log that a submission has cut. Paths relative to the tree, with forward slashes. */
export interface LogPlace {
  readonly log: string;
  /** Its accuracy.txt. */
  readonly text: string;
  readonly textBefore: TextBefore;
}

/**
 * Tests with an accuracy log that is cut in the flat layout. Source: the truncation tool of v6.0
 * and later.
 */
const FLAT_TESTS: Readonly<Record<string, TextBefore>> = {
  TEST01: 'needed',
  TEST07: 'hash-only',
  TEST09: 'hash-only',
};

/**
 * Finds the accuracy logs that the round's truncation tool cuts, in every division and of every submitter.
 * Source: truncate_accuracy_log.py of the rounds' tags.
 * @throws MlperfError `ERR_CONFIG_FILE` when there is no division, the tree has another round's layout, or a log is
 *   not a plain file.
 */
export function findLogPlaces(tree: string, round: SubmissionRound): LogPlace[] {
  const divisions = SUBMISSION_DIVISIONS.filter((name) => foldersOf(join(tree, name)).length > 0);
  if (divisions.length === 0) throw noTree(tree);
  return divisions.flatMap((division) =>
    foldersOf(join(tree, division)).flatMap((submitter) =>
      placesOf(tree, round, division, posix.join(division, submitter)),
    ),
  );
}

/** The accuracy logs of a submitter in a division. @throws MlperfError `ERR_CONFIG_FILE` */
function placesOf(
  tree: string,
  round: SubmissionRound,
  division: SubmissionDivision,
  submitter: string,
): LogPlace[] {
  const { isFlat } = new TreeLayout(round);
  const refuse = (path: string, isOfFlat: boolean): void => {
    if (isFlat === isOfFlat || !existsSync(join(tree, path))) return;
    const rounds = isOfFlat ? 'v6.0 and later' : 'v5.1 and before';
    const text = `${path} is of the layout of ${rounds}, and the round is ${round}: say --round`;
    throw new MlperfError('ERR_CONFIG_FILE', text);
  };
  const ofResults = scenariosIn(tree, posix.join(submitter, 'results')).flatMap((scenario) => {
    const own = placeIn(tree, scenario, 'needed');
    refuse(posix.join(scenario, 'measurements.json'), true);
    const tests = foldersOf(join(tree, scenario)).filter((name) => /^TEST\d\d$/.test(name));
    const ofTests = tests.flatMap((test) => {
      const folder = posix.join(scenario, test);
      refuse(folder, true);
      return placeIn(tree, folder, FLAT_TESTS[test]);
    });
    return [...own, ...ofTests];
  });
  const compliance = posix.join(submitter, 'compliance');
  for (const path of [compliance, posix.join(submitter, 'measurements')]) refuse(path, false);
  // The tool of v5.1 leaves out what the open division need not have.
  const isLeftOut = round === 'v5.1' && division === 'open';
  const ofTests = isLeftOut ? [] : scenariosIn(tree, compliance);
  return [
    ...ofResults,
    ...ofTests.flatMap((scenario) => placeIn(tree, posix.join(scenario, 'TEST01'), 'made')),
  ];
}

/**
 * The accuracy log of a folder, if it has one that is cut. @throws MlperfError `ERR_CONFIG_FILE`
 */
function placeIn(tree: string, folder: string, textBefore: TextBefore | undefined): LogPlace[] {
  if (textBefore === undefined) return [];
  const log = posix.join(folder, 'accuracy', RUN_FILES.accuracy);
  const text = posix.join(folder, 'accuracy', RUN_FILES.accuracyText);
  for (const path of [log, text]) {
    const stat = lstatSync(join(tree, path), { throwIfNoEntry: false });
    if (stat === undefined || stat.isFile()) continue;
    throw new MlperfError('ERR_CONFIG_FILE', `${path} is not a plain file (a link, a folder?)`);
  }
  return existsSync(join(tree, log)) ? [{ log, text, textBefore }] : [];
}

/** Folders `<system>/<model>/<scenario>` below a folder. */
function scenariosIn(tree: string, folder: string): string[] {
  const below = (path: string): string[] =>
    foldersOf(join(tree, path)).map((name) => posix.join(path, name));
  return below(folder).flatMap(below).flatMap(below);
}

/** Names of the folders in a folder, sorted; none where there is no such folder. */
function foldersOf(path: string): string[] {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}
