import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { RunProgress, TestPhase } from '../loadgen/engine/test-outcome.ts';
import type { RunHost } from '../run/host/host.ts';
import type { RunObservers } from '../run/session.ts';

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

/** The calling program as the host of a run: what its listeners throw ends the test. A library prints nothing. */
export class TestEvents implements RunHost {
  readonly #listeners: TestListeners;
  readonly #controller = new AbortController();
  /** Takes the listener off the program's signal. */
  readonly #closed = new AbortController();
  #thrown: { readonly error: unknown } | undefined;

  constructor(listeners: TestListeners) {
    this.#listeners = listeners;
    const { signal } = listeners;
    const abort = (): void =>
      this.#controller.abort(
        new MlperfError('ERR_INTERRUPTED', 'interrupted before the test began'),
      );
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true, signal: this.#closed.signal });
  }

  /** Leaves nothing on the program's signal, which may live for many tests. */
  close(): void {
    this.#closed.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  report(): void {}

  /** The listeners as a run wants them: none of them throws. */
  observers(): Required<Pick<RunObservers, 'onPhase' | 'onProgress'>> {
    const { onPhase, onProgress } = this.#listeners;
    return {
      onPhase: (phase) => this.#call(() => onPhase?.(phase)),
      onProgress: (progress) => this.#call(() => onProgress?.(progress)),
    };
  }

  readonly onWait = (address: string, what: string): void =>
    this.#call(() => this.#listeners.onWait?.(address, what));

  /** @throws what a listener threw first. */
  rethrow(): void {
    if (this.#thrown !== undefined) throw this.#thrown.error;
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#thrown ??= { error };
      this.#controller.abort(new MlperfError('ERR_INTERRUPTED', 'a listener of the test threw'));
    }
  }
}
