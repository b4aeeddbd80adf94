import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { type MlperfError, outputError } from '../../../../shared/base/errors/mlperf-error.ts';
import type { LoggedResponse, LoggedTokens } from '../../recorder/response-recorder.ts';

/** Buffered characters above which a file is written even between two calls of `flush`. */
const HELD_CHARACTERS_MAX = 1 << 20;

/**
 * A log file that is written in large pieces, outside the timed region.
 *
 * Only the constructor throws: a full disk must neither look like a broken SUT nor cost a result.
 * The first failure is stored.
 */
export class LogFile {
  readonly path: string;
  readonly #descriptor: number;
  readonly #copyTo: ((text: string) => void) | null;
  #held = '';
  #failure: MlperfError | null = null;
  #isOpen = true;

  /**
   * @param copyTo Receives a copy of what is written, piece by piece.
   * @throws MlperfError `ERR_OUTPUT` if the file cannot be opened for writing.
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
    if (this.#held.length > HELD_CHARACTERS_MAX) this.flush();
  }

  /** Why the file is incomplete (`ERR_OUTPUT`); null if all writes so far succeeded. */
  get failure(): MlperfError | null {
    return this.#failure;
  }

  /** Writes the rest and closes the file. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.flush();
    this.#try(() => {
      const { nlink } = fstatSync(this.#descriptor);
      closeSync(this.#descriptor);
      if (nlink === 0) throw new Error('it was removed while the test ran');
    });
  }

  flush(): void {
    const bytes = Buffer.from(this.#held);
    if (this.#held !== '') this.#copyTo?.(this.#held);
    this.#held = '';
    if (this.#failure !== null) return;
    this.#try(() => {
      let written = 0;
      while (written < bytes.length) {
        written += writeSync(this.#descriptor, bytes, written, bytes.length - written);
      }
    });
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failure ??= outputError(`cannot write the log file ${this.path}`, error);
    }
  }
}

/** `mlperf_log_accuracy.json`: the logged responses, in order of arrival (LoadGen: logging.cc). */
export class AccuracyLog {
  readonly #file: LogFile;
  #entryCount = 0;
  #isEnded = false;

  constructor(file: LogFile) {
    this.#file = file;
    file.append('[');
  }

  /** Writes one response. Blanks and upper-case digits are as in LoadGen: scripts compare lines. */
  write({ responseId, sampleIndex, bytes, tokens }: LoggedResponse): void {
    this.#file.append(
      `${this.#entryCount === 0 ? '' : ','}\n` +
        `{ "seq_id" : ${responseId}, "qsl_idx" : ${sampleIndex}, "data" : "`,
    );
    for (const digits of hexOf(bytes)) this.#file.append(digits);
    this.#file.append(`"${tokens === null ? '' : tokenFields(tokens)} }`);
    this.#entryCount += 1;
  }

  /** Ends the list, once; do not write after it. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#file.append('\n]\n');
  }
}

function tokenFields({ count, firstToken }: LoggedTokens): string {
  const first = firstToken === null ? '' : `, "token_data" : "${[...hexOf(firstToken)].join('')}"`;
  return `${first}, "token_count" : ${count}`;
}

/** Bytes converted to hex at once: a whole 3D-UNet volume would take several times its size. */
const HEX_BYTES_MAX = 1 << 19;

function* hexOf({ buffer, byteOffset, byteLength }: Uint8Array): Generator<string> {
  for (let at = 0; at < byteLength; at += HEX_BYTES_MAX) {
    const length = Math.min(HEX_BYTES_MAX, byteLength - at);
    yield Buffer.from(buffer, byteOffset + at, length)
      .toString('hex')
      .toUpperCase();
  }
}

/** Values shown with an event. */
type TraceArguments = Readonly<Record<string, number>>;

/** Event of a chrome trace; times in ns since the origin. */
interface TraceEvent {
  readonly name: string;
  readonly phase: 'X' | 'b' | 'e' | 'C';
  readonly atNs: number;
  readonly durationNs?: number;
  /** Links the begin and the end event of a span. */
  readonly id?: number;
  readonly args?: TraceArguments;
}

/**
 * `mlperf_log_trace.json`: events for chrome://tracing (LoadGen: logging.cc). Unlike LoadGen's it
 * is valid JSON; it is written from the records after a set, so it costs nothing in the timed
 * region.
 */
export class TraceLog {
  readonly #file: LogFile;
  readonly #epochUs: number;

  /** @param epochUs Wall clock at time 0 of the trace, in µs. */
  constructor(file: LogFile, epochUs: number) {
    this.#file = file;
    this.#epochUs = epochUs;
    file.append('{"traceEvents":[\n');
  }

  /** Adds a span of LoadGen's own work, from `beginNs` on. */
  span(name: string, beginNs: number, durationNs: number, args: TraceArguments = {}): void {
    this.#event({ name, phase: 'X', atNs: beginNs, durationNs, args });
  }

  /** Adds the span of a sample, which may overlap those of others. */
  sampleSpan(name: string, beginNs: number, endNs: number, args: TraceArguments): void {
    const id = args['sample_seq'] ?? 0;
    this.#event({ name, phase: 'b', atNs: beginNs, id });
    this.#event({ name, phase: 'e', atNs: endNs, id, args });
  }

  /** Adds values to plot over time. */
  counter(name: string, atNs: number, args: TraceArguments): void {
    this.#event({ name, phase: 'C', atNs, args });
  }

  /** Ends the document; do not write after it. */
  end(): void {
    this.#file.append(
      '{"name":"LastTrace"}\n],\n"displayTimeUnit":"ns",\n"otherData":{' +
        `"ts":${this.#epochUs},"version":"MLPerf LoadGen v1.0"}\n}\n`,
    );
  }

  #event({ name, phase, atNs, durationNs, id, args }: TraceEvent): void {
    const span = durationNs === undefined ? '' : `,"dur":${microseconds(durationNs)}`;
    const identity = id === undefined ? '' : `,"cat":"default","id":${id}`;
    const values = args === undefined ? '' : `,"args":${JSON.stringify(args)}`;
    this.#file.append(
      `{"name":"${name}","ph":"${phase}"${identity},"pid":${process.pid},"tid":${process.pid},` +
        `"ts":${microseconds(atNs)}${span}${values}},\n`,
    );
  }
}

/** Three decimals, as in LoadGen. */
function microseconds(ns: number): string {
  return (ns / 1000).toFixed(3);
}
