import assert from 'node:assert';
import type { Clock, PlannedCall } from '../../../shared/base/clock/clock.ts';
import { type BatchPolicy, batchSizes } from './batch-policy.ts';
import {
  BatchQueue,
  GroupedQueue,
  removeOwner,
  type WaitingLine,
  type WaitingLines,
} from './grouped-queue.ts';
import type { BatchWorkers, SampleOwner, WaitingSample } from './sut-model.ts';

/** What a batcher needs to know. */
export interface BatcherOptions {
  readonly policy: BatchPolicy;
  /** Most samples that wait at once. */
  readonly queueSamplesMax: number;
  readonly clock: Clock;
  readonly workers: BatchWorkers;
  /** Told of the samples in every batch, where metrics are asked for. */
  readonly observeBatch?: ((sampleCount: number) => void) | undefined;
}

/**
 * Joins waiting samples, of whatever query and stream, into batches.
 *
 *   full batch                     → any worker with room: idle, or one ahead of a busy one, so that no
 *                                    worker waits for this thread between two full batches
 *   a preferred size is waiting    → an idle worker, at once: the largest such size that is filled
 *   delay of the oldest is over    → an idle worker, at once: the largest preferred size that is filled, or
 *                                    all where none is; what stays waits its own delay
 *   less, all workers busy         → stays: it could only wait at the worker, and here it can still grow
 *   less, delay not over           → a timer, set only while a worker is idle
 *
 * Thus the queue is here and nowhere else, and what the timer costs is taken from an idle core.
 *
 * Samples of different groups wait in lines of their own. The oldest sample goes first: before a full batch
 * of another line goes the line of an older sample whose delay is over, full or not, or it would starve.
 *
 * No batch mixes benchmarks or models: a node serves one, and a stream that asks for another is refused when
 * it opens (server/infer/open-negotiation.ts). Payloads are not looked at here, and equal samples are never merged
 * (rule: inference_rules, "coalescing identical queries" is forbidden): each sample has a row of its own.
 *
 * Hot path: per batch one list and one object are made, per sample nothing.
 */
export class DynamicBatcher {
  readonly #options: BatcherOptions;
  #policy: BatchPolicy;
  #lines: WaitingLines;
  /** Size of a batch by the number that waits. */
  #sizes: Uint16Array;
  /** The smallest size that an idle worker gets without a wait. */
  #readySize: number;
  #timer: PlannedCall | undefined;
  #timerAtNs = 0;

  constructor(options: BatcherOptions) {
    this.#options = options;
    this.#policy = options.policy;
    this.#sizes = batchSizes(options.policy);
    this.#readySize = options.policy.preferredSizes[0] ?? options.policy.batchSizeMax;
    this.#lines = new BatchQueue(options.queueSamplesMax);
  }

  get waitingCount(): number {
    return this.#lines.count;
  }

  /** Takes over what only the loaded model tells: its policy and whether it has groups. Before any sample. */
  fitTo(policy: BatchPolicy): void {
    assert.equal(this.#lines.count, 0);
    const { queueSamplesMax: capacity, workers } = this.#options;
    this.#policy = policy;
    this.#sizes = batchSizes(policy);
    this.#readySize = policy.preferredSizes[0] ?? policy.batchSizeMax;
    if (workers.groupOf === undefined) return;
    const groupOf = (sample: WaitingSample): number => workers.groupOf?.(sample) ?? 0;
    this.#lines = new GroupedQueue({ capacity, lineMin: this.#readySize, groupOf });
  }

  /** Puts a sample into the queue; false when it is full. Call {@link dispatch} after the last of a part. */
  add(sample: WaitingSample): boolean {
    return this.#lines.push(sample);
  }

  /** Hands out what is due. Called when samples or room at a worker came. */
  readonly dispatch = (): void => {
    const { workers } = this.#options;
    while (workers.hasRoom) {
      const line = this.#fullLine();
      if (line === undefined) break;
      this.#run(line);
    }
    while (workers.hasIdle) {
      const { front } = this.#lines;
      if (front === undefined) break;
      const line = this.#isOverdue(front) ? front : this.#lines.frontOf(this.#readySize);
      if (line === undefined) {
        this.#wakeAt(this.#dueAtNs(front));
        return;
      }
      this.#run(line);
    }
    this.#stopTimer();
  };

  /** Drops the waiting samples of an owner that has gone away; returns how many. */
  removeOwner(owner: SampleOwner): number {
    return removeOwner(this.#lines, owner);
  }

  /** Takes everything out: no worker will come. */
  removeAll(): WaitingSample[] {
    this.#stopTimer();
    return this.#lines.removeAll();
  }

  /** The line that a worker with room gets, if any holds a full batch. */
  #fullLine(): WaitingLine | undefined {
    const line = this.#lines.frontOf(this.#policy.batchSizeMax);
    const { front } = this.#lines;
    if (line === undefined || front === undefined || front === line) return line;
    return this.#isOverdue(front) ? front : line;
  }

  #isOverdue(line: WaitingLine): boolean {
    // Without a delay the clock need not be read.
    return this.#policy.batchDelayNsMax === 0 || this.#dueAtNs(line) <= this.#options.clock.nowNs();
  }

  #dueAtNs(line: WaitingLine): number {
    const oldest = line.oldest as WaitingSample; // Lines that are given out are not empty.
    return oldest.queuedAtNs + this.#policy.batchDelayNsMax;
  }

  #run(line: WaitingLine): void {
    const waiting = Math.min(line.count, this.#policy.batchSizeMax);
    const samples = line.shift(this.#sizes[waiting] as number);
    this.#options.observeBatch?.(samples.length);
    this.#options.workers.run({ samples, takenAtNs: this.#options.clock.nowNs() });
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
}
