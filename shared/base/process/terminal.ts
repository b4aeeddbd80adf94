import { asOneLine, asPlainText } from '../text.ts';
import { isStderrJournal } from './journal.ts';

/** Without a terminal the same activity is told again only after this time. */
const PLAIN_INTERVAL_MS = 5_000;
/** Default width of a line in a file. */
const PLAIN_WIDTH = 160;
const WIDTH_MIN = 20;
/** As {@link percentOf} has it. */
const SHARE = /^\d+ %$/;
/** Room that a detail which fits itself has before what it belongs to is told as well. */
const DETAIL_WIDTH_MIN = 80;

/** Where a {@link Terminal} writes: stderr, or nowhere. */
export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A stream for a terminal that shows nothing. */
export const NOWHERE: TerminalStream = { write: () => {} };

/** Lines with escape sequences of our own, such as colors, and without any other. */
export class StyledText {
  readonly text: string;

  /** @param text Whatever may come from elsewhere in it has been through `asPlainText`. */
  constructor(text: string) {
    this.text = text;
  }

  followedBy(text: string): StyledText {
    return new StyledText(this.text + asPlainText(text));
  }
}

/**
 * Writes to a terminal, or to what stands for one: the one way to stdout and stderr. Names, errors and files of others are in most
 * texts; none of them steers a terminal.
 */
export function printText(stream: TerminalStream, text: string | StyledText): void {
  stream.write(text instanceof StyledText ? text.text : asPlainText(text));
}

/** Progress of an activity; a function gets the number of characters that fit. */
export type StatusDetail = string | ((width: number) => string);

/**
 * Progress for people. On a terminal one status line that is written over;
 * elsewhere (a file, a pipe, a terminal that knows no escape sequences) plain lines, few of them; none in systemd's
 * journal, which is no place for progress. Everything goes to stderr: results alone go to stdout.
 */
export class Terminal {
  readonly #stream: TerminalStream;
  readonly #isRewritable: boolean;
  readonly #isJournal: boolean;
  #hasStatus = false;
  #lastActivity = '';
  #lastPlainMs = 0;

  /** @param environment Where `TERM` is read; `dumb` knows no escape sequences. */
  constructor(
    stream: TerminalStream = process.stderr,
    environment: NodeJS.ProcessEnv = process.env,
  ) {
    this.#stream = stream;
    this.#isJournal = stream === process.stderr && isStderrJournal({ environment });
    this.#isRewritable = stream.isTTY === true && environment['TERM'] !== 'dumb';
  }

  /** False where progress is not shown. */
  get isSeen(): boolean {
    return this.#stream !== NOWHERE;
  }

  /** A line that stays. */
  line(text: string): void {
    this.clear();
    printText(this.#stream, `${text}\n`);
  }

  /**
   * Shows the present activity.
   * @param activity Stays the same while one thing goes on.
   * @param detail Changes: how far it is.
   */
  status(activity: string, detail: StatusDetail = ''): void {
    if (this.#isRewritable) {
      const width = Math.max((this.#stream.columns ?? 80) - 1, WIDTH_MIN);
      // The rest of a longer previous line is erased last: erased first, the line would flicker.
      const text = asOneLine(statusText(activity, detail, width));
      this.#stream.write(`\r${text}\u001b[K`);
      this.#hasStatus = true;
      return;
    }
    if (this.#isJournal) return;
    const nowMs = performance.now();
    if (activity === this.#lastActivity && nowMs - this.#lastPlainMs < PLAIN_INTERVAL_MS) return;
    // A share of an activity that has just begun tells nothing, and of a short one no other follows.
    const isBeginning = activity !== this.#lastActivity && SHARE.test(String(detail));
    this.#lastActivity = activity;
    this.#lastPlainMs = nowMs;
    const told = isBeginning ? '' : detail;
    printText(this.#stream, `${asOneLine(statusText(activity, told, PLAIN_WIDTH))}\n`);
  }

  /** Takes the status line away. */
  clear(): void {
    if (this.#hasStatus) this.#stream.write('\r\u001b[K');
    this.#hasStatus = false;
  }
}

/** A detail stands behind its activity, and is cut; one that fits itself goes without it where there is little room. */
function statusText(activity: string, detail: StatusDetail, width: number): string {
  if (typeof detail === 'function') {
    const head = `${activity}: `;
    const left = width - head.length;
    return left < DETAIL_WIDTH_MIN ? detail(width) : head + detail(left);
  }
  return (detail === '' ? activity : `${activity}: ${detail}`).slice(0, width);
}

/** A fraction as a detail of {@link Terminal.status}; empty at the very beginning. */
export function percentOf(fraction: number): string {
  return fraction === 0 ? '' : `${Math.round(fraction * 100)} %`;
}
