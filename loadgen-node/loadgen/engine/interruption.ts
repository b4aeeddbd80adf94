/** Stands for the result of work that the abort signal overtook. */
export const INTERRUPTED: unique symbol = Symbol('interrupted');

/** The abort signal of a test, for work that waits. */
export class Interruption {
  readonly #signal: AbortSignal | undefined;
  readonly #whenInterrupted: Promise<typeof INTERRUPTED>;
  #listener: () => void = () => undefined;
  #onInterrupt: (() => void) | null = null;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    this.#whenInterrupted = new Promise((resolve) => {
      this.#listener = () => {
        resolve(INTERRUPTED);
        this.#onInterrupt?.();
      };
    });
    if (signal?.aborted) this.#listener();
    else signal?.addEventListener('abort', this.#listener);
  }

  get isInterrupted(): boolean {
    return this.#signal?.aborted ?? false;
  }

  /** Calls `callback` at once on the signal; null takes it back. One at a time. */
  notify(callback: (() => void) | null): void {
    this.#onInterrupt = callback;
  }

  /** Waits for `work`, but not beyond the signal. */
  async orInterrupted<T>(work: Promise<T>): Promise<T | typeof INTERRUPTED> {
    return await Promise.race([work, this.#whenInterrupted]);
  }

  dispose(): void {
    this.#signal?.removeEventListener('abort', this.#listener);
  }
}
