import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { readPart, statIfThere } from '../../../shared/base/files/read-file.ts';
import { roundsUpTo, type SubmissionRound } from '../rules/submission-rounds.ts';
import { orFail } from '../tree/file-work.ts';

/**
 * Characters that stay of a log's beginning, and bytes of its end; shorter logs stay whole.
 * Source: truncate_accuracy_log.py.
 */
export const CUT_SIZE = 4096;

/** Stands for what was cut out. No log has an empty line. */
const GAP = '\n\n...\n\n';

/** The tool reads text: a character has 4 bytes at most, a line end 2. */
const HEAD_BYTES = CUT_SIZE * 5;

/** A cut log is no longer than this, whatever its characters and line ends. */
const CUT_BYTES_MAX = CUT_SIZE * 5 + 2 * GAP.length + 2 * CUT_SIZE;

/**
 * The official tool's text of a log that was cut: its beginning and its end. @throws MlperfError
 * `ERR_OUTPUT`
 */
export async function cutLog(path: string, bytes: number): Promise<string> {
  const head = await textAt(path, 0, HEAD_BYTES);
  const tail = await textAt(path, bytes - CUT_SIZE, CUT_SIZE);
  return [...head].slice(0, CUT_SIZE).join('') + GAP + tail;
}

/**
 * True for what {@link cutLog}, or the official tool, leaves of a log. @throws MlperfError
 * `ERR_OUTPUT`
 */
export async function isCutLog(path: string, bytes: number): Promise<boolean> {
  if (bytes > CUT_BYTES_MAX) return false;
  // On Windows the official tool writes its own line ends in two bytes.
  return (await textAt(path, 0, CUT_BYTES_MAX)).includes(GAP);
}

/**
 * Refuses a log of which the middle is gone, as {@link isCutLog} finds it.
 * @param what To do with the original: `score`.
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

/** As Python reads a text: each kind of line end is one newline. */
async function textAt(path: string, from: number, length: number): Promise<string> {
  const bytes = await orFail('read', path, () => readPart(path, from, length));
  return bytes.toString('utf8').replaceAll(/\r\n?/g, '\n');
}

/** As the official tools look for it; the first one counts. */
const HASH_LINE = /^hash=(\w+)$/m;

/** Rounds whose tool puts no empty line before the hash. */
const WITHOUT_EMPTY_LINE: readonly SubmissionRound[] = roundsUpTo('v4.1');

/** Hash in an accuracy.txt, as it stands there; undefined: none. */
export function hashIn(text: string): string | undefined {
  return HASH_LINE.exec(text.replaceAll('\r\n', '\n'))?.[1];
}

/**
 * accuracy.txt with the hash of the whole log, as the round's tool writes it. Where the last line
 * is not ended, the tool of v4.1 writes the hash into it, where checkers do not find it: here it gets a
 * line of its own.
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
