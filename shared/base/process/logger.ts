import { type DestinationStream, destination, pino, symbols } from 'pino';
import { escapedJson } from '../text.ts';
import { isStderrJournal, PRIORITY, type Priority, withPriority } from './journal.ts';

/** Levels of the operating log, most verbose first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The operating log: events of the process, for operators. Not MLPerf's logs, and never written
 * inside timed work. A pino logger is one.
 */
export interface Logger {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/**
 * A logger that writes one JSON line per event to stderr, synchronously, so that a crash loses
 * none. In systemd's journal each line begins with its importance, which the journal removes:
 * `journalctl -p warning` selects by it.
 */
export function createLogger(name: string, level: LogLevel): Logger {
  const stderr = destination({ dest: 2, sync: true });
  // Fields hold text of peers; JSON escapes only C0 characters.
  const escaped = { write: (line: string): void => void stderr.write(escapedJson(line)) };
  return pino({ name, level }, isStderrJournal() ? journalDestination(escaped) : escaped);
}

/** Writes each line with its importance. @internal */
export function journalDestination(to: DestinationStream): DestinationStream {
  return {
    // With this key pino passes the level before each line.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string): void {
      to.write(withPriority(priorityOf(this.lastLevel), line));
    },
  } as DestinationStream & { lastLevel: number };
}

/** @param level As pino numbers them: 20 debug, 30 info, 40 warn, 50 error */
function priorityOf(level: number): Priority {
  if (level >= 50) return PRIORITY.error;
  if (level >= 40) return PRIORITY.warning;
  return level >= 30 ? PRIORITY.info : PRIORITY.debug;
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
