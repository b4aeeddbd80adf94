import { jsonText } from '../../../../shared/base/text.ts';
import { formatGeneral, formatUint64 } from '../../base/number-format.ts';
import type { LogFile } from './log-file.ts';

/** Whole numbers of a line; 64-bit ones as bigint, so that no digit is lost. */
type Integer = number | bigint;

interface LineFlags {
  readonly isError?: boolean;
  readonly isWarning?: boolean;
}

/**
 * `mlperf_log_detail.txt`: one JSON object per line after `:::MLLOG` (LoadGen: logging.cc). Unlike
 * LoadGen's, every line is valid JSON, whatever a name or text contains.
 */
export class DetailLog {
  readonly #file: Pick<LogFile, 'append'>;
  readonly #elapsedNs: () => number;
  #errorCount = 0;
  #warningCount = 0;

  /** @param elapsedNs Time since logging began, in ns. */
  constructor(file: Pick<LogFile, 'append'>, elapsedNs: () => number) {
    this.#file = file;
    this.#elapsedNs = elapsedNs;
  }

  /** Error lines so far. */
  get errorCount(): number {
    return this.#errorCount;
  }

  /** Warning lines so far. */
  get warningCount(): number {
    return this.#warningCount;
  }

  text(key: string, value: string): void {
    this.#line(key, jsonText(value));
  }

  integer(key: string, value: Integer): void {
    this.#line(key, formatUint64(value));
  }

  /**
   * Six significant digits, as in LoadGen. Values that JSON lacks (infinite, not a number) become
   * null.
   */
  double(key: string, value: number): void {
    this.#line(key, Number.isFinite(value) ? formatGeneral(value) : 'null');
  }

  boolean(key: string, value: boolean): void {
    this.#line(key, String(value));
  }

  /** A list of whole numbers, without blanks. */
  list(key: string, values: Uint32Array): void {
    this.#line(key, `[${values.join(',')}]`);
  }

  map(key: string, entries: Readonly<Record<string, string>>): void {
    this.#line(key, jsonText(entries));
  }

  message(value: string): void {
    this.text('generic_message', value);
  }

  warning(value: string): void {
    this.#warningCount += 1;
    this.#line('warning_generic_message', jsonText(value), { isWarning: true });
  }

  /**
   * @param key LoadGen's key: `error_runtime`, `error_invalid_test_settings` or
   *   `error_invalid_config`.
   */
  error(key: string, value: string): void {
    this.#errorCount += 1;
    this.#line(key, jsonText(value), { isError: true });
  }

  #line(key: string, json: string, { isError = false, isWarning = false }: LineFlags = {}): void {
    const elapsedNs = this.#elapsedNs();
    const wholeMs = Math.floor(elapsedNs / 1e6);
    const restNs = String(elapsedNs - wholeMs * 1e6).padStart(6, '0');
    this.#file.append(
      `:::MLLOG {"key": ${jsonText(key)}, "value": ${json}, "time_ms": ${wholeMs}.${restNs}, ` +
        '"namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": ' +
        `{"is_error": ${isError}, "is_warning": ${isWarning}, "file": "detail-log.ts", ` +
        `"line_no": 0, "pid": ${process.pid}, "tid": ${process.pid}}}\n`,
    );
  }
}
