/** Without a terminal the same activity is told again only after this time. */
const PLAIN_INTERVAL_MS = 5_000;

/** Where a {@link Terminal} writes: stderr, or nowhere. */
export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A stream for a terminal that shows nothing. */
export const NOWHERE: TerminalStream = { write: () => {} };

/**
 * What a person sees while something goes on. On a terminal one status line that is written over;
 * elsewhere (a file, a pipe) plain lines, few of them. Everything goes to stderr: results alone go to
 * stdout.
 */
export class Terminal {
  readonly #stream: TerminalStream;
  #hasStatus = false;
  #lastActivity = '';
  #lastPlainMs = 0;

  constructor(stream: TerminalStream = process.stderr) {
    this.#stream = stream;
  }

  /** A line that stays. */
  line(text: string): void {
    this.clear();
    this.#stream.write(`${text}\n`);
  }

  /**
   * What goes on now.
   * @param activity Stays the same while one thing goes on.
   * @param detail Changes: how far it is.
   */
  status(activity: string, detail = ''): void {
    const text = detail === '' ? activity : `${activity}: ${detail}`;
    if (this.#stream.isTTY) {
      const width = Math.max((this.#stream.columns ?? 80) - 1, 20);
      this.#stream.write(`\r\u001b[K${text.slice(0, width)}`);
      this.#hasStatus = true;
      return;
    }
    const nowMs = performance.now();
    if (activity === this.#lastActivity && nowMs - this.#lastPlainMs < PLAIN_INTERVAL_MS) return;
    this.#lastActivity = activity;
    this.#lastPlainMs = nowMs;
    this.#stream.write(`${text}\n`);
  }

  /** Takes the status line away. */
  clear(): void {
    if (this.#hasStatus) this.#stream.write('\r\u001b[K');
    this.#hasStatus = false;
  }
}

/** A fraction as a detail of {@link Terminal.status}; empty at the very beginning. */
export function percentOf(fraction: number): string {
  return fraction === 0 ? '' : `${Math.round(fraction * 100)} %`;
}
