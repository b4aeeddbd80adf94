import { type DestinationStream, destination, pino, symbols } from 'pino';
import { escapedJson } from '../text.ts';
import { isStderrJournal, PRIORITY, type Priority, withPriority } from './journal.ts';

/** Levels of the operating log, the most talkative first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * The operating log: what happened to the process, for the people who run it. Not MLPerf's logs, and
 * never written inside timed work. A pino logger is one.
 */
export interface Logger {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/**
 * A logger that writes one JSON line per event to stderr, at once, so that a crash loses no event. In systemd's journal each
 * line has its importance before it, which the journal takes off: `journalctl -p warning` picks by it.
 */
export function createLogger(name: string, level: LogLevel): Logger {
  const stderr = destination({ dest: 2, sync: true });
  // Fields hold text of peers: JSON escapes C0 alone.
  const escaped = { write: (line: string): void => void stderr.write(escapedJson(line)) };
  return pino({ name, level }, isStderrJournal() ? journalDestination(escaped) : escaped);
}

/** Writes each line with its importance. @internal */
export function journalDestination(to: DestinationStream): DestinationStream {
  return {
    // With this key pino says before each line of which level it is.
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
