import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { RUN_FILES } from '../../loadgen/logs/read/run-folder.ts';
import { SUBMISSION_DIVISIONS, type SubmissionRound } from '../rules/submission-rounds.ts';
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

/** Tests with an accuracy log that is cut in the flat layout. Source: the truncation tool of v6.0 and later. */
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
  const walk = new LogWalk(tree, round);
  for (const division of divisions) {
    for (const submitter of foldersOf(join(tree, division))) {
      walk.add(posix.join(division, submitter), division);
    }
  }
  return walk.places;
}

class LogWalk {
  readonly places: LogPlace[] = [];
  readonly #tree: string;
  readonly #round: SubmissionRound;
  readonly #isFlat: boolean;

  constructor(tree: string, round: SubmissionRound) {
    this.#tree = tree;
    this.#round = round;
    this.#isFlat = new TreeLayout(round).isFlat;
  }

  add(submitter: string, division: string): void {
    for (const scenario of this.#scenarios(posix.join(submitter, 'results'))) {
      this.#addLog(scenario, 'needed');
      const measurements = posix.join(scenario, 'measurements.json');
      if (!this.#isFlat && existsSync(join(this.#tree, measurements))) {
        throw this.#otherLayout(measurements, 'v6.0 and later');
      }
      for (const test of this.#tests(scenario)) this.#addFlatTest(posix.join(scenario, test), test);
    }
    const compliance = posix.join(submitter, 'compliance');
    for (const folder of [compliance, posix.join(submitter, 'measurements')]) {
      if (!this.#isFlat || !existsSync(join(this.#tree, folder))) continue;
      throw this.#otherLayout(folder, 'v5.1 and before');
    }
    // The tool of v5.1 leaves out what the open division need not have.
    if (this.#round === 'v5.1' && division === 'open') return;
    for (const scenario of this.#scenarios(compliance)) {
      this.#addLog(posix.join(scenario, 'TEST01'), 'made');
    }
  }

  #addFlatTest(folder: string, test: string): void {
    if (!this.#isFlat) throw this.#otherLayout(folder, 'v6.0 and later');
    const textBefore = FLAT_TESTS[test];
    if (textBefore !== undefined) this.#addLog(folder, textBefore);
  }

  #addLog(folder: string, textBefore: TextBefore): void {
    const log = posix.join(folder, 'accuracy', RUN_FILES.accuracy);
    const text = posix.join(folder, 'accuracy', RUN_FILES.accuracyText);
    for (const path of [log, text]) {
      const stat = lstatSync(join(this.#tree, path), { throwIfNoEntry: false });
      if (stat === undefined || stat.isFile()) continue;
      throw new MlperfError('ERR_CONFIG_FILE', `${path} is not a plain file (a link, a folder?)`);
    }
    if (existsSync(join(this.#tree, log))) this.places.push({ log, text, textBefore });
  }

  /** Folders `<system>/<model>/<scenario>` below a folder. */
  #scenarios(folder: string): string[] {
    const below = (path: string): string[] =>
      foldersOf(join(this.#tree, path)).map((name) => posix.join(path, name));
    return below(folder).flatMap(below).flatMap(below);
  }

  #tests(scenario: string): string[] {
    return foldersOf(join(this.#tree, scenario)).filter((name) => /^TEST\d\d$/.test(name));
  }

  #otherLayout(folder: string, rounds: string): MlperfError {
    const text = `${folder} is of the layout of ${rounds}, and the round is ${this.#round}: say --round`;
    return new MlperfError('ERR_CONFIG_FILE', text);
  }
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
