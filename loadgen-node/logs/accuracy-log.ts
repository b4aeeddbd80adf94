import type { LoggedResponse } from '../recorder/response-recorder.ts';
import type { LogFile } from './log-file.ts';

/** `mlperf_log_accuracy.json`: the logged responses, in the order in which they came (LoadGen: logging.cc). */
export class AccuracyLog {
  readonly #file: LogFile;
  #entryCount = 0;
  #isEnded = false;

  constructor(file: LogFile) {
    this.#file = file;
    file.append('[');
  }

  /** Writes one response. Blanks and upper-case digits as LoadGen's: scripts compare lines. */
  write({ responseId, sampleIndex, bytes }: LoggedResponse): void {
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
    this.#file.append(
      `${this.#entryCount === 0 ? '' : ','}\n` +
        `{ "seq_id" : ${responseId}, "qsl_idx" : ${sampleIndex}, "data" : "${hex.toUpperCase()}" }`,
    );
    this.#entryCount += 1;
  }

  /** Ends the list, once; nothing may be written afterwards. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#file.append('\n]\n');
  }
}
