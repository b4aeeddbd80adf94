import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { utf8Text } from '../../../../shared/base/bytes/utf8.ts';
import { dataSetError } from '../../../../shared/base/errors/mlperf-error.ts';
import { type PrepareProgress, readingFile } from '../../data-set/data-set.ts';

/** Sentences to translate, and their translations, one per line. */
export const SOURCE_FILE = 'newstest2014.tok.bpe.32000.en';
export const REFERENCE_FILE = 'newstest2014.tok.bpe.32000.de';

/** Optional: the repeated sentences of a performance run. */
export const LARGE_FILE: string = `${SOURCE_FILE}.large`;

/** Number of repetitions of all sentences in {@link LARGE_FILE}. */
export const TEXT_REPEATS = 1300;

/** MD5 of the official files. Source: r0.5, translation/gnmt/tensorflow/verify_dataset.sh. */
const MD5: Readonly<Record<string, string>> = {
  [SOURCE_FILE]: 'cb014e2509f86cd81d5a87c240c07464',
  [REFERENCE_FILE]: 'd616740f6026dc493e66efdf9ac1cb04',
};

/** Line ends by Python's splitlines(), which the official scripts use. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python's splitlines() splits there.
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** Lines of a file. */
export interface TextLines {
  readonly lines: readonly string[];
  /** True if the file is the official one, by MD5. */
  readonly isOfficial: boolean;
}

/**
 * Reads one of the data set's two files.
 * @throws MlperfError `ERR_DATA_SET` if it cannot be read, is not UTF-8 or has no line.
 */
export async function readTextLines(folder: string, file: string): Promise<TextLines> {
  const path = join(folder, file);
  const bytes = await readingFile(path, () => readFile(path));
  const lines = utf8Text(bytes, path).split(LINE_END);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length === 0) throw dataSetError(`${path} has no line`);
  const isOfficial = createHash('md5').update(bytes).digest('hex') === MD5[file];
  return { lines, isOfficial };
}

/** @throws MlperfError `ERR_DATA_SET` with the first line without a word: a sample needs one. */
export function requireWords(path: string, lines: readonly string[]): void {
  const empty = lines.findIndex((line) => /^ *$/.test(line));
  if (empty >= 0) throw dataSetError(`${path}, line ${empty + 1}: it has no word to translate`);
}

/**
 * Compares the performance file, if it exists, with what longhaul sends instead: the source file's
 * lines 1,300 times. Streamed.
 * @returns True if the file exists.
 * @throws MlperfError `ERR_DATA_SET` if its content differs.
 */
export async function checkLargeFile(
  folder: string,
  onProgress: PrepareProgress,
): Promise<boolean> {
  const path = join(folder, LARGE_FILE);
  if (!existsSync(path)) return false;
  const round = await readFile(join(folder, SOURCE_FILE));
  const total = round.length * TEXT_REPEATS;
  await readingFile(path, async () => {
    let position = 0;
    for await (const chunk of createReadStream(path, { highWaterMark: 4 * 1024 * 1024 })) {
      for (let done = 0; done < chunk.length; ) {
        const at = (position + done) % round.length;
        const count = Math.min(chunk.length - done, round.length - at);
        if (chunk.compare(round, at, at + count, done, done + count) !== 0) throw otherLarge(path);
        done += count;
      }
      position += chunk.length;
      onProgress(Math.min(1, position / total), `comparing ${LARGE_FILE}`);
    }
    if (position !== total) throw otherLarge(path);
  });
  return true;
}

function otherLarge(path: string): Error {
  return dataSetError(
    `${path} is not ${SOURCE_FILE} ${TEXT_REPEATS} times in a row: longhaul sends those lines; ` +
      'take it away, or put the official one there',
  );
}
