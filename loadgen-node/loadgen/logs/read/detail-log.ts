import { dirname, join } from 'node:path';
import { LINE_BYTES_MAX, type LogLine, readLogLines } from './log-lines.ts';
import { OLD_MARK, OldDetailLog, type OldRecord, oldResults } from './old-log-form.ts';
import { RUN_FILES } from './run-folder.ts';

/** Mark at the beginning of each record of LoadGen's detail log. */
const DETAIL_MARK = ':::MLLOG';

/** Errors and damages stored with their text; further ones are only counted. */
const KEPT_MAX = 20;

/** Most characters of stored records; LoadGen's own need a thousandth of it, in any round. */
const RECORD_CHARACTERS_MAX = 2 ** 26;

/** Characters of a line that a message shows. */
const SHOWN_CHARACTERS = 60;

/**
 * Prefix of longhaul's own keys; one such key may occur several times, such as a model per SUT
 * node.
 */
const OWN_KEY = 'longhaul_';

const BYTE_ORDER_MARK = '\ufeff';

/** Damage of a log whose first record no official tool reads. */
export const MARKED_BYTE_ORDER =
  'the log begins with a byte order mark: the official tools do not see its first record';

/** Keys of settings and results, which have one value per log. */
const SINGLE_KEY = /^(?:effective|result)_|^(?:sut_name|early_stopping_met)$/;

/** The first record of a key, which the official checkers use. */
export interface DetailRecord {
  readonly key: string;
  /** JSON value; whole numbers beyond 2^53 as bigint, so 64-bit seeds keep all digits. */
  readonly value: unknown;
  /** Line in the file, from 1. */
  readonly line: number;
  /** The record is from the summary log: before v1.0 LoadGen wrote its results only there. */
  readonly isOfSummary?: true;
}

/** A damaged line of a log. */
export interface LogDamage {
  readonly line: number;
  readonly text: string;
}

/** A completely read detail log, of longhaul or of the C++ LoadGen. */
export interface ReadDetailLog extends Readonly<Log> {}

interface Log {
  readonly path: string;
  lineCount: number;
  /** False if the first line is not a record: the newer official checkers refuse such a file. */
  beginsWithRecord: boolean;
  /** True for the text form of LoadGen before v1.0. */
  isOldForm: boolean;
  /** First record of every key. */
  readonly records: Map<string, DetailRecord>;
  /** Characters of all stored record lines. */
  recordCharacters: number;
  /** longhaul's own records, in order; empty in a log of another LoadGen. */
  readonly ownRecords: DetailRecord[];
  /** The first 20 records that LoadGen marked as errors. */
  readonly errors: DetailRecord[];
  errorCount: number;
  /** The first 20 records that give a setting or a result a second, different value. */
  readonly repeats: DetailRecord[];
  /**
   * The first 20 lines that have the mark but hold no valid record (bad JSON, truncated), or that
   * are not UTF-8 text.
   */
  readonly damages: LogDamage[];
  damageCount: number;
}

function emptyLog(path: string): Log {
  return {
    path,
    lineCount: 0,
    beginsWithRecord: false,
    isOldForm: false,
    records: new Map(),
    recordCharacters: 0,
    ownRecords: [],
    errors: [],
    errorCount: 0,
    repeats: [],
    damages: [],
    damageCount: 0,
  };
}

/**
 * Reads `mlperf_log_detail.txt` in LoadGen's current form, or in the form before v1.0, whose
 * results come from the summary beside it. Streamed: memory does not grow with the file. Damaged
 * lines are always reported.
 * @throws MlperfError `ERR_OUTPUT` if the file cannot be read.
 */
export async function readDetailLog(path: string): Promise<ReadDetailLog> {
  const log = emptyLog(path);
  const old = new OldDetailLog();
  for await (const line of readLogLines(path)) addLine(log, line, old);
  if (!log.isOldForm) return log;
  for await (const { line, ...result } of oldResults(join(dirname(path), RUN_FILES.summary))) {
    addRecord(log, line, { ...result, line: line.number, isOfSummary: true });
  }
  return log;
}

/** True for a number of a log; values that a double would round are bigint. */
export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** First value of a key in a run's detail log; undefined if absent. */
export function recordOf({ detail }: { readonly detail: ReadDetailLog }, key: string): unknown {
  return detail.records.get(key)?.value;
}

/** A number in a run's detail log; undefined if the key is absent or not a number. */
export function numberOf(run: { readonly detail: ReadDetailLog }, key: string): number | undefined {
  const value = recordOf(run, key);
  return isNumber(value) ? Number(value) : undefined;
}

