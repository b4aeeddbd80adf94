import { type BigIntStats, fstatSync } from 'node:fs';

const STDERR = 2;

/** How much a line matters. Source: sd-daemon(3), whose numbers are those of syslog(3). */
export const PRIORITY = { error: 3, warning: 4, info: 6, debug: 7 } as const;

/** One of {@link PRIORITY}. */
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

/** Parts that tests exchange. @internal */
interface JournalParts {
  readonly environment: NodeJS.ProcessEnv;
  /** Of stderr. */
  readonly stat: () => Pick<BigIntStats, 'dev' | 'ino'>;
}

/**
 * True where stderr goes to systemd's journal: $JOURNAL_STREAM names the device and the inode of what the service was
 * started with. The variable alone is not enough: children of a service inherit it with a stderr of their own.
 * Source: systemd.exec(5), $JOURNAL_STREAM.
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
    // Closed.
    return false;
  }
}

/** A line as the journal takes its importance: `<4>text`. The journal takes the first three characters off. */
export function withPriority(priority: Priority, text: string): string {
  return `<${priority}>${text}`;
}
