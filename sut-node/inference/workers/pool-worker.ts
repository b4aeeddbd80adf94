import assert from 'node:assert';
import { Deferred } from '../../../shared/base/async/deferred.ts';
import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import { messageOf } from '../../../shared/base/errors/to-mlperf-error.ts';
import { formatNs } from '../../../shared/base/text/duration.ts';
import type { ModelTensors } from '../../model/model-facts.ts';
import type { Batch } from '../batcher/sut-model.ts';
import type { BatchMessage, DoneMessage, FailedMessage, FromWorker } from './worker-messages.ts';
import type { WorkerThread, WorkerThreadEvents } from './worker-thread.ts';

/** Batches at a worker: one that runs and one behind it, so that no full batch waits for a hand-over. */
const BATCHES_MAX = 2;

/** What a worker reports. */
export interface PoolWorkerEvents {
  onDone(batch: Batch, done: DoneMessage): void;
  /** The worker has ended and holds these batches without an answer. Called once. */
  onEnd(worker: PoolWorker, error: MlperfError, held: readonly Batch[]): void;
}

/** What a worker of the pool needs to know. */
interface PoolWorkerOptions {
  readonly name: string;
  readonly spawn: (events: WorkerThreadEvents) => WorkerThread;
  readonly clock: Clock;
  /** Longest time for loading the model, and again for warming up. */
  readonly startTimeoutNs: number;
  readonly events: PoolWorkerEvents;
}

/**
 * One worker of the pool.
 *
 *   loading ──loaded──► loaded ──warmUp(), ready──► ready
 *      └──────────────────┴── failed, worker ended, ──┴──► ended
 *                             start took too long
 */
export class PoolWorker implements WorkerThreadEvents {
  readonly name: string;
  readonly #options: PoolWorkerOptions;
  readonly #thread: WorkerThread;
  readonly #batches: Batch[] = [];
  readonly #loaded = new Deferred<ModelTensors>();
  readonly #warm = new Deferred<void>();
  readonly #ended = new Deferred<void>();
  #isReady = false;
  #isEnded = false;
  #failure: FailedMessage | undefined;
  #deadline: PlannedCall | undefined;

  constructor(options: PoolWorkerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#thread = this.#spawn();
    this.#limitTo('load the model');
  }

  /** Resolves when the model is loaded. @throws MlperfError when the worker cannot start. */
  get loaded(): Promise<ModelTensors> {
    return this.#loaded.promise;
  }

  get isIdle(): boolean {
    return this.#isReady && this.#batches.length === 0;
  }

  get hasRoom(): boolean {
    return this.#isReady && this.#batches.length < BATCHES_MAX;
  }

  /** Runs the model once; from then on the worker takes batches. @throws MlperfError */
  async warmUp(): Promise<void> {
    this.#limitTo('run the model for the first time');
    this.#thread.post({ kind: 'warm-up' }, []);
    await this.#warm.promise;
  }

  /** Sends a batch. Only after {@link hasRoom}. */
  run(batch: Batch, message: BatchMessage): void {
    assert(this.hasRoom);
    this.#batches.push(batch);
    this.#thread.post(message, [message.payloads]);
  }

  /**
   * Lets the worker end behind the batch that it runs now.
   * @param giveUp Aborted when it has had time enough: a worker that has not ended by then is given up.
   * @returns False where it was given up: its thread may still run.
   */
  async stop(giveUp: AbortSignal): Promise<boolean> {
    const ended = Promise.race([this.#thread.stop(), this.#ended.promise]).then(() => true);
    if (await Promise.race([ended, abortOf(giveUp)])) return true;
    this.#abandon('it did not end when it was asked to');
    return false;
  }

  onMessage(message: FromWorker): void {
    // It was given up, and came back.
    if (this.#isEnded) return;
    switch (message.kind) {
      case 'loaded':
        this.#deadline?.cancel();
        this.#loaded.resolve(message.tensors);
        break;
      case 'ready':
        this.#deadline?.cancel();
        this.#isReady = true;
        this.#warm.resolve();
        break;
      case 'failed':
        // The thread ends now; onEnd tells the rest.
        this.#failure = message;
        break;
      case 'done': {
        const batch = this.#batches.shift();
        assert(batch !== undefined, 'a worker answered a batch that it was not given');
        assert.equal(message.ends.length, batch.samples.length);
        this.#options.events.onDone(batch, message);
        break;
      }
    }
  }

  onEnd(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#deadline?.cancel();
    this.#isReady = false;
    const error =
      this.#failure === undefined
        ? new MlperfError('ERR_SUT_WORKER', `${this.name} ended: ${reason}`)
        : new MlperfError(this.#failure.code, this.#failure.text);
    this.#loaded.reject(error);
    this.#warm.reject(error);
    this.#ended.resolve();
    this.#options.events.onEnd(this, error, this.#batches.splice(0));
  }

  /** Where the machine has no thread or process left, the worker counts as ended. */
  #spawn(): WorkerThread {
    try {
      return this.#options.spawn(this);
    } catch (error) {
      if (error instanceof MlperfError) {
        this.#failure = { kind: 'failed', code: error.code, text: error.message };
      }
      queueMicrotask(() => this.onEnd(`it cannot start: ${messageOf(error)}`));
      return { post: () => {}, stop: () => Promise.resolve(), abandon: () => {} };
    }
  }

  /** A worker that hangs counts as ended, so that the node says so instead of waiting for ever. */
  #limitTo(what: string): void {
    const { clock, startTimeoutNs } = this.#options;
    this.#deadline?.cancel();
    this.#deadline = clock.callAt(clock.nowNs() + startTimeoutNs, () => {
      if (this.#isEnded) return;
      const limit = formatNs(startTimeoutNs);
      this.#abandon(`it did not ${what} within ${limit} (--worker-start-timeout)`);
    });
  }

  #abandon(reason: string): void {
    this.#thread.abandon();
    this.onEnd(reason);
  }
}

/** Resolves, with false, when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    else signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}
