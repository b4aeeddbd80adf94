import { createReadStream } from 'node:fs';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';

/** Longest line that is kept whole, in bytes; of a longer one its beginning is given. */
const LINE_BYTES_MAX = 2 ** 20;

const NEWLINE = 0x0a;

/** One line of a log. */
export interface LogLine {
  /** From 1. */
  readonly number: number;
  /** Without its end; cut at {@link LINE_BYTES_MAX}. */
  readonly text: string;
  readonly isCut: boolean;
  /** False for a last line without a newline behind it: the file may have been cut off there. */
  readonly isEnded: boolean;
}

/**
 * Reads a text file line by line. Memory stays bounded whatever the file is: no line is kept beyond 1 MiB.
 * @throws MlperfError `ERR_OUTPUT` when the file cannot be read.
 */
export async function* readLogLines(path: string): AsyncGenerator<LogLine> {
  const line = new LineBuffer();
  try {
    for await (const chunk of createReadStream(path)) yield* line.add(chunk as Buffer);
  } catch (error) {
    const text = `cannot read ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_OUTPUT', text, { cause: error });
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
    const text = Buffer.concat(this.#pieces).toString('utf8').replace(/\r$/, '');
    const line = { number: this.#number, text, isCut: this.#isCut, isEnded };
    this.#pieces = [];
    this.#bytes = 0;
    this.#isCut = false;
    return line;
  }
}
