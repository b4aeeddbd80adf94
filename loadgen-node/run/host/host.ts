import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { EXIT, reportError } from '../../../shared/base/process/exit-codes.ts';
import {
  percentOf,
  printText,
  type StatusDetail,
  Terminal,
} from '../../../shared/base/process/terminal.ts';
import type { PrepareProgress } from '../../samples/data-set/data-set.ts';

/** The program around a run: where it reports, where it shows its progress, and what ends it early. */
export interface RunHost {
  /** Writes a line that stays. */
  report(line: string): void;
  /**
   * Shows the current activity in place of the one before. Absent: there is no viewer, and
   * progress is not computed.
   * @param activity Stays the same while one thing goes on; null: it is over.
   * @param detail Changes: how far it is.
   */
  progress?(activity: string | null, detail?: StatusDetail): void;
  /** Its abort ends the run: issuing stops, and the logs say so. The reason is the error to reject with. */
  readonly signal: AbortSignal;
}

/** Shows how far the work on a data set is. */
export function progressOf(host: Pick<RunHost, 'progress'>): PrepareProgress {
  return (fraction, what) => host.progress?.(what, percentOf(fraction));
}

/** Settles as `work` does, or rejects with the signal's reason at once: for work that needs no ending. */
export async function orAbort<T>(
  { signal }: Pick<RunHost, 'signal'>,
  work: Promise<T>,
): Promise<T> {
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const EXIT_OF_SIGNAL: Readonly<Record<string, number>> = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hungUp,
};

/** A signal, or a defect of longhaul, ended the work before a run began; the host has reported the defect. */
export class InterruptedError extends MlperfError {
  /** By the signal, as shells count. */
  readonly exitCode: number;

  /** @param defect Thrown where nobody could catch it; default: a signal came. */
  constructor(exitCode: number, defect?: Error) {
    if (defect === undefined)
      super('ERR_INTERRUPTED', 'interrupted before the run began: nothing was measured');
    else super('ERR_INTERNAL', messageOf(defect), { cause: defect });
    this.exitCode = exitCode;
  }
}

/** Longest that a process goes on behind a defect, to leave the logs and the result of a run. */
const DEFECT_MS_MAX = 30_000;

/**
 * The host of a command: this process's terminal, Ctrl-C, SIGTERM, and SIGHUP of a terminal that is gone. The first signal asks the work to end by itself, so that
 * logs are written; the second one ends the process at once. What is thrown where nobody catches it, in a callback of a socket
 * or a timer, ends the work in the same way: a run that has its last answer keeps its result.
 */
export class CommandHost implements RunHost {
  readonly #terminal: Terminal;
  readonly #controller = new AbortController();
  #exitCode: number | undefined;
  #hasDefect = false;

  /** @param atSignal Reported at the first signal. Undefined: signals and defects are left alone, and end the process. */
  constructor(atSignal?: string, terminal: Terminal = new Terminal()) {
    this.#terminal = terminal;
    if (atSignal === undefined) return;
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        const isSecond = this.#exitCode !== undefined;
        this.#exitCode ??= EXIT_OF_SIGNAL[name] as number;
        if (isSecond) this.#endAtOnce();
        this.report(atSignal);
        this.#controller.abort(new InterruptedError(this.#exitCode));
      });
    }
    process.on('uncaughtException', (error) => this.#onDefect(error));
  }

  /** Only the first one is told: others follow from it. */
  #onDefect(error: Error): void {
    if (this.#hasDefect) return;
    this.#hasDefect = true;
    this.#terminal.clear();
    const exitCode = reportError(error);
    this.#exitCode = exitCode;
    setTimeout(() => this.#endAtOnce(), DEFECT_MS_MAX).unref();
    this.#controller.abort(new InterruptedError(exitCode, error));
  }

  #endAtOnce(): never {
    printText(process.stderr, 'longhaul: ended at once; logs of this run are not whole\n');
    process.exit(this.#exitCode);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code of the signal that came, or of a defect, if there was one. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  report(line: string): void {
    this.#terminal.line(line);
  }

  progress(activity: string | null, detail: StatusDetail = ''): void {
    if (activity === null) this.#terminal.clear();
    else this.#terminal.status(activity, detail);
  }
}
