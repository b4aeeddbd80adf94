import type { Clock, PlannedCall } from '../../shared/clock/clock.ts';
import { BatchQueue } from './batch-queue.ts';
import type { SampleOwner, WaitingSample } from './waiting-sample.ts';

/** Samples that go through the model together. */
export interface Batch {
  readonly samples: readonly WaitingSample[];
  /** When the batch left the queue, in ns by the node's clock. */
  readonly takenAtNs: number;
}

/** The workers as the batcher sees them. */
export interface BatchWorkers {
  /** True when a worker has nothing to do. */
  readonly hasIdle: boolean;
  /** True when a worker can take a batch now: idle, or busy with none waiting behind. */
  readonly hasRoom: boolean;
  /** Takes a batch. Only after {@link hasRoom}; an idle worker goes first. */
  run(batch: Batch): void;
}

/** When the batcher closes a batch: at `batchSizeMax` or at `batchDelayNsMax`, whichever comes first. */
export interface BatcherOptions {
  readonly batchSizeMax: number;
  /** Longest wait of the oldest sample for a fuller batch while a worker is idle. */
  readonly batchDelayNsMax: number;
  /** Most samples that wait at once. */
  readonly queueSamplesMax: number;
  readonly clock: Clock;
  readonly workers: BatchWorkers;
}

/**
 * Joins waiting samples, of whatever query and stream, into batches.
 *
 *   full batch                 → any worker with room: idle, or one ahead of a busy one, so that no
 *                                worker waits for this thread between two full batches
 *   not full, delay is over    → an idle worker, at once
 *   not full, all workers busy → stays: it could only wait at the worker, and here it can still grow
 *   not full, delay not over   → a timer, set only while a worker is idle
 *
 * Thus the queue is here and nowhere else, and what the timer costs is taken from an idle core.
 */
export class DynamicBatcher {
  readonly #queue: BatchQueue;
  readonly #options: BatcherOptions;
  #timer: PlannedCall | undefined;
  #timerAtNs = 0;

  constructor(options: BatcherOptions) {
    this.#options = options;
    this.#queue = new BatchQueue(options.queueSamplesMax);
  }

  get waitingCount(): number {
    return this.#queue.count;
  }

  /** Puts a sample into the queue; false when it is full. Call {@link dispatch} after the last of a part. */
  add(sample: WaitingSample): boolean {
    return this.#queue.push(sample);
  }

  /** Hands out what is due. Called when samples or room at a worker came. */
  readonly dispatch = (): void => {
    const { batchSizeMax, clock, workers } = this.#options;
    while (this.#queue.count >= batchSizeMax && workers.hasRoom) this.#run(batchSizeMax);
    while (this.#queue.count > 0 && workers.hasIdle) {
      const dueAtNs = this.#dueAtNs();
      if (dueAtNs > clock.nowNs()) {
        this.#wakeAt(dueAtNs);
        return;
      }
      this.#run(Math.min(this.#queue.count, batchSizeMax));
    }
    this.#stopTimer();
  };

  /** Drops the waiting samples of an owner that has gone away; returns how many. */
  removeOwner(owner: SampleOwner): number {
    return this.#queue.removeOwner(owner);
  }

  /** Takes everything out: no worker will come. */
  removeAll(): WaitingSample[] {
    this.#stopTimer();
    return this.#queue.shift(this.#queue.count);
  }

  /** Most parts that arrive leave the oldest sample, and so the timer, as it was. */
  #wakeAt(atNs: number): void {
    if (this.#timer !== undefined && this.#timerAtNs === atNs) return;
    this.#stopTimer();
    this.#timerAtNs = atNs;
    this.#timer = this.#options.clock.callAt(atNs, () => {
      this.#timer = undefined;
      this.dispatch();
    });
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #dueAtNs(): number {
    const oldest = this.#queue.oldest as WaitingSample; // The caller saw count > 0.
    return oldest.queuedAtNs + this.#options.batchDelayNsMax;
  }

  #run(count: number): void {
    const samples = this.#queue.shift(count);
    this.#options.workers.run({ samples, takenAtNs: this.#options.clock.nowNs() });
  }
}
