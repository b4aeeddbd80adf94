import { createReadStream } from 'node:fs';
import { MlperfError, outputError } from '../../../../shared/base/errors/mlperf-error.ts';
import {
  type FilePlace,
  JsonArrayScanner,
  NotAListError,
  type ScannedElement,
} from './json-array-scanner.ts';

/** One response of an accuracy log. */
export interface AccuracyLogEntry {
  readonly seqId: number;
  /** Index in the sample library. */
  readonly sampleIndex: number;
  readonly response: Uint8Array;
  /** First token, or all tokens (`token_data`); absent in Offline and in runs without tokens. */
  readonly firstToken?: Uint8Array;
  /** Token count of the response (`token_count`); absent in runs without tokens. */
  readonly tokenCount?: number;
}

/** Bytes per read: large reads split long responses into few pieces. */
const READ_BYTES = 2 ** 18;

/** Characters of an entry that a message shows. */
const SHOWN_CHARACTERS = 60;

/**
 * Reads `mlperf_log_accuracy.json` entry by entry, so a large log is never in memory as a whole.
 * Accepts LoadGen's line form and any other JSON of the same list (compact, indented), as the
 * official scripts do.
 * @throws MlperfError `ERR_OUTPUT` with file, line and byte if the log cannot be read, is damaged
 *   or truncated: a score of half a log would be wrong.
 */
export async function* readAccuracyLog(path: string): AsyncGenerator<AccuracyLogEntry> {
  const scanner = new JsonArrayScanner();
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
      for (const element of scanner.add(chunk as Buffer)) yield readEntry(element);
    }
    scanner.end();
  } catch (error) {
    if (error instanceof NotAListError) throw damaged(path, error.place, error.message);
    if (error instanceof MlperfError) throw error;
    throw outputError(`cannot read the accuracy log ${path}`, error);
  }
}

function readEntry(element: ScannedElement): AccuracyLogEntry {
  const fields = parsed(element);
  const { seq_id: seqId, qsl_idx: sampleIndex } = fields;
  if (!isIndex(seqId) || !isIndex(sampleIndex) || typeof fields['data'] !== 'string') {
    throw notAnEntry(element);
  }
  const entry = { seqId, sampleIndex, response: bytesOf(fields['data'], 'data', element, fields) };
  const { token_data: firstToken, token_count: tokenCount } = fields;
  if (tokenCount !== undefined && !isIndex(tokenCount)) throw notAnEntry(element);
  if (firstToken !== undefined && typeof firstToken !== 'string') throw notAnEntry(element);
  return {
    ...entry,
    ...(firstToken === undefined
      ? {}
      : { firstToken: bytesOf(firstToken, 'first token', element, fields) }),
    ...(tokenCount === undefined ? {} : { tokenCount }),
  };
}

function parsed(element: ScannedElement): Record<string, unknown> {
  try {
    return JSON.parse(element.text) as Record<string, unknown>;
  } catch {
    throw notAnEntry(element);
  }
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function bytesOf(
  hex: string,
  what: string,
  place: FilePlace,
  { qsl_idx: sample }: Record<string, unknown>,
): Uint8Array {
  const bytes = Buffer.from(hex, 'hex');
  if (bytes.length * 2 === hex.length) return bytes;
  const text = `the ${what} of sample ${sample} are not pairs of hexadecimal digits`;
  throw new NotAListError(place, text);
}

function notAnEntry(element: ScannedElement): NotAListError {
  const shown = JSON.stringify(element.text.slice(0, SHOWN_CHARACTERS));
  return new NotAListError(element, `not an entry of the log: ${shown}`);
}

function damaged(path: string, { line, byte }: FilePlace, what: string): MlperfError {
  return new MlperfError(
    'ERR_OUTPUT',
    `the accuracy log ${path} is damaged at line ${line} (byte ${byte}): ${what}`,
  );
}
