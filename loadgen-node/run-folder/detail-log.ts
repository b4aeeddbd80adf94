import { type LogLine, readLogLines } from './log-lines.ts';

/** Mark at the beginning of each record of LoadGen's detail log. */
export const DETAIL_MARK = ':::MLLOG';

/** Errors and damages that are kept with their text; more are only counted. */
const KEPT_MAX = 20;

/** The first record of a key: the official checkers go by it. */
export interface DetailRecord {
  readonly key: string;
  /** As JSON has it; whole numbers beyond 2^53 as bigint, so that 64-bit seeds stay what they are. */
  readonly value: unknown;
  /** Line in the file, from 1. */
  readonly line: number;
}

/** What is wrong with a line of a log. */
export interface LogDamage {
  readonly line: number;
  readonly text: string;
}

/** A detail log that was read to its end, ours or that of the C++ LoadGen. */
export interface DetailLog {
  readonly path: string;
  readonly lineCount: number;
  /** False where the first line is no record: the newer official checkers refuse such a file. */
  readonly beginsWithRecord: boolean;
  /** First record of every key. */
  readonly records: ReadonlyMap<string, DetailRecord>;
  /** Records that LoadGen marked as errors; the first 20. */
  readonly errors: readonly DetailRecord[];
  readonly errorCount: number;
  /** Lines with the mark that are no record (bad JSON, cut off); the first 20. */
  readonly damages: readonly LogDamage[];
  readonly damageCount: number;
}

/**
 * Reads `mlperf_log_detail.txt`. Streamed: a file of gigabytes takes no more memory than a small one.
 * Damaged lines are told, never passed over.
 * @throws MlperfError `ERR_OUTPUT` when the file cannot be read.
 */
export async function readDetailLog(path: string): Promise<DetailLog> {
  const reading = new DetailReading();
  for await (const line of readLogLines(path)) reading.add(line);
  return { path, ...reading.result() };
}

class DetailReading {
  readonly #records = new Map<string, DetailRecord>();
  readonly #errors: DetailRecord[] = [];
  readonly #damages: LogDamage[] = [];
  #lineCount = 0;
  #errorCount = 0;
  #damageCount = 0;
  #beginsWithRecord = false;

  add(line: LogLine): void {
    this.#lineCount = line.number;
    if (!line.text.startsWith(DETAIL_MARK)) return;
    if (line.number === 1) this.#beginsWithRecord = true;
    const read = readRecord(line);
    if (typeof read === 'string') {
      this.#damageCount += 1;
      if (this.#damages.length < KEPT_MAX) this.#damages.push({ line: line.number, text: read });
      return;
    }
    const { isError, ...record } = read;
    if (!this.#records.has(record.key)) this.#records.set(record.key, record);
    if (!isError) return;
    this.#errorCount += 1;
    if (this.#errors.length < KEPT_MAX) this.#errors.push(record);
  }

  result(): Omit<DetailLog, 'path'> {
    return {
      lineCount: this.#lineCount,
      beginsWithRecord: this.#beginsWithRecord,
      records: this.#records,
      errors: this.#errors,
      errorCount: this.#errorCount,
      damages: this.#damages,
      damageCount: this.#damageCount,
    };
  }
}

/** @returns What is wrong, in words, where the line is no record. */
function readRecord(line: LogLine): (DetailRecord & { isError: boolean }) | string {
  if (line.isCut) return 'the line is longer than 1 MiB';
  let parsed: unknown;
  try {
    parsed = JSON.parse(line.text.slice(DETAIL_MARK.length));
  } catch {
    return line.isEnded ? 'what follows the mark is not JSON' : 'the file ends inside a record';
  }
  if (typeof parsed !== 'object' || parsed === null) return 'what follows the mark is no record';
  const { key, value, metadata } = parsed as Record<string, unknown>;
  if (typeof key !== 'string') return 'the record has no key';
  if (typeof metadata !== 'object' || metadata === null) return 'the record has no metadata';
  const isError = (metadata as Record<string, unknown>)['is_error'] === true;
  return { key, value: exactValue(line.text, value), line: line.number, isError };
}

/** Digits of a whole number that stands as the record's value. */
const WHOLE_VALUE = /"value"\s*:\s*(-?\d{16,})\s*[,}]/;

/** JSON.parse rounds whole numbers beyond 2^53: they are read from the text again. */
function exactValue(text: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const digits = WHOLE_VALUE.exec(text)?.[1];
  return digits === undefined ? value : BigInt(digits);
}
