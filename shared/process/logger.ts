import { destination, pino } from 'pino';

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

/** A logger that writes one JSON line per event to stderr, at once, so that a crash loses none. */
export function createLogger(name: string, level: LogLevel): Logger {
  return pino({ name, level }, destination({ dest: 2, sync: true }));
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
