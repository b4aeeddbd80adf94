import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { outputError } from '../../../../shared/base/errors/mlperf-error.ts';

/**
 * Longest line that is kept whole, in bytes; of a longer one its beginning is given. LoadGen writes lists of sample
 * indexes into one line: three million of them fit.
 */
export const LINE_BYTES_MAX: number = 2 ** 25;

/** Bytes that are read at once. */
const READ_BYTES = 2 ** 18;

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** One line of a log. */
export interface LogLine {
  /** From 1. */
  readonly number: number;
  /** Without its end (LF or CR LF); cut at {@link LINE_BYTES_MAX}. */
  readonly text: string;
  readonly isCut: boolean;
  /** False for bytes that are no text: the official tools end at such a line. */
  readonly isUtf8: boolean;
  /** False for a last line without a newline behind it: the file may have been cut off there. */
  readonly isEnded: boolean;
}

/**
 * Reads a text file line by line. Memory stays bounded whatever the file is: no line is kept beyond 32 MiB.
 * @throws MlperfError `ERR_OUTPUT` when the file cannot be read.
 */
export async function* readLogLines(path: string): AsyncGenerator<LogLine> {
  const line = new LineBuffer();
  try {
    const stream = createReadStream(path, { highWaterMark: READ_BYTES });
    for await (const chunk of stream) yield* line.add(chunk as Buffer);
  } catch (error) {
    throw outputError(`cannot read ${path}`, error);
  }
  yield* line.rest();
}

class LineBuffer {
  #number = 0;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  *add(chunk: Buffer): Generator<LogLine> {
    let begin = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, begin);
      this.#keep(chunk.subarray(begin, end < 0 ? chunk.length : end));
      if (end < 0) return;
      yield this.#take(true);
      begin = end + 1;
    }
  }

  *rest(): Generator<LogLine> {
    if (this.#bytes > 0 || this.#isCut) yield this.#take(false);
  }

  #keep(piece: Buffer): void {
    const room = LINE_BYTES_MAX - this.#bytes;
    const kept = piece.subarray(0, room);
    if (kept.length < piece.length) this.#isCut = true;
    if (kept.length === 0) return;
    this.#pieces.push(kept);
    this.#bytes += kept.length;
  }

  #take(isEnded: boolean): LogLine {
    this.#number += 1;
    const [first] = this.#pieces;
    const whole = this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
    const bytes = whole.at(-1) === RETURN ? whole.subarray(0, -1) : whole;
    const line = {
      ...{ number: this.#number, text: bytes.toString('utf8'), isCut: this.#isCut, isEnded },
      // What is cut may end within a character.
      isUtf8: this.#isCut || isUtf8(bytes),
    };
    this.#pieces = [];
    this.#bytes = 0;
    this.#isCut = false;
    return line;
  }
}
