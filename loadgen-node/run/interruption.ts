import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { EXIT } from '../../shared/base/process/exit-codes.ts';

const EXIT_OF_SIGNAL: Readonly<Record<string, number>> = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
};

/** A signal came before there was anything to write down. */
export class InterruptedError extends MlperfError {
  /** By the signal, as shells count. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('ERR_INTERRUPTED', 'interrupted before the run began');
    this.exitCode = exitCode;
  }
}

/**
 * Ctrl-C and SIGTERM. The first one asks the run to end by itself, so that its logs are written; the
 * second one ends the process at once.
 */
export class Interruption {
  readonly #controller = new AbortController();
  #exitCode: number | undefined;

  constructor(onFirst: () => void) {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        const isSecond = this.#exitCode !== undefined;
        this.#exitCode ??= EXIT_OF_SIGNAL[name] as number;
        if (isSecond) {
          process.stderr.write('longhaul: ended at once; logs of this run are not whole\n');
          process.exit(this.#exitCode);
        }
        onFirst();
        this.#controller.abort(new InterruptedError(this.#exitCode));
      });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Exit code of the signal that came, if one did. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Settles as `work` does, or rejects at once when a signal comes: for work that needs no ending. */
  async orAbort<T>(work: Promise<T>): Promise<T> {
    let stop = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(this.signal.reason as Error);
      this.signal.addEventListener('abort', stop, { once: true });
      if (this.signal.aborted) stop();
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      this.signal.removeEventListener('abort', stop);
    }
  }
}
