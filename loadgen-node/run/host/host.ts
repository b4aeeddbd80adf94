import { MlperfError, messageOf } from '../../../shared/base/errors/mlperf-error.ts';
import { EXIT, reportError } from '../../../shared/base/process/exit-codes.ts';
import {
  percentOf,
  printText,
  type StatusDetail,
  Terminal,
} from '../../../shared/base/process/terminal.ts';
import type { PrepareProgress } from '../../samples/data-set/data-set.ts';

/** Environment of a run: where it reports, where it shows progress, and what ends it early. */
export interface RunHost {
  /** Writes a permanent line. */
  report(line: string): void;
  /**
   * Shows the current activity, replacing the last. Absent: progress is not shown and not computed.
   * @param activity Constant during one activity; null: it is over.
   * @param detail Changing part: the progress.
   */
  progress?(activity: string | null, detail?: StatusDetail): void;
  /**
   * Its abort ends the run: issuing stops, and the logs state it. The reason is the error to reject
   * with.
   */
  readonly signal: AbortSignal;
}

/** Shows the progress of work on a data set. */
export function progressOf(host: Pick<RunHost, 'progress'>): PrepareProgress {
  return (fraction, what) => host.progress?.(what, percentOf(fraction));
}

/**
 * Settles like `work`, or rejects with the signal's reason at once; for work that needs no cleanup.
 */
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

/**
 * A signal, or a defect of longhaul, ended the work before a run began; the host has already
 * reported a defect.
 */
export class InterruptedError extends MlperfError {
  /** Exit code for the signal, by the shells' convention. */
  readonly exitCode: number;

  /** @param defect Uncaught error; default: a signal came. */
  constructor(exitCode: number, defect?: Error) {
    if (defect === undefined)
      super('ERR_INTERRUPTED', 'interrupted before the run began: nothing was measured');
    else super('ERR_INTERNAL', messageOf(defect), { cause: defect });
    this.exitCode = exitCode;
  }
}

/**
 * Longest time that a process may continue after a defect, to save the logs and the result of a
 * run.
 */
const DEFECT_MS_MAX = 30_000;

/**
 * Host of a command: this process's terminal, Ctrl-C, SIGTERM, and SIGHUP of a closed terminal. The
 * first signal asks the work to end, so that logs are written; the second ends the process at once.
 * An uncaught error, in a callback of a socket or a timer, ends the work like the first signal: a
 * run that already has its last response keeps its result.
 */
export class CommandHost implements RunHost {
  readonly #terminal: Terminal;
  readonly #controller = new AbortController();
  #exitCode: number | undefined;
  #hasDefect = false;

  /**
   * @param atSignal Message at the first signal. Undefined: signals and defects are not handled,
   *   and end the process.
   */
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

  /** Reports only the first defect: others follow from it. */
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

  /** Exit code for the signal or defect, if there was one. */
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
