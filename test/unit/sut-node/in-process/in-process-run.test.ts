import { describe, expect, it } from 'vitest';
import type { Query, SamplePayloads } from '../../../../shared/domain/system-under-test.ts';
import { InProcessRun } from '../../../../sut-node/in-process/start-in-process-node.ts';
import {
  batchPolicy,
  DynamicBatcher,
} from '../../../../sut-node/inference/batcher/dynamic-batcher.ts';
import type { Batch } from '../../../../sut-node/inference/batcher/sut-model.ts';
import { deliverAnswers } from '../../../../sut-node/inference/workers/batch-answers.ts';
import { ManualClock } from '../../../scenes/clock.ts';
import { RecordingSink } from '../../../scenes/simulated-run/recording-sink.ts';
import { TEST_SETTINGS } from '../../../scenes/sut-node/sut-node.ts';

// Goal: a run in process hands every sample to the node's own batcher once, holds no more than it
// may, and gives LoadGen every answer. Method: the real batcher, a worker that answers when the
// test says so.
const SAMPLES_MAX = 4;
const PAYLOADS: SamplePayloads = {
  payloadOf: (index) => Uint8Array.of(index),
  encoding: { form: 'raw', compression: 'identity' },
};

class Worker {
  readonly batches: Batch[] = [];
  hasRoom = true;

  get hasIdle(): boolean {
    return this.hasRoom;
  }

  run(batch: Batch): void {
    this.batches.push(batch);
  }

  /** Answers with the sample's own bytes, twice. */
  answer(fault?: { code: number; text: string }): void {
    for (const { samples } of this.batches.splice(0)) {
      deliverAnswers(
        samples.map((sample) => {
          const [piece] = sample.pieces as [Uint8Array];
          return { sample, payload: Uint8Array.of(...piece, ...piece), fault, times: undefined };
        }),
      );
    }
  }
}

function scene(): {
  run: InProcessRun;
  worker: Worker;
  sink: RecordingSink;
  isStopped: () => boolean;
} {
  const worker = new Worker();
  const batcher = new DynamicBatcher({
    policy: batchPolicy({ ...TEST_SETTINGS, batchSizeMax: 1 }),
    queueSamplesMax: SAMPLES_MAX,
    clock: new ManualClock(),
    workers: worker,
  });
  let stopped = false;
  const onStopped = (): void => {
    stopped = true;
  };
  const run = new InProcessRun({
    ...{ name: 'in process', batcher, payloads: PAYLOADS, form: 0 },
    ...{ samplesMax: SAMPLES_MAX, onStopped },
  });
  const sink = new RecordingSink();
  void run.start(sink);
  return { run, worker, sink, isStopped: () => stopped };
}

function query(firstResponseId: number, indices: readonly number[]): Query {
  return {
    ...{ id: 0, firstResponseId, sampleIndices: Uint32Array.from(indices), sampleOffset: 0 },
    ...{ sampleCount: indices.length, responseIdStride: 1 },
  };
}

const idsOf = (batches: readonly Batch[]): number[] =>
  batches.flatMap(({ samples }) => samples.map(({ id }) => id));

describe('a run in process', () => {
  it('takes no more samples than the queue holds, and the rest as answers come', async () => {
    const { run, worker, sink } = scene();
    run.issueQuery(query(10, [1, 2, 3, 4, 5, 6]));
    expect(idsOf(worker.batches)).toEqual([10, 11, 12, 13]);
    expect(sink.handedOverIds).toEqual([10, 11, 12, 13]);
    worker.answer();
    await Promise.resolve();
    expect(idsOf(worker.batches)).toEqual([14, 15]);
    worker.answer();
    expect(sink.completed.map(({ id }) => id)).toEqual([10, 11, 12, 13, 14, 15]);
    expect(sink.completed.at(-1)?.payload).toEqual(Uint8Array.of(6, 6));
    expect(sink.servedBy.map(({ node }) => node)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('keeps to the strides of a query that several threads share', () => {
    const { run, worker } = scene();
    run.issueQuery({ ...query(0, [7, 8, 9, 10]), sampleCount: 2, responseIdStride: 2 });
    expect(idsOf(worker.batches)).toEqual([0, 2]);
    expect(
      worker.batches.flatMap(({ samples }) =>
        samples.flatMap(({ pieces }) => [...(pieces[0] ?? [])]),
      ),
    ).toEqual([7, 9]);
  });

  it('is issued the next query from inside an answer without entering the model again', async () => {
    const { run, worker, sink } = scene();
    let depth = 0;
    sink.complete = (id): void => {
      depth += 1;
      expect(depth).toBe(1);
      if (id < 2) run.issueQuery(query(id + 1, [id + 1]));
      expect(worker.batches).toEqual([]);
      depth -= 1;
    };
    run.issueQuery(query(0, [0]));
    for (let i = 0; i < 3; i += 1) {
      expect(idsOf(worker.batches)).toEqual([i]);
      worker.answer();
      await Promise.resolve();
    }
  });

  it('reports what the model could not answer, by the word of the wire', () => {
    const { run, worker, sink } = scene();
    run.issueQuery(query(0, [1]));
    worker.answer({ code: 2, text: 'no memory' });
    expect(sink.failed).toEqual([
      { id: 0, failure: { code: 'inference', text: 'in process: no memory' } },
    ]);
  });

  it('drops what waits when LoadGen gives up, and answers nothing of it later', async () => {
    const { run, worker, sink, isStopped } = scene();
    worker.hasRoom = false;
    run.issueQuery(query(0, [1, 2, 3, 4, 5, 6]));
    run.giveUp();
    worker.hasRoom = true;
    run.issueQuery(query(6, [7]));
    expect(idsOf(worker.batches)).toEqual([6]);
    worker.answer();
    expect(sink.completed.map(({ id }) => id)).toEqual([6]);
    run.issueQuery(query(7, [8]));
    await run.stop();
    worker.answer();
    expect(sink.completed).toHaveLength(1);
    expect(isStopped()).toBe(true);
  });
});
