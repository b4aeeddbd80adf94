import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { MlperfError } from '../../shared/errors/mlperf-error.ts';
import { describeSystemError } from '../../shared/errors/to-mlperf-error.ts';

/** One response out of an accuracy log. */
export interface AccuracyLogEntry {
  readonly seqId: number;
  /** Index in the sample library. */
  readonly sampleIndex: number;
  readonly response: Uint8Array;
}

/** Entry up to its data, and what may follow them. The data are cut out, not matched: they may be long. */
const ENTRY_BEGIN = /^\{ "seq_id" : (\d{1,16}), "qsl_idx" : (\d{1,16}), "data" : "/;
const ENTRY_END = /^(?:, "token_data" : "[^"]*")?(?:, "token_count" : \d+)? \}(,?)$/;

/**
 * Reads `mlperf_log_accuracy.json` line by line, so that a large log never lies in memory.
 * @throws MlperfError `ERR_OUTPUT` that names file and line when the log cannot be read, is damaged or
 *   was cut off: a score of half a log would be a wrong number.
 */
export async function* readAccuracyLog(path: string): AsyncGenerator<AccuracyLogEntry> {
  const stream = createReadStream(path);
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  const reader = new LineReader(path);
  try {
    for await (const line of lines) {
      const entry = reader.next(line);
      if (entry !== null) yield entry;
    }
  } catch (error) {
    if (error instanceof MlperfError) throw error;
    const text = `cannot read the accuracy log ${path}: ${describeSystemError(error)}`;
    throw new MlperfError('ERR_OUTPUT', text, { cause: error });
  } finally {
    stream.destroy();
  }
  reader.end();
}

/** What may come next: `[`, then entries of which all but the last end in a comma, then `]`. */
class LineReader {
  readonly #path: string;
  #lineNumber = 0;
  #expects: 'begin' | 'entry-or-end' | 'entry' | 'end' | 'nothing' = 'begin';

  constructor(path: string) {
    this.#path = path;
  }

  next(line: string): AccuracyLogEntry | null {
    this.#lineNumber += 1;
    if (line === '[' && this.#expects === 'begin') {
      this.#expects = 'entry-or-end';
      return null;
    }
    if (line === ']' && (this.#expects === 'end' || this.#expects === 'entry-or-end')) {
      this.#expects = 'nothing';
      return null;
    }
    if (this.#expects === 'entry' || this.#expects === 'entry-or-end') return this.#entry(line);
    throw this.#damaged(`unexpected ${JSON.stringify(line.slice(0, 60))}`);
  }

  end(): void {
    if (this.#expects !== 'nothing') throw this.#damaged('the list does not end: it was cut off');
  }

  #entry(line: string): AccuracyLogEntry {
    const begin = ENTRY_BEGIN.exec(line);
    const dataBegin = begin?.[0].length ?? 0;
    const dataEnd = line.indexOf('"', dataBegin);
    const ending = begin === null || dataEnd < 0 ? null : ENTRY_END.exec(line.slice(dataEnd + 1));
    if (begin === null || ending === null) {
      throw this.#damaged(`not an entry of the log: ${JSON.stringify(line.slice(0, 60))}`);
    }
    const response = Buffer.from(line.slice(dataBegin, dataEnd), 'hex');
    if (response.length * 2 !== dataEnd - dataBegin) {
      throw this.#damaged(`the data of sample ${begin[2]} are not pairs of hexadecimal digits`);
    }
    this.#expects = ending[1] === '' ? 'end' : 'entry';
    return { seqId: Number(begin[1]), sampleIndex: Number(begin[2]), response };
  }

  #damaged(what: string): MlperfError {
    return new MlperfError(
      'ERR_OUTPUT',
      `the accuracy log ${this.#path} is damaged at line ${this.#lineNumber}: ${what}`,
    );
  }
}
