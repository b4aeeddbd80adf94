import type { SubmissionRound } from '../rules/submission-rounds.ts';

/** As the official tools look for it; the first one counts. */
const HASH_LINE = /^hash=(\w+)$/m;

/** Rounds whose tool puts no empty line before the hash. */
const WITHOUT_EMPTY_LINE: readonly SubmissionRound[] = ['v4.1'];

/** Hash in an accuracy.txt, as it stands there; undefined: none. */
export function hashIn(text: string): string | undefined {
  return HASH_LINE.exec(text.replaceAll('\r\n', '\n'))?.[1];
}

/**
 * accuracy.txt with the hash of the whole log, as the round's tool writes it. Where the last line is not ended, the
 * tool of v4.1 writes the hash into it, where nothing finds it: here it gets a line of its own.
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
