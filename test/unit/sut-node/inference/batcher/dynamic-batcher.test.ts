import { describe, expect, it } from 'vitest';
import {
  batchPolicy,
  DynamicBatcher,
} from '../../../../../sut-node/inference/batcher/dynamic-batcher.ts';
import type { Batch, BatchWorkers } from '../../../../../sut-node/inference/batcher/sut-model.ts';
import { ManualClock } from '../../../../scenes/clock.ts';
import { RecordingOwner, waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';

const DELAY_NS = 500_000;

/** Workers that hold up to two batches each until a test completes them. */
class FakeWorkers implements BatchWorkers {
  readonly batches: Batch[] = [];
  readonly groupOf: BatchWorkers['groupOf'];
  readonly #held: number[];

  constructor(workerCount: number, groupOf: BatchWorkers['groupOf']) {
    this.groupOf = groupOf;
    this.#held = new Array<number>(workerCount).fill(0);
  }

  get hasIdle(): boolean {
    return this.#held.includes(0);
  }

  get hasRoom(): boolean {
    return this.#held.some((held) => held < 2);
  }

  get ids(): number[][] {
    return this.batches.map((batch) => batch.samples.map((sample) => sample.id));
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

interface Scene {
  readonly workers?: number;
  readonly delayNs?: number;
  readonly sizeMax?: number;
  readonly preferred?: number[];
  readonly queue?: number;
  readonly groupOf?: BatchWorkers['groupOf'];
}

const NOTHING_ASKED = { batchPreset: 'none', batchSizeAsked: undefined } as const;

function setUp(options: Scene) {
  const clock = new ManualClock();
  const workers = new FakeWorkers(options.workers ?? 1, options.groupOf);
  const policy = batchPolicy({
    ...NOTHING_ASKED,
    batchSizeMax: options.sizeMax ?? 4,
    batchDelayUsMax: (options.delayNs ?? 0) / 1_000,
    batchPreferredSizes: options.preferred ?? [],
  });
  const batcher = new DynamicBatcher({
    policy,
    queueSamplesMax: options.queue ?? 64,
    clock,
    workers,
  });
  batcher.fitTo(policy);
  let nextId = 0;
  const arrive = (count: number, owner = new RecordingOwner(), form = 0) => {
    for (let i = 0; i < count; i += 1) {
      batcher.add(waitingSample(nextId, { owner, form, queuedAtNs: clock.nowNs() }));
      nextId += 1;
    }
    batcher.dispatch();
  };
  /** Samples of a group, where the groups are made of the form. */
  const arriveOf = (form: number, count: number) => arrive(count, undefined, form);
  const complete = (worker: number) => {
    workers.complete(worker);
    batcher.dispatch();
  };
  return { clock, workers, batcher, arrive, arriveOf, complete };
}

// Goal: batches close by size or by age, go out at once when a worker is idle, and otherwise wait
// here. Method: a manual clock and workers that complete on command.
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

// Goal: an idle worker gets a preferred size without a wait, and nothing waits longer than its
// delay.
describe('DynamicBatcher with preferred sizes', () => {
  const SCENE = { sizeMax: 16, preferred: [8, 4], delayNs: DELAY_NS };

  it('gives an idle worker the largest preferred size that is filled, at once', () => {
    const { workers, batcher, arrive } = setUp({ ...SCENE, workers: 2 });
    arrive(3);
    expect(workers.sizes).toEqual([]);
    arrive(6);
    expect(workers.sizes).toEqual([8]);
    expect(batcher.waitingCount).toBe(1);
  });

  it('lets the rest wait its own delay', () => {
    const { workers, arrive, clock } = setUp({ ...SCENE, workers: 2 });
    arrive(3);
    clock.advance(DELAY_NS - 1_000);
    arrive(2);
    expect(workers.ids).toEqual([[0, 1, 2, 3]]);
    clock.advance(DELAY_NS - 1);
    expect(workers.sizes).toEqual([4]);
    clock.advance(1);
    expect(workers.ids).toEqual([[0, 1, 2, 3], [4]]);
    expect(workers.batches[1]?.takenAtNs).toBe(2 * DELAY_NS - 1_000);
  });

  it('takes a preferred size also of what is overdue, and all where none is filled', () => {
    const { workers, arrive, clock, complete } = setUp(SCENE);
    arrive(4);
    arrive(7);
    clock.advance(2 * DELAY_NS);
    complete(0);
    complete(0);
    expect(workers.sizes).toEqual([4, 4, 3]);
  });

  it('sends no preferred size ahead to a busy worker, but a full batch', () => {
    const { workers, arrive } = setUp(SCENE);
    arrive(4);
    arrive(12);
    expect(workers.sizes).toEqual([4]);
    arrive(4);
    expect(workers.sizes).toEqual([4, 16]);
  });

  it('leaves no timer behind', () => {
    const { arrive, clock } = setUp(SCENE);
    arrive(3);
    expect(clock.plannedCount).toBe(1);
    arrive(1);
    expect(clock.plannedCount).toBe(0);
  });
});

// Goal: groups never mix, and no group is forgotten over another. Method: the form is the group.
describe('DynamicBatcher with groups', () => {
  const groupOf = (sample: { form: number }) => sample.form;

  it('never joins samples of two groups', () => {
    const { workers, arriveOf, complete } = setUp({ groupOf });
    arriveOf(1, 1);
    arriveOf(1, 2);
    arriveOf(2, 2);
    arriveOf(1, 1);
    complete(0);
    complete(0);
    expect(workers.ids).toEqual([[0], [1, 2, 5], [3, 4]]);
  });

  it('gives an idle worker the group whose oldest sample waits longest', () => {
    const { workers, arriveOf, clock } = setUp({ groupOf, workers: 3, delayNs: DELAY_NS });
    arriveOf(2, 1);
    clock.advance(1_000);
    arriveOf(1, 3);
    clock.advance(DELAY_NS - 1_000);
    expect(workers.ids).toEqual([[0]]);
    clock.advance(1_000);
    expect(workers.ids).toEqual([[0], [1, 2, 3]]);
  });

  it('closes a full batch of a younger group before the delay of an older one is over', () => {
    const { workers, arriveOf, clock } = setUp({ groupOf, delayNs: DELAY_NS, workers: 2 });
    arriveOf(1, 1);
    clock.advance(1_000);
    arriveOf(2, 4);
    expect(workers.ids).toEqual([[1, 2, 3, 4]]);
    expect(clock.plannedCount).toBe(1);
  });

  it('does not let full batches of one group starve a sample of another', () => {
    const { workers, arriveOf, clock, complete } = setUp({ groupOf, delayNs: DELAY_NS });
    arriveOf(1, 8);
    arriveOf(2, 1);
    arriveOf(1, 8);
    clock.advance(DELAY_NS);
    complete(0);
    expect(workers.ids.at(-1)).toEqual([8]);
  });

  it('bounds the samples of all groups together', () => {
    const { batcher, arriveOf } = setUp({ groupOf, queue: 8 });
    for (let form = 0; form < 20; form += 1) arriveOf(form, 1);
    expect(batcher.waitingCount).toBe(8);
    expect(batcher.removeAll().map((sample) => sample.id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

// Goal: each sample is computed, whatever it holds. Rule: inference_rules, "coalescing identical
// queries".
describe('DynamicBatcher and equal samples', () => {
  it.each([
    ['in one line', undefined],
    ['in groups', () => 7],
  ])('gives each a row of its own and looks at no payload %s', (_case, groupOf) => {
    const { workers, batcher } = setUp({ groupOf });
    const bytes = Uint8Array.of(1, 2, 3);
    let looks = 0;
    for (let id = 0; id < 4; id += 1) {
      const sample = waitingSample(id);
      Object.defineProperty(sample, 'pieces', {
        get: () => {
          looks += 1;
          return [bytes];
        },
      });
      batcher.add(sample);
    }
    batcher.dispatch();
    expect(workers.ids).toEqual([[0, 1, 2, 3]]);
    expect(looks).toBe(0);
  });
});

describe('DynamicBatcher.fitTo', () => {
  it('cuts batches to the size that the model has written into it', () => {
    const { workers, batcher, arrive } = setUp({ sizeMax: 16 });
    const settings = { batchSizeMax: 16, batchDelayUsMax: 0, batchPreferredSizes: [2, 8] };
    batcher.fitTo(batchPolicy({ ...NOTHING_ASKED, ...settings }, { batchSizeFixed: 4 }));
    arrive(11);
    expect(workers.sizes).toEqual([4, 4]);
    expect(batcher.waitingCount).toBe(3);
  });
});
