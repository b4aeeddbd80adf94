import assert from 'node:assert';
import { ReusedBuffers } from '../../../shared/base/bytes/reused-buffers.ts';
import type { Clock } from '../../../shared/base/clock/clock.ts';
import { MlperfError } from '../../../shared/base/errors/mlperf-error.ts';
import type { Logger } from '../../../shared/base/process/logger.ts';
import type { ModelTensors } from '../../model/model-facts.ts';
import type { Batch, BatchWorkers } from '../batcher/sut-model.ts';
import type { WaitingSample } from '../batcher/waiting-sample.ts';
import { PoolWorker } from './pool-worker.ts';
import type { BatchMessage, DoneMessage, WorkerStart } from './worker-messages.ts';
import type { SpawnWorker } from './worker-thread.ts';

/** Workers that end one after another, without a batch completed in between, before the pool gives up. */
const LOSSES_MAX = 3;

/** What the pool reports. */
interface WorkerPoolEvents {
  onDone(batch: Batch, done: DoneMessage): void;
  /** The worker that had the batch is gone. */
  onLost(batch: Batch, error: MlperfError): void;
  /** A worker can take a batch. */
  onRoom(): void;
  /** Workers cannot be replaced any more: no batch will ever be taken again. Called once. */
  onFatal(error: MlperfError): void;
}

/** What a pool needs to know. */
export interface WorkerPoolOptions {
  readonly workerCount: number;
  readonly start: WorkerStart;
  readonly spawn: SpawnWorker;
  readonly clock: Clock;
  /** Longest time for a worker to load the model, and again to warm up. */
  readonly startTimeoutNs: number;
  readonly logger: Logger;
  readonly events: WorkerPoolEvents;
}

/**
 * The workers, threads or processes, each with a model session of its own. A worker that ends is replaced, and the
 * batches that it held are reported as lost; the pool gives up after {@link LOSSES_MAX} such ends in a row.
 */