function addLine(log: Log, line: LogLine, old: OldDetailLog): void {
  log.lineCount = line.number;
  const isOld = line.text.startsWith(OLD_MARK) && (log.isOldForm || log.records.size === 0);
  if (!isOld && !line.text.startsWith(DETAIL_MARK)) {
    const damage = damageOfForeignLine(line);
    if (damage !== undefined) addDamage(log, line, damage);
    old.continue(line.text);
    return;
  }
  if (line.number === 1) log.beginsWithRecord = true;
  if (isOld) log.isOldForm = true;
  const read = damageOfRecord(line) ?? (isOld ? old.read(line) : readRecord(line));
  if (typeof read === 'string') {
    addDamage(log, line, read);
    return;
  }
  const records = read.records.map((record) => ({ ...record, line: line.number }));
  for (const record of records) addRecord(log, line, record);
  if (!read.isError) return;
  log.errorCount += 1;
  if (log.errors.length < KEPT_MAX) log.errors.push(...records);
}

/**
 * Stores the first record per key. Memory stays bounded even if a file of gigabytes has ever new
 * keys.
 */
function addRecord(log: Log, line: LogLine, record: DetailRecord): void {
  const isOwn = record.key.startsWith(OWN_KEY);
  const first = log.records.get(record.key);
  if (first !== undefined && !isOwn) {
    if (isOther(record, first) && log.repeats.length < KEPT_MAX) log.repeats.push(record);
    return;
  }
  log.recordCharacters += line.text.length;
  if (log.recordCharacters > RECORD_CHARACTERS_MAX) {
    addDamage(log, line, `more than ${RECORD_CHARACTERS_MAX} characters of different records`);
    return;
  }
  if (first === undefined) log.records.set(record.key, record);
  if (isOwn) log.ownRecords.push(record);
}

function addDamage(log: Log, { number }: LogLine, text: string): void {
  log.damageCount += 1;
  if (log.damages.length < KEPT_MAX) log.damages.push({ line: number, text });
}

/** Damage for a line without the mark: such lines may be in the log, but must not be all of it. */
function damageOfForeignLine(line: LogLine): string | undefined {
  if (!line.isUtf8) return notUtf8(line, 'line');
  return line.text.startsWith(BYTE_ORDER_MARK + DETAIL_MARK) ? MARKED_BYTE_ORDER : undefined;
}

function isOther({ key, value }: DetailRecord, first: DetailRecord): boolean {
  return SINGLE_KEY.test(key) && String(value) !== String(first.value);
}

function damageOfRecord(line: LogLine): string | undefined {
  if (line.isCut) return `the line is longer than ${LINE_BYTES_MAX} bytes`;
  return line.isUtf8 ? undefined : notUtf8(line, 'record');
}

/** @returns Text of the damage if the line is not a record. */
function readRecord(line: LogLine): { isError: boolean; records: readonly OldRecord[] } | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line.text.slice(DETAIL_MARK.length));
  } catch {
    return line.isEnded ? notJson(line.text) : 'the file ends inside a record';
  }
  if (typeof parsed !== 'object' || parsed === null) return 'what follows the mark is no record';
  const { key, value, metadata } = parsed as Record<string, unknown>;
  if (typeof key !== 'string') return 'the record has no key';
  if (typeof metadata !== 'object' || metadata === null) return 'the record has no metadata';
  const { is_error: flag } = metadata as Record<string, unknown>;
  if (flag === undefined) return 'the record does not say whether it is an error';
  const exact = exactValue(line.text, value);
  if (isTooLarge(exact)) return `the value of "${key}" is too large for a number`;
  return { isError: isTruthy(flag), records: [{ key, value: exact }] };
}

/** JSON.parse turns 1e400 into Infinity; LoadGen never writes whole numbers of so many digits. */
function isTooLarge(value: unknown): boolean {
  return isNumber(value) && !Number.isFinite(Number(value));
}

/**
 * Truth as in Python, which the official tools use: an empty text, list or object is false, any
 * other true.
 */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return Object.keys(value).length > 0;
}

function notUtf8({ isEnded }: LogLine, what: string): string {
  return isEnded
    ? `the ${what} is not UTF-8: the official tools cannot read the log`
    : `the file ends inside a ${what}`;
}

/** Key of a record whose JSON is broken. */
const KEY = /"key"\s*:\s*"([^"\\]{1,200})"/;

/**
 * LoadGen does not escape names: a quote in a name breaks its record, and only the key still
 * identifies it.
 */
function notJson(text: string): string {
  const begin = text.slice(DETAIL_MARK.length, DETAIL_MARK.length + 2000);
  const key = KEY.exec(begin)?.[1];
  return key === undefined
    ? `what follows the mark is not JSON: ${JSON.stringify(begin.trim().slice(0, SHOWN_CHARACTERS))}`
    : `the record "${key}" is not JSON (LoadGen does not escape quotes and backslashes in names)`;
}

/** Digits of a whole number that is the record's value. */
const WHOLE_VALUE = /"value"\s*:\s*(-?\d{16,})\s*[,}]/;

/**
 * The exact value: JSON.parse rounds whole numbers beyond 2^53, so they are read from the text
 * again.
 */
function exactValue(text: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const digits = WHOLE_VALUE.exec(text)?.[1];
  return digits === undefined ? value : BigInt(digits);
}
