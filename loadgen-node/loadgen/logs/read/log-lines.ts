import { isUtf8 } from 'node:buffer';
import { outputError } from '../../../../shared/base/errors/mlperf-error.ts';
import { readLines } from '../../base/read-lines.ts';

/**
 * Longest line stored whole, in bytes; longer ones are cut. LoadGen writes lists of sample indices
 * into one line: three million of them fit.
 */
export const LINE_BYTES_MAX: number = 2 ** 25;

const RETURN = 0x0d;

/** One line of a log. */
export interface LogLine {
  /** From 1. */
  readonly number: number;
  /** Content without its end (LF or CR LF); cut at {@link LINE_BYTES_MAX}. */
  readonly text: string;
  readonly isCut: boolean;
  /** False if the bytes are not UTF-8: the official tools stop at such a line. */
  readonly isUtf8: boolean;
  /** False for a last line without a newline: the file may have been truncated there. */
  readonly isEnded: boolean;
}

/**
 * Reads a text file line by line. Memory stays bounded: at most 32 MiB of a line are stored.
 * @throws MlperfError `ERR_OUTPUT` if the file cannot be read.
 */
export async function* readLogLines(path: string): AsyncGenerator<LogLine> {
  try {
    for await (const { number, bytes, isCut, isEnded } of readLines(path, LINE_BYTES_MAX)) {
      const line = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
      // The cut may split a character.
      const isText = isCut || isUtf8(line);
      yield { number, text: line.toString('utf8'), isCut, isUtf8: isText, isEnded };
    }
  } catch (error) {
    throw outputError(`cannot read ${path}`, error);
  }
}
