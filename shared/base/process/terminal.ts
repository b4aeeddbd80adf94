import { asOneLine, asPlainText } from '../text.ts';
import { isStderrJournal } from './journal.ts';

/** Without a terminal the same activity is repeated only after this time. */
const PLAIN_INTERVAL_MS = 5_000;
/** Default width of a line in a file. */
const PLAIN_WIDTH = 160;
const WIDTH_MIN = 20;
/** Form of {@link percentOf}. */
const SHARE = /^\d+ %$/;
/** Columns below which a self-sized detail is shown without its activity. */
const DETAIL_WIDTH_MIN = 80;

/** Where a {@link Terminal} writes: stderr, or nowhere. */
export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A stream that discards everything. */
export const NOWHERE: TerminalStream = { write: () => {} };

/** Text with our own escape sequences, such as colors, and no others. */
export class StyledText {
  readonly text: string;

  /** @param text Foreign text in it must have passed `asPlainText`. */
  constructor(text: string) {
    this.text = text;
  }

  followedBy(text: string): StyledText {
    return new StyledText(this.text + asPlainText(text));
  }
}

/**
 * Writes to a terminal or its replacement: the only way to stdout and stderr. Most texts contain
 * names, errors and files of others; none of these may control a terminal.
 */
export function printText(stream: TerminalStream, text: string | StyledText): void {
  stream.write(text instanceof StyledText ? text.text : asPlainText(text));
}

/** Progress of an activity; a function receives the number of available characters. */
export type StatusDetail = string | ((width: number) => string);

/**
 * Progress for people. A terminal shows one status line that is overwritten; a file, a pipe or a
 * dumb terminal gets few plain lines; systemd's journal gets none. Everything goes to stderr: only
 * results go to stdout.
 */
export class Terminal {
  readonly #stream: TerminalStream;
  readonly #isRewritable: boolean;
  readonly #isJournal: boolean;
  #hasStatus = false;
  #lastActivity = '';
  #lastPlainMs = 0;

  /** @param environment Source of `TERM`; `dumb` means no escape sequences. */
  constructor(
    stream: TerminalStream = process.stderr,
    environment: NodeJS.ProcessEnv = process.env,
  ) {
    this.#stream = stream;
    this.#isJournal = stream === process.stderr && isStderrJournal({ environment });
    this.#isRewritable = stream.isTTY === true && environment['TERM'] !== 'dumb';
  }

  /** False if progress is not shown. */
  get isSeen(): boolean {
    return this.#stream !== NOWHERE;
  }

  /** Writes a permanent line. */
  line(text: string): void {
    this.clear();
    printText(this.#stream, `${text}\n`);
  }

  /**
   * Shows the current activity.
   * @param activity Constant during one activity.
   * @param detail Its progress.
   */
  status(activity: string, detail: StatusDetail = ''): void {
    if (this.#isRewritable) {
      const width = Math.max((this.#stream.columns ?? 80) - 1, WIDTH_MIN);
      // Erase the rest of a longer previous line last: erased first, the line would flicker.
      const text = asOneLine(statusText(activity, detail, width));
      this.#stream.write(`\r${text}\u001b[K`);
      this.#hasStatus = true;
      return;
    }
    if (this.#isJournal) return;
    const nowMs = performance.now();
    if (activity === this.#lastActivity && nowMs - this.#lastPlainMs < PLAIN_INTERVAL_MS) return;
    // The first share of an activity is no information, and a short activity has no other.
    const isBeginning = activity !== this.#lastActivity && SHARE.test(String(detail));
    this.#lastActivity = activity;
    this.#lastPlainMs = nowMs;
    const told = isBeginning ? '' : detail;
    printText(this.#stream, `${asOneLine(statusText(activity, told, PLAIN_WIDTH))}\n`);
  }

  /** Removes the status line. */
  clear(): void {
    if (this.#hasStatus) this.#stream.write('\r\u001b[K');
    this.#hasStatus = false;
  }
}

/**
 * The detail follows its activity and is cut; a self-sized detail stands alone if there is little
 * room.
 */
function statusText(activity: string, detail: StatusDetail, width: number): string {
  if (typeof detail === 'function') {
    const head = `${activity}: `;
    const left = width - head.length;
    return left < DETAIL_WIDTH_MIN ? detail(width) : head + detail(left);
  }
  return (detail === '' ? activity : `${activity}: ${detail}`).slice(0, width);
}

/** A fraction as a detail of {@link Terminal.status}; empty at the very start. */
export function percentOf(fraction: number): string {
  return fraction === 0 ? '' : `${Math.round(fraction * 100)} %`;
}
