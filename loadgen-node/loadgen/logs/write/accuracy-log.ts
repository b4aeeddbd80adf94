import type { LoggedResponse, LoggedTokens } from '../../recorder/response-recorder.ts';
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
  write({ responseId, sampleIndex, bytes, tokens }: LoggedResponse): void {
    this.#file.append(
      `${this.#entryCount === 0 ? '' : ','}\n` +
        `{ "seq_id" : ${responseId}, "qsl_idx" : ${sampleIndex}, "data" : "${hexOf(bytes)}"` +
        `${tokens === null ? '' : tokenFields(tokens)} }`,
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

function tokenFields({ count, firstToken }: LoggedTokens): string {
  const first = firstToken === null ? '' : `, "token_data" : "${hexOf(firstToken)}"`;
  return `${first}, "token_count" : ${count}`;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('hex')
    .toUpperCase();
}
