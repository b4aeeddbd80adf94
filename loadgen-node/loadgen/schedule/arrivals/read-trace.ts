import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { MlperfError } from '../../../../shared/base/errors/mlperf-error.ts';
import { describeSystemError } from '../../../../shared/base/errors/to-mlperf-error.ts';
import { GrowingFloat64 } from '../../base/growing-array.ts';
import { ARRIVALS_MAX, ARRIVALS_NS_MAX } from './parse-arrivals.ts';
import { TraceLines } from './trace-lines.ts';

const CHUNK_BYTES = 1 << 20;
/** A line longer than that is of no text file. */
const LINE_CHARS_MAX = 1 << 20;

/** What may be said of a trace besides its file. */
interface TraceOptions {
  /** The trace is run so many times as fast. */
  readonly speed: number;
  /** Most arrivals; a test lowers it. */
  readonly arrivalsMax?: number;
}

/**
 * Reads the due times of a trace (docs/load-test.md), shifted so that the first is 0, in ns.
 * @throws MlperfError `ERR_CONFIG_FILE` where the file cannot be read; `ERR_CONFIG_INVALID` naming the line that is wrong.
 */
export function readTrace(
  path: string,
  { speed, arrivalsMax = ARRIVALS_MAX }: TraceOptions,
): Float64Array {
  const lines = new TraceLines();
  const due = new GrowingFloat64();
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
      fail(`is before line ${lastLine}: the lines of a trace stand in the order of their times`);
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
        take(part, line);
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

/** A pipe would be waited for, perhaps for ever. */
function openFile(path: string): number {
  let isFile: boolean;
  try {
    isFile = statSync(path).isFile();
    if (isFile) return openSync(path, 'r');
  } catch (error) {
    throw cannotRead(path, error);
  }
  throw new MlperfError('ERR_CONFIG_FILE', `cannot read the trace ${path}: it is no file`);
}

function cannotRead(path: string, error: unknown): MlperfError {
  const why = describeSystemError(error);
  return new MlperfError('ERR_CONFIG_FILE', `cannot read the trace ${path}: ${why}`, {
    cause: error,
  });
}

function refuse(message: string): never {
  throw new MlperfError('ERR_CONFIG_INVALID', message);
}
