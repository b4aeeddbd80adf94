import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async.ts';
import { at } from '../../../shared/base/at.ts';
import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import { firstOf } from '../../../shared/base/text.ts';
import type { PrepareProgress } from '../data-set/data-set.ts';

/** Files between two progress reports. */
const PROGRESS_STEP = 1000;

/** At most this many missing files are named; the rest are counted. */
const NAMED_MAX = 20;

/** Files named in a data set's list. */
interface ListedFiles {
  readonly folder: string;
  /** Path of the list, for messages. */
  readonly list: string;
  /** Relative to the folder. */
  readonly paths: readonly string[];
  /** Position of a file in the list, for messages: `line 3`. */
  placeOf(index: number): string;
  /** Hint appended to the error. */
  readonly hint: string;
}

/** @throws MlperfError `ERR_DATA_SET` with the missing files and their positions in the list. */
export async function findFiles(
  { folder, list, paths, placeOf, hint }: ListedFiles,
  onProgress: PrepareProgress,
): Promise<void> {
  const missing: number[] = [];
  await forEachIndex(paths.length, FILES_AT_ONCE, async (index) => {
    const isThere = await stat(join(folder, at(paths, index))).then(
      (found) => found.isFile(),
      // Whatever the reason, the message names the file.
      () => false,
    );
    if (!isThere) missing.push(index);
    if (index % PROGRESS_STEP === 0) {
      onProgress(index / paths.length, `looking for ${paths.length} images in ${folder}`);
    }
  });
  if (missing.length === 0) return;
  missing.sort((a, b) => a - b);
  const named = missing.map((index) => `${paths[index]} (${placeOf(index)})`);
  throw dataSetError(
    `${list}: ${missing.length} of ${paths.length} images are not in ${folder}: ${firstOf(named, NAMED_MAX)}${hint}`,
  );
}
