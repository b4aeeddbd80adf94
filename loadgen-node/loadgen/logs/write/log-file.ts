import { closeSync, openSync, writeSync } from 'node:fs';
import type { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { outputError } from '../../../../shared/base/errors/to-mlperf-error.ts';

/** Held text above which a file is written even between two calls of `flush`. */
const HELD_CHARACTERS_MAX = 1 << 20;

/**
 * A log file that is written in large pieces, outside the timed region.
 *
 * `append` never throws: while queries run, a full disk must not look like a broken SUT. The first
 * failure is kept and thrown by `flush` and `close`.
 */
export class LogFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #copyTo: ((text: string) => void) | null;
  #held = '';
  #failure: MlperfError | null = null;
  #isOpen = true;

  /**
   * @param copyTo Gets what is written as well, piece by piece.
   * @throws MlperfError `ERR_OUTPUT` when the file cannot be opened for writing.
   */
  constructor(path: string, copyTo: ((text: string) => void) | null = null) {
    this.path = path;
    this.#copyTo = copyTo;
    try {
      this.#descriptor = openSync(path, 'w');
    } catch (error) {
      throw outputError(`cannot write the log file ${path}`, error);
    }
  }

  append(text: string): void {
    this.#held += text;
    if (this.#held.length > HELD_CHARACTERS_MAX) this.#writeHeld();
  }

  /** @throws MlperfError `ERR_OUTPUT` when something could not be written, now or before. */
  flush(): void {
    this.#writeHeld();
    if (this.#failure !== null) throw this.#failure;
  }

  /** Writes the rest and closes the file. @throws MlperfError `ERR_OUTPUT`, as `flush`. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.flush();
    } finally {
      closeSync(this.#descriptor);
    }
  }

  #writeHeld(): void {
    const bytes = Buffer.from(this.#held);
    if (this.#held !== '') this.#copyTo?.(this.#held);
    this.#held = '';
    if (this.#failure !== null) return;
    try {
      let written = 0;
      while (written < bytes.length) {
        written += writeSync(this.#descriptor, bytes, written, bytes.length - written);
      }
    } catch (error) {
      this.#failure = outputError(`cannot write the log file ${this.path}`, error);
    }
  }
}
