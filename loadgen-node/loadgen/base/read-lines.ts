import { createReadStream } from 'node:fs';

/** Bytes per read. */
const READ_BYTES = 2 ** 18;

const NEWLINE = 0x0a;

/** Line of a file. */
export interface FileLine {
  /** Line number, from 1. */
  readonly number: number;
  /** Byte offset of the line in the file. */
  readonly offset: number;
  /** Content without the newline. */
  readonly bytes: Buffer;
  /** True if the line is longer than `bytesMax`: `bytes` is its beginning, the rest is dropped. */
  readonly isCut: boolean;
  /** False for a last line without a newline. */
  readonly isEnded: boolean;
}

/**
 * Reads a file line by line, streamed.
 * @param bytesMax Longest line in bytes; longer ones are cut.
 * @throws File system errors, unchanged.
 */
export async function* readLines(path: string, bytesMax: number): AsyncGenerator<FileLine> {
  const lines = new LineCutter(bytesMax);
  const stream = createReadStream(path, { highWaterMark: READ_BYTES });
  for await (const chunk of stream) yield* lines.add(chunk as Buffer);
  yield* lines.rest();
}

class LineCutter {
  readonly #bytesMax: number;
  #number = 1;
  #offset = 0;
  #pieces: Buffer[] = [];
  #lineBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  *add(chunk: Buffer): Generator<FileLine> {
    let begin = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, begin);
      const wasCut = this.#isCut;
      this.#keep(chunk.subarray(begin, end < 0 ? chunk.length : end));
      // A line that is too long is yielded at once: its end may be far away.
      if (this.#isCut ? !wasCut : end >= 0) yield this.#line(true);
      if (end < 0) return;
      this.#offset += this.#lineBytes + 1;
      this.#number += 1;
      this.#lineBytes = 0;
      begin = end + 1;
    }
  }

  *rest(): Generator<FileLine> {
    if (this.#lineBytes > 0 && !this.#isCut) yield this.#line(false);
  }

  get #isCut(): boolean {
    return this.#lineBytes > this.#bytesMax;
  }

  #keep(piece: Buffer): void {
    const kept = piece.subarray(0, Math.max(0, this.#bytesMax - this.#lineBytes));
    if (kept.length > 0) this.#pieces.push(kept);
    this.#lineBytes += piece.length;
  }

  #line(isEnded: boolean): FileLine {
    const [first] = this.#pieces;
    const bytes = this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    return { number: this.#number, offset: this.#offset, bytes, isCut: this.#isCut, isEnded };
  }
}
