import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES_AT_ONCE, forEachIndex } from '../../../shared/base/async/for-each-index.ts';
import { dataSetError } from '../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError, errorCodeOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import type { PrepareProgress } from './data-set.ts';

/** Bytes that are read at once: one read for most images. */
const READ_BYTES: number = 1024 * 1024;

/** Files between two reports of progress. */
const PROGRESS_STEP = 100;

/** What became of hashing a set of files. */
export interface HashedFiles {
  /** SHA-256 in hexadecimal by path. */
  readonly checksums: ReadonlyMap<string, string>;
  /** Paths of files that are not there. */
  readonly missing: readonly string[];
}

/**
 * Digests files, several at once.
 * @param paths Relative to `folder`, with forward slashes.
 * @throws MlperfError `ERR_DATA_SET` naming a file that is there and cannot be read.
 */
export async function hashFiles(
  folder: string,
  paths: readonly string[],
  onProgress: PrepareProgress,
): Promise<HashedFiles> {
  const digests: (string | undefined)[] = new Array<undefined>(paths.length).fill(undefined);
  const buffers = Array.from({ length: FILES_AT_ONCE }, () => Buffer.allocUnsafe(READ_BYTES));
  let doneCount = 0;
  await forEachIndex(paths.length, FILES_AT_ONCE, async (i) => {
    const buffer = buffers.pop() as Buffer<ArrayBuffer>;
    digests[i] = await hashFile(join(folder, paths[i] as string), buffer);
    buffers.push(buffer);
    doneCount += 1;
    if (doneCount % PROGRESS_STEP === 0) {
      onProgress(doneCount / paths.length, `checking ${paths.length} files in ${folder}`);
    }
  });
  const checksums = new Map<string, string>();
  const missing: string[] = [];
  for (const [i, path] of paths.entries()) {
    const digest = digests[i];
    if (digest === undefined) missing.push(path);
    else checksums.set(path, digest);
  }
  return { checksums, missing };
}

/** @returns undefined when there is no such file. */
async function hashFile(path: string, buffer: Buffer<ArrayBuffer>): Promise<string | undefined> {
  const hash = createHash('sha256');
  try {
    const file = await open(path);
    try {
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length);
        if (bytesRead === 0) break;
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw dataSetError(`${path}: ${describeSystemError(error)}`, error);
  }
  return hash.digest('hex');
}
