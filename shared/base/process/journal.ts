import { type BigIntStats, fstatSync } from 'node:fs';

const STDERR = 2;

/** Importance of a line. Source: sd-daemon(3), with the numbers of syslog(3). */
export const PRIORITY = { error: 3, warning: 4, info: 6, debug: 7 } as const;

/** One of {@link PRIORITY}. */
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** Parts that tests exchange. @internal */
interface JournalParts {
  readonly environment: NodeJS.ProcessEnv;
  /** Facts of stderr's file. */
  readonly stat: () => Pick<BigIntStats, 'dev' | 'ino'>;
}

/**
 * True if stderr goes to systemd's journal: $JOURNAL_STREAM holds the device and inode that the
 * service was started with. The variable alone is not enough: children of a service inherit it but
 * may have another stderr. Source: systemd.exec(5), $JOURNAL_STREAM.
 */
export function isStderrJournal({
  environment = process.env,
  stat = () => fstatSync(STDERR, { bigint: true }),
}: Partial<JournalParts> = {}): boolean {
  const named = environment['JOURNAL_STREAM'];
  if (named === undefined) return false;
  try {
    const { dev, ino } = stat();
    return named === `${dev}:${ino}`;
  } catch {
    // stderr is closed.
    return false;
  }
}

/**
 * A line with its importance in the journal's form: `<4>text`. The journal removes the first three
 * characters.
 */
export function withPriority(priority: Priority, text: string): string {
  return `<${priority}>${text}`;
}
