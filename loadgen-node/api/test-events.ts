import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { TestParts } from '../loadgen/engine/test-context.ts';
import type { RunProgress, TestPhase } from '../loadgen/engine/test-outcome.ts';

/** What a program wants to be told while a test goes on. What these throw ends the test, and `startTest` rejects with it. */
export interface TestListeners {
  /** At the beginning of each phase, untimed. */
  readonly onPhase?: (phase: TestPhase) => void;
  /** About once a second while queries are issued. It is timed: be short. */
  readonly onProgress?: (progress: RunProgress) => void;
  /** While a SUT node is not ready yet. */
  readonly onWait?: (address: string, what: string) => void;
  /** Ends the test: nothing more is issued, the logs are written and say so, the result is INTERRUPTED. */
  readonly signal?: AbortSignal;
}

/** Listeners of a test as the engine wants them: none of them throws. */
export class TestEvents {
  readonly #listeners: TestListeners;
  readonly #controller = new AbortController();
  #thrown: { readonly error: unknown } | undefined;
  readonly signal: AbortSignal;

  constructor(listeners: TestListeners) {
    this.#listeners = listeners;
    const own = this.#controller.signal;
    this.signal = listeners.signal === undefined ? own : AbortSignal.any([own, listeners.signal]);
  }

  /** The doors of the engine that the listeners look through. */
  testParts(): Required<Pick<TestParts, 'onPhase' | 'onProgress' | 'signal'>> {
    const { onPhase, onProgress } = this.#listeners;
    return {
      signal: this.signal,
      onPhase: (phase) => this.#call(() => onPhase?.(phase)),
      onProgress: (progress) => this.#call(() => onProgress?.(progress)),
    };
  }

  readonly onWait = (address: string, what: string): void =>
    this.#call(() => this.#listeners.onWait?.(address, what));

  /** Settles as `work` does, or rejects at once on the signal. @throws MlperfError `ERR_INTERRUPTED` */
  async orAbort<T>(work: Promise<T>): Promise<T> {
    let stop = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(new MlperfError('ERR_INTERRUPTED', 'interrupted before the test began'));
    });
    this.signal.addEventListener('abort', stop, { once: true });
    if (this.signal.aborted) stop();
    try {
      return await Promise.race([work, aborted]);
    } finally {
      this.signal.removeEventListener('abort', stop);
    }
  }

  /** @throws what a listener threw first. */
  rethrow(): void {
    if (this.#thrown !== undefined) throw this.#thrown.error;
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#thrown ??= { error };
      this.#controller.abort();
    }
  }
}
