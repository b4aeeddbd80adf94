import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';

/** Pause between two Ready calls. */
const READY_POLL_MS = 100;

/** Reports what the QDL waits for at a node, and for how long. */
export type WaitProgress = (address: string, what: string) => void;

/** The wait for a node that is not ready; it starts in the constructor. Untimed. */
export class ReadyWait {
  readonly #timeoutMs: number;
  readonly #begin: number = performance.now();

  /** @param timeoutMs Longest wait: `--ready-timeout`. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Remaining time; below 0 when it is over. */
  get leftMs(): number {
    return this.#begin + this.#timeoutMs - performance.now();
  }

  get isOver(): boolean {
    return this.leftMs < 0;
  }

  /** Text with the obstacle, the wait so far and the longest wait. */
  inWords(obstacle: string): string {
    const waited = `waited ${seconds(this.#waitedMs)} of at most ${seconds(this.#timeoutMs)}`;
    return obstacle === '' ? waited : `${obstacle}; ${waited}`;
  }

  /** Waits until the next question. */
  pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }

  /** @param who `SUT node 10.0.0.2:50051` */
  error(who: string, why: string): MlperfError {
    const after = this.isOver ? ` after ${seconds(this.#waitedMs)} (--ready-timeout)` : '';
    return new MlperfError('ERR_SUT_NOT_READY', `${who} is not ready${after}: ${why}`);
  }

  get #waitedMs(): number {
    return performance.now() - this.#begin;
  }
}

/**
 * Waits until a server is ready, at most `timeoutMs`.
 * @param ask Returns the obstacle as text, or undefined.
 * @throws MlperfError `ERR_SUT_NOT_READY`, and the errors of `ask`
 */
export async function awaitServer(
  address: string,
  timeoutMs: number,
  ask: () => Promise<string | undefined>,
  onWait: WaitProgress,
): Promise<void> {
  const wait = new ReadyWait(timeoutMs);
  for (;;) {
    const obstacle = await ask();
    if (obstacle === undefined) return;
    if (wait.isOver) throw wait.error(`the server at ${address}`, obstacle);
    onWait(address, wait.inWords(obstacle));
    await wait.pause();
  }
}

/** Whole seconds, so that a line on screen changes once a second; below 1 s with one digit. */
function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.floor(ms / 100) / 10} s` : `${Math.floor(ms / 1_000)} s`;
}
