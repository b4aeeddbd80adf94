import { lstatSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../shared/base/errors/to-mlperf-error.ts';
import { SUBMISSION_DIVISIONS } from '../rules/submission-rounds.ts';

/** Problems that are named; of more the number. */
const TOLD_MAX = 20;

/** Texts beside the divisions. Source: the official checkers, "extra files in root". */
const ROOT_TEXT = /\.(md|pdf)$/;

/** Where the originals of truncated logs lie in their folder. */
const KEPT_ORIGINAL = /(^|\/)\d+\/(closed|network|open)\/.*mlperf_log_accuracy\.json$/;

/** How each line of an age identity begins. */
const AGE_IDENTITY = /^AGE-SECRET-KEY-1/m;

/** Key files are a few lines; nothing larger is looked into. */
const KEY_BYTES_MAX = 4096;

/** A file that goes into the tarball. */
export interface PackedFile {
  /** Relative to the tree, with forward slashes. */
  readonly path: string;
  readonly stats: Stats;
}

/**
 * Every file of a tree, sorted by path.
 * @throws MlperfError `ERR_CONFIG_FILE` when it is no tree, or has what may not be handed in: links, files beside the
 *   divisions, originals of truncated logs, what an interrupted command left.
 */
export function treeContents(tree: string): PackedFile[] {
  const files: PackedFile[] = [];
  const problems: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of readOrRefuse(join(tree, folder), (path) => readdirSync(path))) {
      const path = posix.join(folder, name);
      const stats = lstatSync(join(tree, path));
      const problem = problemOf(path, stats);
      if (problem !== undefined) problems.push(problem);
      else if (stats.isDirectory()) folders.push(path);
      else files.push({ path, stats });
    }
  }
  if (problems.length > 0) throw refused(tree, problems.sort());
  const isInDivision = ({ path }: PackedFile): boolean => path.includes('/');
  if (!files.some(isInDivision)) {
    const wanted = SUBMISSION_DIVISIONS.join('/, ');
    throw new MlperfError(
      'ERR_CONFIG_FILE',
      `${tree} is no submission tree: no file in ${wanted}/`,
    );
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function problemOf(path: string, stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return `${path} is a link`;
  if (stats.isDirectory()) {
    const isDivision = (SUBMISSION_DIVISIONS as readonly string[]).includes(path);
    return isDivision || path.includes('/') ? undefined : `${path}/ is no division`;
  }
  if (!stats.isFile()) return `${path} is no plain file`;
  if (!path.includes('/') && !ROOT_TEXT.test(path)) return `${path} is no .md or .pdf`;
  if (path.endsWith('.unfinished')) {
    return `${path} was left by an interrupted command: run that again, or remove it`;
  }
  return KEPT_ORIGINAL.test(path) ? `${path} is the original of a truncated log` : undefined;
}

/**
 * Refuses files that are keys: copies of the key file, and identities of age. A tarball that brings its own key could
 * be read by everybody who is given that key, and by nobody else; one that brings another gives that away.
 * @param keyFile It may not be there yet.
 * @throws MlperfError `ERR_CONFIG_FILE` for a tree with keys, and when a file cannot be read
 */
export function refuseKeys(
  tree: string,
  files: readonly PackedFile[],
  keyFile: string | undefined,
): void {
  const isThere =
    keyFile !== undefined && statSync(keyFile, { throwIfNoEntry: false })?.isFile() === true;
  const key = isThere ? readOrRefuse(keyFile, (path) => readFileSync(path)) : undefined;
  const keys = files.filter(({ path, stats: { size } }) => {
    if (size > Math.max(KEY_BYTES_MAX, key?.length ?? 0)) return false;
    const bytes = readOrRefuse(join(tree, path), (file) => readFileSync(file));
    return key?.equals(bytes) === true || AGE_IDENTITY.test(bytes.toString('latin1'));
  });
  if (keys.length === 0) return;
  const paths = keys.map(({ path }) => path).join(', ');
  const text = `${tree} has keys in it, which nobody is to be given: ${paths}`;
  throw new MlperfError('ERR_CONFIG_FILE', text);
}

function readOrRefuse<T>(path: string, read: (path: string) => T): T {
  try {
    return read(path);
  } catch (error) {
    const text = `cannot read ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_CONFIG_FILE', text, { cause: error });
  }
}

function refused(tree: string, problems: readonly string[]): MlperfError {
  const told = problems.slice(0, TOLD_MAX).join('; ');
  const more = problems.length - TOLD_MAX;
  const text = `${tree} has what cannot be handed in: ${told}${more > 0 ? `; and ${more} more` : ''}`;
  return new MlperfError('ERR_CONFIG_FILE', text);
}