export class WorkerPool implements BatchWorkers {
  readonly #options: WorkerPoolOptions;
  readonly #workers: PoolWorker[] = [];
  readonly #buffers: ReusedBuffers;
  #state: 'starting' | 'running' | 'failed' | 'stopped' = 'starting';
  #lossesInRow = 0;
  /** Why a worker ended before all were ready. */
  #startFailure: MlperfError | undefined;
  #nextNumber = 0;
  /** Workers that had to be replaced. */
  replacedCount = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#buffers = new ReusedBuffers(2 * options.workerCount);
  }

  /**
   * Starts the first worker and returns what its model looks like, so that a model that does not fit
   * is refused before all workers have loaded it.
   * @throws MlperfError `ERR_MODEL`, `ERR_SUT_WORKER`, `ERR_NOT_INSTALLED`, `ERR_INTERRUPTED` when the pool was
   *   stopped meanwhile
   */
  load(): Promise<ModelTensors> {
    return this.#unlessStopped(this.#add().loaded);
  }

  /** Starts the other workers and runs the model once in each. @throws MlperfError as {@link load} */
  async warmUp(): Promise<void> {
    while (this.#workers.length < this.#options.workerCount) this.#add();
    const warm = this.#workers.map(async (worker) => {
      await worker.loaded;
      await worker.warmUp();
    });
    await this.#unlessStopped(Promise.all(warm));
    // One that had run the model may have ended while others had not.
    if (this.#startFailure !== undefined) throw this.#startFailure;
    assert.equal(this.#state, 'starting');
    this.#state = 'running';
    this.#options.events.onRoom();
  }

  /** Workers that live, those that are loading included. */
  get workerCountNow(): number {
    return this.#workers.length;
  }

  get hasIdle(): boolean {
    return this.#state === 'running' && this.#workers.some((worker) => worker.isIdle);
  }

  get hasRoom(): boolean {
    return this.#state === 'running' && this.#workers.some((worker) => worker.hasRoom);
  }

  run(batch: Batch): void {
    const worker =
      this.#workers.find((worker) => worker.isIdle) ??
      this.#workers.find((worker) => worker.hasRoom);
    assert(worker !== undefined, 'no worker has room for a batch');
    worker.run(batch, this.#pack(batch));
  }

  /**
   * Ends all workers behind the batches that they run now. What they hold gets no answer.
   * @param giveUp Aborted when they have had time enough; the log says which are given up then.
   */
  async stop(giveUp: AbortSignal): Promise<void> {
    this.#state = 'stopped';
    await Promise.all(
      this.#workers.splice(0).map(async (worker) => {
        if (await worker.stop(giveUp)) return;
        const text = 'a worker did not end when it was asked to, and is given up';
        this.#options.logger.error({ worker: worker.name }, text);
      }),
    );
  }

  /** A part of the start; that workers end when they are told to is no failure of theirs. */
  async #unlessStopped<T>(part: Promise<T>): Promise<T> {
    const [outcome] = await Promise.allSettled([part]);
    if (this.#state === 'stopped') {
      throw new MlperfError('ERR_INTERRUPTED', 'the workers were stopped before all were ready');
    }
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }

  /** The one copy of the payloads: from the messages that brought them into the buffer that travels. */
  #pack(batch: Batch): BatchMessage {
    const { samples } = batch;
    const count = samples.length;
    let total = 0;
    samples.forEach((sample, i) => {
      if (!sharesPayload(sample, samples[i - 1])) total += piecesBytes(sample);
    });
    const payloads = this.#buffers.take(total);
    const bytes = new Uint8Array(payloads);
    const begins = new Float64Array(count);
    const ends = new Float64Array(count);
    const forms = new Uint8Array(count);
    let hasSlices = false;
    let begin = 0;
    let position = 0;
    for (let i = 0; i < count; i += 1) {
      const sample = samples[i] as WaitingSample; // In range: i < count.
      if (!sharesPayload(sample, samples[i - 1])) {
        begin = position;
        for (const piece of sample.pieces) {
          bytes.set(piece, position);
          position += piece.length;
        }
      }
      begins[i] = begin;
      ends[i] = position;
      forms[i] = sample.form;
      hasSlices ||= sample.slice !== undefined;
    }
    assert.equal(position, total);
    const message = { kind: 'batch', payloads, begins, ends, forms } as const;
    return hasSlices ? { ...message, slices: samples.map((sample) => sample.slice) } : message;
  }

  #add(): PoolWorker {
    const { spawn, start, clock, startTimeoutNs } = this.#options;
    const name = `worker ${this.#nextNumber}`;
    this.#nextNumber += 1;
    const worker = new PoolWorker({
      name,
      spawn: (events) => spawn(name, start, events),
      clock,
      startTimeoutNs,
      events: { onDone: this.#onDone, onEnd: this.#onEnd },
    });
    this.#workers.push(worker);
    return worker;
  }

  readonly #onDone = (batch: Batch, done: DoneMessage): void => {
    this.#lossesInRow = 0;
    this.#buffers.giveBack(done.payloads);
    if (this.#state === 'stopped') return;
    // The worker goes on first, the answers go out while it computes.
    this.#options.events.onRoom();
    this.#options.events.onDone(batch, done);
  };

  readonly #onEnd = (worker: PoolWorker, error: MlperfError, held: readonly Batch[]): void => {
    const index = this.#workers.indexOf(worker);
    if (index >= 0) this.#workers.splice(index, 1);
    // While the pool starts, load() and warmUp() tell the error.
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
    const ready = async (): Promise<void> => {
      await worker.loaded;
      await worker.warmUp();
    };
    ready().then(
      () => {
        this.#options.logger.info({ worker: worker.name }, 'a worker was replaced');
        if (this.#state === 'running') this.#options.events.onRoom();
      },
      // The worker's end was reported to #onEnd, which counts it.
      () => {},
    );
  }

  #giveUp(error: MlperfError): void {
    // Workers that still live end what they hold.
    this.#state = 'failed';
    this.#options.events.onFatal(
      new MlperfError(
        'ERR_SUT_WORKER',
        `${LOSSES_MAX} workers ended one after another, the last one because: ${error.message}`,
        { cause: error },
      ),
    );
  }
}

/** True when both are samples of one query that travelled, compressed, as a whole. */
function sharesPayload(sample: WaitingSample, before: WaitingSample | undefined): boolean {
  return sample.slice !== undefined && sample.pieces[0] === before?.pieces[0];
}

function piecesBytes(sample: WaitingSample): number {
  let bytes = 0;
  for (const piece of sample.pieces) bytes += piece.length;
  return bytes;
}
