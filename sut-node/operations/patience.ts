import { Deferred } from '../../shared/base/async.ts';

/**
 * Longest wait for workers that were asked to end, behind the drain: most inferences are over by
 * then.
 */
const WORKER_END_MS_MAX = 30_000;
/** The same after a second signal: an inference of usual length still ends by itself. */
const HURRIED_END_MS_MAX = 1_000;

/** How long the end of a node waits for others. */
export class Patience {
  readonly #hurried = new Deferred<void>();

  /** Shortens the wait. */
  hurry(): void {
    this.#hurried.resolve();
  }

  /** Waits for a drain. Returns the reason where it did not come to its end in time. */
  async withDrain(drained: Promise<unknown>, limitNs: number): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, limitNs / 1e6, 'the drain timeout of the node was over');
    });
    const hurried = this.#hurried.promise.then(() => 'it was told to end at once');
    const why = await Promise.race([drained.then(() => undefined), hurried, late]);
    clearTimeout(timer);
    return why;
  }

  /** A signal that is aborted when workers that were asked to end now have had time enough. */
  withWorkers(): AbortSignal {
    const giveUp = new AbortController();
    const abort = (): void => giveUp.abort();
    setTimeout(abort, WORKER_END_MS_MAX).unref();
    void this.#hurried.promise.then(() => setTimeout(abort, HURRIED_END_MS_MAX).unref());
    return giveUp.signal;
  }
}
