import assert from 'node:assert';
import { Deferred } from '../../../shared/base/async.ts';
import type { Clock, PlannedCall } from '../../../shared/base/clock.ts';
import { MlperfError, messageOf, workerError } from '../../../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../../../shared/base/process/logger.ts';
import { formatNs } from '../../../shared/base/text.ts';
import type { ModelTensors } from '../../model/model-facts.ts';
import type { Batch, BatchWorkers } from '../batcher/sut-model.ts';
import { BatchPacker } from './batch-packer.ts';
import type {
  BatchMessage,
  DoneMessage,
  FailedMessage,
  FromWorker,
  SpawnWorker,
  WorkerStart,
  WorkerThread,
  WorkerThreadEvents,
} from './worker-thread.ts';

/** Consecutive worker ends without a completed batch after which the pool gives up. */
const LOSSES_MAX = 3;

/** Events of the pool. */
interface WorkerPoolEvents {
  onDone(batch: Batch, done: DoneMessage): void;
  /** The first token of the batch's only sample, before its end. */
  onFirstToken(batch: Batch, payload: Uint8Array): void;
  /** Further tokens of one instant, for batches of one sample each. */
  onTokens(tokens: readonly (readonly [batch: Batch, payload: Uint8Array])[]): void;
  /** The worker of the batch is lost. */
  onLost(batch: Batch, error: MlperfError): void;
  /** A worker can take a batch. */
  onRoom(): void;
  /** Workers can no longer be replaced: no batch will be taken again. Called once. */
  onFatal(error: MlperfError): void;
}

/** Parts and settings of a pool. */
interface WorkerPoolOptions {
  readonly workerCount: number;
  readonly start: WorkerStart;
  readonly spawn: SpawnWorker;
  readonly clock: Clock;
  /** Longest time for a worker to load the model, and again to warm up, ns. */
  readonly startTimeoutNs: number;
  readonly logger: Logger;
  readonly events: WorkerPoolEvents;
}

/**
 * The workers, threads or processes, each with its own model session. A worker that ends is
 * replaced, and its batches are reported as lost; the pool gives up after {@link LOSSES_MAX}
 * consecutive ends.
 */
