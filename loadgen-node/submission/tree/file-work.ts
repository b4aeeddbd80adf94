import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, realpathSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { MlperfError, outputError } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder, statIfThere } from '../../../shared/base/files/read-file.ts';

/** Extension of a file being written; the next run overwrites that of an interrupted one. */
const UNFINISHED = '.unfinished';

/** Bytes per read. */
const READ_BYTES = 2 ** 20;

/** SHA-256 of a file in hexadecimal, streamed. @throws MlperfError `ERR_OUTPUT` */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await orFail('read', path, async () => {
    for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
      hash.update(chunk as Buffer);
    }
  });
  return hash.digest('hex');
}

/**
 * Replaces a file's content atomically by a rename: a reader, or the next run, finds either the old
 * or the new text.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  await orFail('write', path, async () => {
    await writeFile(path + UNFINISHED, text);
    await rename(path + UNFINISHED, path);
  });
}

/**
 * Copies a file (streamed), creating its folder, and verifies the copied content.
 * @throws MlperfError `ERR_OUTPUT` if it cannot, or if the SHA-256 differs: then no file is
 *   created.
 */
export async function copyChecked(from: string, to: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await orFail('write', to, async () => {
    makeFolder(dirname(to));
    await pipeline(
      createReadStream(from, { highWaterMark: READ_BYTES }),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      // Its original may be truncated next, so the copy must be on the disk.
      createWriteStream(to + UNFINISHED, { flush: true }),
    );
  });
  const seen = hash.digest('hex');
  if (seen !== sha256) {
    const text = `${from} has SHA-256 ${seen}, not ${sha256}: it was changed`;
    throw new MlperfError('ERR_OUTPUT', text);
  }
  await orFail('write', to, () => rename(to + UNFINISHED, to));
}

/** Text of a file; empty if it does not exist. @throws MlperfError `ERR_OUTPUT` */
export async function readTextIfThere(path: string): Promise<string> {
  return existsSync(path) ? orFail('read', path, () => readFile(path, 'utf8')) : '';
}

/** Runs `work` on a file. @throws MlperfError `ERR_OUTPUT` with verb and path in its message */
export async function orFail<T>(verb: 'read' | 'write', path: string, work: () => T | Promise<T>) {
  try {
    return await work();
  } catch (error) {
    throw outputError(`cannot ${verb} ${path}`, error);
  }
}

/** True if a path is a folder or inside it, with links followed as far as the path exists. */
export function isWithin(path: string, folder: string): boolean {
  const real = realPath(resolve(path));
  const parent = realPath(resolve(folder));
  return real === parent || real.startsWith(parent.endsWith(sep) ? parent : parent + sep);
}

function realPath(path: string): string {
  const parts = path.split(sep);
  for (let count = parts.length; count > 0; count -= 1) {
    const above = parts.slice(0, count).join(sep) || sep;
    if (existsSync(above)) return join(realpathSync(above), ...parts.slice(count));
  }
  return path;
}

/** True for an existing, non-empty file. */
export function hasContent(path: string): boolean {
  return (statIfThere(path)?.size ?? 0) > 0;
}
