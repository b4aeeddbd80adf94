import { describe, expect, it } from 'vitest';
import {
  type Batch,
  type BatchWorkers,
  DynamicBatcher,
} from '../../../../sut-node/batcher/dynamic-batcher.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordingOwner, waitingSample } from '../../../support/waiting-samples.ts';

const DELAY_NS = 500_000;

/** Workers that hold up to two batches each until a test completes them. */
class FakeWorkers implements BatchWorkers {
  readonly batches: Batch[] = [];
  readonly #held: number[];

  constructor(workerCount: number) {
    this.#held = new Array<number>(workerCount).fill(0);
  }

  get hasIdle(): boolean {
    return this.#held.includes(0);
  }

  get hasRoom(): boolean {
    return this.#held.some((held) => held < 2);
  }

  get sizes(): number[] {
    return this.batches.map((batch) => batch.samples.length);
  }

  run(batch: Batch): void {
    const idle = this.#held.indexOf(0);
    const worker = idle >= 0 ? idle : this.#held.indexOf(1);
    expect(worker).toBeGreaterThanOrEqual(0);
    this.#held[worker] = (this.#held[worker] as number) + 1;
    this.batches.push(batch);
  }

  complete(worker: number): void {
    this.#held[worker] = (this.#held[worker] as number) - 1;
  }
}

function setUp(options: { workers?: number; delayNs?: number; sizeMax?: number; queue?: number }) {
  const clock = new ManualClock();
  const workers = new FakeWorkers(options.workers ?? 1);
  const batcher = new DynamicBatcher({
    batchSizeMax: options.sizeMax ?? 4,
    batchDelayNsMax: options.delayNs ?? 0,
    queueSamplesMax: options.queue ?? 64,
    clock,
    workers,
  });
  let nextId = 0;
  const arrive = (count: number, owner = new RecordingOwner()) => {
    for (let i = 0; i < count; i += 1) {
      batcher.add(waitingSample(nextId, { owner, queuedAtNs: clock.nowNs() }));
      nextId += 1;
    }
    batcher.dispatch();
  };
  return { clock, workers, batcher, arrive };
}

// Goal: batches close by size or by age, go out at once when a worker is idle, and otherwise wait here.
// Method: a manual clock and workers that complete on command.
describe('DynamicBatcher', () => {
  it('runs a single sample at once on an idle worker when there is no delay', () => {
    const { workers, arrive, clock } = setUp({});
    arrive(1);
    expect(workers.sizes).toEqual([1]);
    expect(clock.plannedCount).toBe(0);
  });

  it('lets samples wait, and the batch grow, while all workers are busy', () => {
    const { workers, arrive, batcher } = setUp({});
    arrive(1);
    arrive(1);
    arrive(2);
    expect(workers.sizes).toEqual([1]);
    workers.complete(0);
    batcher.dispatch();
    expect(workers.sizes).toEqual([1, 3]);
  });

  it('sends one full batch ahead to a busy worker, and keeps the next', () => {
    const { workers, arrive, batcher } = setUp({});
    arrive(12);
    expect(workers.sizes).toEqual([4, 4]);
    expect(batcher.waitingCount).toBe(4);
  });

  it('cuts many samples into batches of the largest size over all workers', () => {
    const { workers, arrive, batcher } = setUp({ workers: 2 });
    arrive(18);
    expect(workers.sizes).toEqual([4, 4, 4, 4]);
    expect(batcher.waitingCount).toBe(2);
  });

  it('waits for a fuller batch until the oldest sample has waited the delay', () => {
    const { workers, arrive, clock } = setUp({ delayNs: DELAY_NS });
    arrive(1);
    clock.advance(DELAY_NS - 1);
    arrive(1);
    expect(workers.sizes).toEqual([]);
    clock.advance(1);
    expect(workers.sizes).toEqual([2]);
    expect(workers.batches[0]?.takenAtNs).toBe(DELAY_NS);
  });

  it('closes a batch that is full before the delay is over, and forgets the timer', () => {
    const { workers, arrive, clock } = setUp({ delayNs: DELAY_NS });
    arrive(3);
    expect(clock.plannedCount).toBe(1);
    arrive(1);
    expect(workers.sizes).toEqual([4]);
    expect(clock.plannedCount).toBe(0);
  });

  it('keeps one timer while samples arrive', () => {
    const { arrive, clock } = setUp({ delayNs: DELAY_NS });
    arrive(1);
    arrive(1);
    arrive(1);
    expect(clock.plannedCount).toBe(1);
  });

  it('sets no timer while all workers are busy, and runs what is overdue when one is free', () => {
    const { workers, arrive, clock, batcher } = setUp({ delayNs: DELAY_NS });
    arrive(4);
    arrive(2);
    expect(clock.plannedCount).toBe(0);
    clock.advance(2 * DELAY_NS);
    expect(workers.sizes).toEqual([4]);
    workers.complete(0);
    batcher.dispatch();
    expect(workers.sizes).toEqual([4, 2]);
  });

  it('plans anew for the samples that a closed batch left behind', () => {
    const { workers, arrive, clock } = setUp({ workers: 2, delayNs: DELAY_NS });
    arrive(2);
    clock.advance(100);
    arrive(3);
    expect(workers.sizes).toEqual([4]);
    clock.advance(DELAY_NS - 1);
    expect(workers.sizes).toEqual([4]);
    clock.advance(1);
    expect(workers.sizes).toEqual([4, 1]);
  });

  it('refuses a sample when the queue is full', () => {
    const { batcher, arrive } = setUp({ queue: 8 });
    arrive(8);
    arrive(8);
    expect(batcher.waitingCount).toBe(8);
    expect(batcher.add(waitingSample(99))).toBe(false);
  });

  it('does not run samples of an owner that has gone away', () => {
    const { workers, arrive, batcher } = setUp({});
    const gone = new RecordingOwner();
    arrive(1);
    arrive(2, gone);
    expect(batcher.removeOwner(gone)).toBe(2);
    workers.complete(0);
    batcher.dispatch();
    expect(workers.sizes).toEqual([1]);
  });

  it('gives everything out when no worker will come', () => {
    const { batcher, arrive, clock } = setUp({ delayNs: DELAY_NS });
    arrive(3);
    expect(batcher.removeAll().map((sample) => sample.id)).toEqual([0, 1, 2]);
    expect(clock.plannedCount).toBe(0);
  });
});
