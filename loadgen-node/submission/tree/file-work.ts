import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, realpathSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { MlperfError, outputError } from '../../../shared/base/errors/mlperf-error.ts';
import { makeFolder, statIfThere } from '../../../shared/base/files/read-file.ts';

/**
 * Ending of a file that is being written; one of an interrupted run is written over by the next.
 */
const UNFINISHED = '.unfinished';

/** Bytes that are read at once. */
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
 * Puts a text in a file's place by one rename: a reader, or the next run, finds the old one or the
 * new one.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  await orFail('write', path, async () => {
    await writeFile(path + UNFINISHED, text);
    await rename(path + UNFINISHED, path);
  });
}

/**
 * Copies a file, streamed, and its folder with it, and looks at what it copies.
 * @throws MlperfError `ERR_OUTPUT` when it cannot, or when the file has another SHA-256 than that:
 *   then no file is at the new place.
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
      // Its original may be truncated next, so the copy has to be on the disk.
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

/** Text of a file; empty where there is none. @throws MlperfError `ERR_OUTPUT` */
export async function readTextIfThere(path: string): Promise<string> {
  return existsSync(path) ? orFail('read', path, () => readFile(path, 'utf8')) : '';
}

/**
 * Does something to a file. @throws MlperfError `ERR_OUTPUT` with the verb and the path in its
 * message
 */
export async function orFail<T>(verb: 'read' | 'write', path: string, work: () => T | Promise<T>) {
  try {
    return await work();
  } catch (error) {
    throw outputError(`cannot ${verb} ${path}`, error);
  }
}

/** True where a path is a folder or in it, links followed as far as the path exists. */
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

/** True for a file that is there and not empty. */
export function hasContent(path: string): boolean {
  return (statIfThere(path)?.size ?? 0) > 0;
}