export class WorkerPool implements BatchWorkers {
  readonly #options: WorkerPoolOptions;
  readonly #workers: PoolWorker[] = [];
  readonly #packer: BatchPacker;
  #state: 'starting' | 'running' | 'failed' | 'stopped' = 'starting';
  #lossesInRow = 0;
  /** Why a worker ended before all were ready. */
  #startFailure: MlperfError | undefined;
  #nextNumber = 0;
  /** Most batches at a worker. A generating model processes many concurrently. */
  batchesMax = BATCHES_MAX;
  /** Number of replaced workers. */
  replacedCount = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#packer = new BatchPacker(options.workerCount);
  }

  /**
   * Starts the first worker and returns its model's tensors, so that an unsuitable model is refused
   * before all workers load it.
   * @throws MlperfError `ERR_MODEL`, `ERR_SUT_WORKER`, `ERR_NOT_INSTALLED`, `ERR_INTERRUPTED` if
   * the pool was stopped meanwhile
   */
  load(): Promise<ModelTensors> {
    return this.#unlessStopped(this.#add().loaded);
  }

  /**
   * Starts the other workers and runs the model once in each. @throws MlperfError as {@link load}
   */
  async warmUp(): Promise<void> {
    while (this.#workers.length < this.#options.workerCount) this.#add();
    await this.#unlessStopped(Promise.all(this.#workers.map((worker) => worker.getReady())));
    // A worker that had run the model may have ended while others had not.
    if (this.#startFailure !== undefined) throw this.#startFailure;
    assert.equal(this.#state, 'starting');
    this.#state = 'running';
    this.#options.events.onRoom();
  }

  /** Live workers, including those that are loading. */
  get workerCountNow(): number {
    return this.#workers.length;
  }

  /** Process ids of the workers; empty for threads. */
  get pids(): number[] {
    return this.#workers.flatMap(({ pid }) => pid ?? []);
  }

  get hasIdle(): boolean {
    return this.#state === 'running' && this.#workers.some((worker) => worker.isIdle);
  }

  get hasRoom(): boolean {
    return this.#state === 'running' && this.#workers.some((worker) => this.#hasRoom(worker));
  }

  run(batch: Batch): void {
    let chosen: PoolWorker | undefined;
    for (const worker of this.#workers) {
      if (this.#hasRoom(worker) && worker.batchCount < (chosen?.batchCount ?? Infinity)) {
        chosen = worker;
      }
    }
    assert(chosen !== undefined, 'no worker has room for a batch');
    chosen.run(batch, this.#packer.pack(batch));
  }

  /** Cancels batches at workers that nobody needs any more. */
  cancel(isLeft: (batch: Batch) => boolean): void {
    for (const worker of this.#workers) worker.cancel(isLeft);
  }

  #hasRoom(worker: PoolWorker): boolean {
    return worker.isReady && worker.batchCount < this.batchesMax;
  }

  /**
   * Ends all workers after their current batches. Their other batches get no answer.
   * @param giveUp Aborted after the grace time; the log names the workers given up.
   */
  async stop(giveUp: AbortSignal): Promise<void> {
    this.#state = 'stopped';
    await Promise.all(
      this.#workers.splice(0).map(async (worker) => {
        if (await worker.stop(giveUp)) return;
        const text = 'a worker did not end on request and is given up';
        this.#options.logger.error({ worker: worker.name }, text);
      }),
    );
  }

  /** A part of the start; the requested end of workers is no failure. */
  async #unlessStopped<T>(part: Promise<T>): Promise<T> {
    const [outcome] = await Promise.allSettled([part]);
    if (this.#state === 'stopped') {
      throw new MlperfError('ERR_INTERRUPTED', 'the workers were stopped before all were ready');
    }
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  #add(): PoolWorker {
    const name = `worker ${this.#nextNumber}`;
    this.#nextNumber += 1;
    const { onFirstToken, onTokens } = this.#options.events;
    const events = { onDone: this.#onDone, onFirstToken, onTokens, onEnd: this.#onEnd };
    const worker = new PoolWorker({ ...this.#options, name, events });
    this.#workers.push(worker);
    return worker;
  }

  readonly #onDone = (batch: Batch, done: DoneMessage): void => {
    this.#lossesInRow = 0;
    this.#packer.takeBack(batch, done.payloads);
    if (this.#state === 'stopped') return;
    // Feed the worker first; answers are sent while it computes.
    this.#options.events.onRoom();
    this.#options.events.onDone(batch, done);
  };

  readonly #onEnd = (worker: PoolWorker, error: MlperfError, held: readonly Batch[]): void => {
    const index = this.#workers.indexOf(worker);
    if (index >= 0) this.#workers.splice(index, 1);
    // During the start, load() and warmUp() report the error.
    if (this.#state === 'starting') this.#startFailure ??= error;
    if (this.#state === 'starting' || this.#state === 'stopped') return;
    this.#lossesInRow += 1;
    this.#options.logger.error({ err: error, batches: held.length }, 'a worker ended');
    for (const batch of held) this.#options.events.onLost(batch, error);
    if (this.#state === 'failed') return;
    if (this.#lossesInRow >= LOSSES_MAX) this.#giveUp(error);
    else this.#replace();
  };

  #replace(): void {
    this.replacedCount += 1;
    const worker = this.#add();
    worker.getReady().then(
      () => {
        this.#options.logger.info({ worker: worker.name }, 'a worker was replaced');
        if (this.#state === 'running') this.#options.events.onRoom();
      },
      // The worker's end was reported to #onEnd, which counts it.
      () => {},
    );
  }

  #giveUp(error: MlperfError): void {
    // Live workers finish their batches.
    this.#state = 'failed';
    this.#options.events.onFatal(
      workerError(
        `${LOSSES_MAX} workers ended one after another, the last one because: ${error.message}`,
        error,
      ),
    );
  }
}

/**
 * Batches at a worker: a running one and a waiting one, so that no full batch waits for this
 * thread.
 */
const BATCHES_MAX = 2;

/** Events of a worker. */
interface PoolWorkerEvents extends Pick<WorkerPoolEvents, 'onFirstToken' | 'onTokens'> {
  onDone(batch: Batch, done: DoneMessage): void;
  /** The worker has ended with these unanswered batches. Called once. */
  onEnd(worker: PoolWorker, error: MlperfError, held: readonly Batch[]): void;
}

/** Parts and settings of a worker of the pool. */
interface PoolWorkerOptions
  extends Pick<WorkerPoolOptions, 'spawn' | 'start' | 'clock' | 'startTimeoutNs'> {
  readonly name: string;
  readonly events: PoolWorkerEvents;
}

/**
 * One worker of the pool.
 *
 *   loading ──loaded──► loaded ──warmUp(), ready──► ready
 *      └──────────────────┴── failed, worker ended, ──┴──► ended
 *                             start took too long
 */
class PoolWorker implements WorkerThreadEvents {
  readonly name: string;
  readonly #options: PoolWorkerOptions;
  readonly #thread: WorkerThread;
  /** By number, in order of arrival. */
  readonly #batches = new Map<number, Batch>();
  #nextNumber = 0;
  readonly #loaded = new Deferred<ModelTensors>();
  readonly #warm = new Deferred<void>();
  readonly #ended = new Deferred<void>();
  isReady = false;
  #isEnded = false;
  #failure: FailedMessage | undefined;
  #deadline: PlannedCall | undefined;

  constructor(options: PoolWorkerOptions) {
    this.name = options.name;
    this.#options = options;
    this.#thread = this.#spawn();
    this.#limitTo('load the model');
  }

  /** Resolves when the model is loaded. @throws MlperfError if the worker cannot start. */
  get loaded(): Promise<ModelTensors> {
    return this.#loaded.promise;
  }

  get pid(): number | undefined {
    return this.#thread.pid;
  }

  get isIdle(): boolean {
    return this.isReady && this.batchCount === 0;
  }

  get batchCount(): number {
    return this.#batches.size;
  }

  /** Runs the model once after loading; then the worker takes batches. @throws MlperfError */
  async getReady(): Promise<void> {
    await this.loaded;
    this.#limitTo('run the model for the first time');
    this.#thread.post({ kind: 'warm-up' }, []);
    await this.#warm.promise;
  }

  /** Sends a batch. Requires {@link isReady}. */
  run(batch: Batch, message: BatchMessage): void {
    assert(this.isReady);
    const number = this.#nextNumber;
    this.#nextNumber += 1;
    this.#batches.set(number, batch);
    this.#thread.post({ ...message, number }, [message.payloads]);
  }

  cancel(isLeft: (batch: Batch) => boolean): void {
    for (const [number, batch] of this.#batches) {
      if (isLeft(batch)) this.#thread.post({ kind: 'cancel', number }, []);
    }
  }

  /**
   * Lets the worker end after its current batch.
   * @param giveUp Aborted after the grace time: a worker that has not ended is given up.
   * @returns False if it was given up: its thread may still run.
   */
  async stop(giveUp: AbortSignal): Promise<boolean> {
    const ended = Promise.race([this.#thread.stop(), this.#ended.promise]).then(() => true);
    if (await Promise.race([ended, abortOf(giveUp)])) return true;
    this.#abandon('it did not end when it was asked to');
    return false;
  }

  onMessage(message: FromWorker): void {
    // It was given up, and ended later.
    if (this.#isEnded) return;
    switch (message.kind) {
      case 'loaded':
        this.#deadline?.cancel();
        this.#loaded.resolve(message.tensors);
        break;
      case 'ready':
        this.#deadline?.cancel();
        this.isReady = true;
        this.#warm.resolve();
        break;
      case 'failed':
        // The thread ends now; onEnd handles the rest.
        this.#failure = message;
        break;
      case 'first-token':
        this.#options.events.onFirstToken(this.#batchOf(message.number), message.payload);
        break;
      case 'tokens': {
        const { numbers, ends, payload } = message;
        const bytesOf = (i: number) => payload.subarray(i === 0 ? 0 : ends[i - 1], ends[i]);
        this.#options.events.onTokens(
          numbers.map((number, i) => [this.#batchOf(number), bytesOf(i)]),
        );
        break;
      }
      case 'done': {
        const batch = this.#batchOf(message.number);
        this.#batches.delete(message.number);
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
    this.isReady = false;
    const error =
      this.#failure === undefined
        ? workerError(`${this.name} ended: ${reason}`)
        : new MlperfError(this.#failure.code, this.#failure.text);
    this.#loaded.reject(error);
    this.#warm.reject(error);
    this.#ended.resolve();
    const held = [...this.#batches.values()];
    this.#batches.clear();
    this.#options.events.onEnd(this, error, held);
  }

  #batchOf(number: number): Batch {
    const batch = this.#batches.get(number);
    assert(batch !== undefined, 'a worker answered a batch that it was not given');
    return batch;
  }

  /** If the machine has no thread or process left, the worker counts as ended. */
  #spawn(): WorkerThread {
    try {
      const { spawn, start } = this.#options;
      return spawn(this.name, start, this);
    } catch (error) {
      if (error instanceof MlperfError) {
        this.#failure = { kind: 'failed', code: error.code, text: error.message };
      }
      queueMicrotask(() => this.onEnd(`it cannot start: ${messageOf(error)}`));
      return { post: () => {}, stop: () => Promise.resolve(), abandon: () => {} };
    }
  }

  /** A hanging worker counts as ended, so that the node reports it instead of waiting for ever. */
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

/** Resolves with false when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<false> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    else signal.addEventListener('abort', () => resolve(false), { once: true });
  });
}
