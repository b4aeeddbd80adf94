import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { readPart, statIfThere } from '../../../shared/base/files/read-file.ts';
import { roundsUpTo, type SubmissionRound } from '../rules/submission-rounds.ts';
import { orFail } from '../tree/file-work.ts';

/**
 * Characters kept of a log's beginning, and bytes of its end; shorter logs are unchanged. Source:
 * truncate_accuracy_log.py.
 */
export const CUT_SIZE = 4096;

/** Replaces the removed part. No log has an empty line. */
const GAP = '\n\n...\n\n';

/** The tool reads text: a character has at most 4 bytes, a line end 2. */
const HEAD_BYTES = CUT_SIZE * 5;

/** Longest truncated log, for any characters and line ends. */
const CUT_BYTES_MAX = CUT_SIZE * 5 + 2 * GAP.length + 2 * CUT_SIZE;

/**
 * The official tool's text of a truncated log: its beginning and its end. @throws MlperfError
 * `ERR_OUTPUT`
 */
export async function cutLog(path: string, bytes: number): Promise<string> {
  const head = await textAt(path, 0, HEAD_BYTES);
  const tail = await textAt(path, bytes - CUT_SIZE, CUT_SIZE);
  return [...head].slice(0, CUT_SIZE).join('') + GAP + tail;
}

/**
 * True for a log truncated by {@link cutLog} or the official tool. @throws MlperfError `ERR_OUTPUT`
 */
export async function isCutLog(path: string, bytes: number): Promise<boolean> {
  if (bytes > CUT_BYTES_MAX) return false;
  // On Windows the official tool writes two bytes per line end.
  return (await textAt(path, 0, CUT_BYTES_MAX)).includes(GAP);
}

/**
 * Refuses a truncated log, by {@link isCutLog}.
 * @param what Work that needs the original: `score`.
 * @throws MlperfError `ERR_OUTPUT`
 */
export async function requireWholeLog(path: string, what: string): Promise<void> {
  const size = statIfThere(path)?.size;
  if (size === undefined || !(await isCutLog(path, size))) return;
  throw new MlperfError(
    'ERR_OUTPUT',
    `${path} was truncated for a submission: ${what} the original`,
  );
}

/** Text as Python reads it: each kind of line end is one newline. */
async function textAt(path: string, from: number, length: number): Promise<string> {
  const bytes = await orFail('read', path, () => readPart(path, from, length));
  return bytes.toString('utf8').replaceAll(/\r\n?/g, '\n');
}

/** Pattern of the official tools; the first match counts. */
const HASH_LINE = /^hash=(\w+)$/m;

/** Rounds whose tool writes no empty line before the hash. */
const WITHOUT_EMPTY_LINE: readonly SubmissionRound[] = roundsUpTo('v4.1');

/** The hash in an accuracy.txt; undefined without one. */
export function hashIn(text: string): string | undefined {
  return HASH_LINE.exec(text.replaceAll('\r\n', '\n'))?.[1];
}

/**
 * accuracy.txt with the whole log's hash, as the round's tool writes it. If the last line has no
 * newline, v4.1's tool appends the hash to it, where checkers do not find it: here it gets its own
 * line.
 */
export function withHash(text: string, sha256: string, round: SubmissionRound): string {
  const isEnded = text === '' || text.endsWith('\n');
  const before = WITHOUT_EMPTY_LINE.includes(round) && isEnded ? '' : '\n';
  return `${text}${before}hash=${sha256}\n`;
}

/** accuracy.txt without its hash and the empty lines around it. */
export function withoutHash(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(HASH_LINE, '').trimEnd();
}
