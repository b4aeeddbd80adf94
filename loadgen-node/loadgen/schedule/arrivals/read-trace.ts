import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import {
  configInvalid,
  describeSystemError,
  MlperfError,
} from '../../../../shared/base/errors/mlperf-error.ts';
import { withoutByteOrderMark } from '../../../../shared/base/text.ts';
import { growingFloat64 } from '../../base/growing-array.ts';
import { ARRIVALS_MAX, ARRIVALS_NS_MAX } from './parse-arrivals.ts';

const CHUNK_BYTES = 1 << 20;
/** Longest line of a trace file, in characters. */
const LINE_CHARS_MAX = 1 << 20;

/** Options of a trace. */
interface TraceOptions {
  /** Replay speed: 2 runs the trace twice as fast. */
  readonly speed: number;
  /** Most arrivals; a test lowers it. */
  readonly arrivalsMax?: number;
}

/**
 * Reads the due times of a trace (docs/load-test.md), shifted so that the first is 0, in ns.
 * @throws MlperfError `ERR_CONFIG_FILE` if the file cannot be read; `ERR_CONFIG_INVALID` with the
 *   number of the wrong line.
 */
export function readTrace(
  path: string,
  { speed, arrivalsMax = ARRIVALS_MAX }: TraceOptions,
): Float64Array {
  const lines = new TraceLines();
  const due = growingFloat64();
  let count = 0;
  let firstNs = 0;
  let lastNs = 0;
  let lastLine = 0;
  forEachLine(path, (text, line) => {
    const ns = lines.read(text);
    if (ns === null) return;
    const fail = (what: string): never => refuse(`${path}:${line}: ${what}`);
    if (typeof ns === 'string') return fail(ns);
    if (count === 0) firstNs = ns;
    else if (ns < lastNs) {
      fail(`is before line ${lastLine}: the lines of a trace must be in time order`);
    }
    const dueNs = Math.round((ns - firstNs) / speed);
    if (dueNs > ARRIVALS_NS_MAX) {
      fail(
        'is more than 104 days after the first line; are these ms? timestamp_ms, or @1000, says so',
      );
    }
    count += 1;
    if (count > arrivalsMax) fail(`a run plans ${arrivalsMax} queries at most`);
    due.push(dueNs);
    lastNs = ns;
    lastLine = line;
  });
  if (count === 0) refuse(`${path} has no arrival: a trace has a line for each query`);
  return due.finish();
}

function forEachLine(path: string, take: (text: string, line: number) => void): void {
  const file = openFile(path);
  try {
    const decoder = new StringDecoder('utf8');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest = '';
    let line = 0;
    for (;;) {
      const size = readSync(file, chunk);
      const text = size === 0 ? decoder.end() : decoder.write(chunk.subarray(0, size));
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        line += 1;
        take(withoutByteOrderMark(part), line);
      }
      if (rest.length > LINE_CHARS_MAX) {
        refuse(`${path}:${line + 1}: the line is longer than ${LINE_CHARS_MAX} characters`);
      }
      if (size === 0) break;
    }
    if (rest !== '') take(rest, line + 1);
  } catch (error) {
    throw error instanceof MlperfError ? error : cannotRead(path, error);
  } finally {
    closeSync(file);
  }
}

/** Opens a regular file only: reading a pipe could wait forever. */
function openFile(path: string): number {
  let isFile: boolean;
  try {
    isFile = statSync(path).isFile();
    if (isFile) return openSync(path, 'r');
  } catch (error) {
    throw cannotRead(path, error);
  }
  throw new MlperfError('ERR_CONFIG_FILE', `cannot read the trace ${path}: it is not a file`);
}

function cannotRead(path: string, error: unknown): MlperfError {
  const why = describeSystemError(error);
  return new MlperfError('ERR_CONFIG_FILE', `cannot read the trace ${path}: ${why}`, {
    cause: error,
  });
}

function refuse(message: string): never {
  throw configInvalid(message);
}

/** Allowed names of the time column or field, and its unit in ns. */
const TIME_NAMES: ReadonlyMap<string, number> = new Map([
  ['timestamp', 1e9],
  ['timestamp_s', 1e9],
  ['timestamp_ms', 1e6],
]);

