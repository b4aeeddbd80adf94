import { setImmediate } from 'node:timers/promises';

/** A promise that is settled from outside (Promise.withResolvers, which Node 20 lacks). */
export class Deferred<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => {};
  reject: (error: Error) => void = () => {};

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A rejection that is not awaited must not end the process.
    this.promise.catch(() => {});
  }
}

/** Files or images that are read, encoded or written at once: enough to keep the thread pool of four busy (1,200 small files: 0.2 s instead of 0.4 s). */
export const FILES_AT_ONCE = 8;

/**
 * Runs `task` for 0 to count - 1, never more than `concurrency` at once, beginning with the lowest.
 * The first failure ends it: no further task is started.
 */
export async function forEachIndex(
  count: number,
  concurrency: number,
  task: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const runLane = async (): Promise<void> => {
    while (next < count && !hasFailed) {
      const index = next;
      next += 1;
      try {
        await task(index);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runLane));
}

/** Longest that work goes on without a turn of the event loop, in ms. */
const TURN_MS = 100;

/** Lets what takes seconds be interrupted: signals, sockets and timers get a turn of the event loop every now and then. */
export class LoopTurns {
  readonly #signal: AbortSignal | undefined;
  #lastMs: number = performance.now();

  /** @param signal Its abort ends the work, unless it was aborted before. */
  constructor(signal?: AbortSignal) {
    this.#signal = signal?.aborted ? undefined : signal;
  }

  get isDue(): boolean {
    return performance.now() - this.#lastMs >= TURN_MS;
  }

  /**
   * Waits until the event loop has turned. Called where {@link isDue} says so: to wait at each step costs more than the steps.
   * @throws The reason of the signal that came.
   */
  async take(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#lastMs = performance.now();
  }
}

/** The part of {@link LoopTurns} that work between two turns needs. */
export type TurnTaker = Pick<LoopTurns, 'isDue' | 'take'>;
