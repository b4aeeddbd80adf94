import { dataSetError, type MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { Checksums } from './checksum-list.ts';
import type { PrepareProgress } from './data-set.ts';
import { hashFiles } from './hash-files.ts';

/** Files of one kind that a message names; of more it tells the number. */
const NAMED_MAX = 20;

/** How the files of a folder differ from a list; paths in the list's order. */
export interface FileDifferences {
  /** Listed, but not there. */
  readonly missing: readonly string[];
  /** Listed, with another checksum. */
  readonly changed: readonly string[];
  /** There, but not listed. */
  readonly additional: readonly string[];
}

/**
 * Compares files with a list of checksums.
 * @param present Paths of the files that should be in the list, relative to `folder`.
 * @throws MlperfError `ERR_DATA_SET` naming a file that is there and cannot be read.
 */
export async function compareFiles(
  folder: string,
  list: Checksums,
  present: readonly string[],
  onProgress: PrepareProgress,
): Promise<FileDifferences> {
  const { checksums, missing } = await hashFiles(folder, [...list.keys()], onProgress);
  const changed = [...checksums].filter(([path, sha256]) => sha256 !== list.get(path));
  return {
    missing,
    changed: changed.map(([path]) => path),
    additional: present.filter((path) => !list.has(path)),
  };
}

/** True when there is a difference. */
export function differs({ missing, changed, additional }: FileDifferences): boolean {
  return missing.length + changed.length + additional.length > 0;
}

/** Every difference by kind, each with the names of its files: one line. */
function describeDifferences({ missing, changed, additional }: FileDifferences): string {
  return [
    named('missing', missing),
    named('changed', changed),
    named('not in the list', additional),
  ]
    .filter((text) => text !== '')
    .join('; ');
}

/**
 * The error of a data set that is not what its list says.
 * @param listName What it was compared with.
 */
export function differenceError(
  folder: string,
  listName: string,
  differences: FileDifferences,
): MlperfError {
  const what = describeDifferences(differences);
  return dataSetError(`${folder} is not as ${listName} has it: ${what}`);
}

function named(kind: string, paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const rest = paths.length - NAMED_MAX;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `${paths.length} ${kind} (${paths.slice(0, NAMED_MAX).join(', ')}${more})`;
}