const NAMES_TEXT = [...TIME_NAMES.keys()].join(', ');
const NUMBER = /^\+?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(?:Z|([+-])(\d\d):?(\d\d))?$/;

/**
 * Reads the time of one line: ns, or an error text. Null: a line without a time, such as a table's
 * header.
 */
type LineReader = (line: string) => number | string | null;

/**
 * Reads the lines of a trace. The first line decides the form: one number per line, a table with a
 * header, or JSON objects.
 */
class TraceLines {
  #read: LineReader | undefined;

  /** @returns ns, null for a line without a time (blank, comment, header), or an error text. */
  read(line: string): number | string | null {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return null;
    if (this.#read !== undefined) return this.#read(text);
    if (text.startsWith('{')) this.#read = readObject;
    else if (typeof readTime(text, 1e9) === 'number') this.#read = (one) => readTime(one, 1e9);
    else return this.#readHeader(text);
    return this.#read(text);
  }

  #readHeader(text: string): string | null {
    const cells = parseCsvLine(text).map((cell) => cell.toLowerCase());
    const column = cells.findIndex((cell) => TIME_NAMES.has(cell));
    if (column < 0) {
      return `${shown(text)} is neither a time in seconds nor a header with one of the columns ${NAMES_TEXT}`;
    }
    const unitNs = TIME_NAMES.get(cells[column] as string) as number; // In range: found.
    this.#read = (line) => {
      const cell = parseCsvLine(line)[column];
      if (cell === undefined) return `has no column ${column + 1}, which the header calls the time`;
      return readTime(cell, unitNs);
    };
    return null;
  }
}

function readObject(line: string): number | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return `${shown(line)} is not a JSON object`;
  }
  if (typeof value !== 'object' || value === null) return `${shown(line)} is not a JSON object`;
  const key = Object.keys(value).find((name) => TIME_NAMES.has(name.toLowerCase()));
  if (key === undefined) return `the object has none of the keys ${NAMES_TEXT}`;
  const time = (value as Record<string, unknown>)[key];
  if (typeof time !== 'number' && typeof time !== 'string') {
    return `${key} must be a number, not ${shown(JSON.stringify(time))}`;
  }
  return readTime(String(time), TIME_NAMES.get(key.toLowerCase()) as number); // In range: found.
}

/** A number of units, or a date with a time of day (UTC unless a zone is given), in ns. */
function readTime(text: string, unitNs: number): number | string {
  if (NUMBER.test(text)) {
    const ns = Number(text) * unitNs;
    return Number.isFinite(ns) ? ns : `${shown(text)} is too large for a time`;
  }
  const match = DATE_TIME.exec(text);
  if (match === null) return `${shown(text)} is not a time: it must be a number of 0 or more`;
  const [, day, time, fraction = '0', sign, hours = '0', minutes = '0'] = match;
  const zoneMs = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const unixMs = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(unixMs) || !isWritten(unixMs, `${day}T${time}`)) {
    return `${shown(text)} is not a valid date`;
  }
  return (unixMs - zoneMs) * 1e6 + Number(fraction) * 1e9;
}

/**
 * False if Date changed the month: it takes 31 February for 2 March. 24:00:00 is the next day's
 * 00:00:00.
 */
function isWritten(unixMs: number, text: string): boolean {
  const wanted = text.endsWith('T24:00:00') ? unixMs - 1 : unixMs;
  return new Date(wanted).toISOString().startsWith(text.slice(0, 'YYYY-MM-DD'.length));
}

/** Text of the file, made safe for a message. */
function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}

/** Cells of one table line, separated by commas, trimmed; quoted cells may contain commas. */
function parseCsvLine(line: string): string[] {
  if (!line.includes('"')) return line.split(',').map((cell) => cell.trim());
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const char of line) {
    // A doubled quote closes and reopens: the exact text of such a cell does not matter here.
    if (char === '"') isQuoted = !isQuoted;
    else if (char === ',' && !isQuoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += char;
  }
  cells.push(cell.trim());
  return cells;
}
