import { describe, expect, it } from 'vitest';
import type { MlperfError } from '../../../../../shared/base/errors/mlperf-error.ts';
import { silentLogger } from '../../../../../shared/base/process/logger.ts';
import type { Batch } from '../../../../../sut-node/inference/batcher/sut-model.ts';
import { WorkerPool } from '../../../../../sut-node/inference/workers/worker-pool.ts';
import type {
  BatchMessage,
  DoneMessage,
  FromWorker,
  ToWorker,
  WorkerThreadEvents,
} from '../../../../../sut-node/inference/workers/worker-thread.ts';
import { ManualClock } from '../../../../scenes/clock.ts';
import { waitingSample } from '../../../../scenes/simulated-run/sut-parts.ts';
import { TEST_SETTINGS } from '../../../../scenes/sut-node/sut-node.ts';

const NEVER = new AbortController().signal;
const TENSORS = { inputs: [], outputs: [] };

/** A thread that does what a test says. */
class FakeThread {
  readonly events: WorkerThreadEvents;
  readonly batches: (BatchMessage & { readonly number: number })[] = [];
  isStopped = false;
  isAbandoned = false;
  warmsUp = true;

  constructor(events: WorkerThreadEvents) {
    this.events = events;
  }

  say(message: FromWorker): void {
    this.events.onMessage(message);
  }

  post(message: ToWorker): void {
    if (message.kind === 'batch') this.batches.push(message);
    else if (this.warmsUp) this.say({ kind: 'ready' });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.events.onEnd('stopped');
  }

  abandon(): void {
    this.isAbandoned = true;
  }

  complete(): void {
    const batch = this.batches.shift();
    if (batch === undefined) throw new Error('the thread has no batch');
    const done: DoneMessage & { number: number } = {
      kind: 'done',
      number: batch.number,
      payloads: batch.payloads,
      responses: new ArrayBuffer(0),
      ends: batch.ends,
      badSamples: [],
      failure: undefined,
      beganAtNs: 0,
      preprocessNs: 0,
      computeNs: 0,
      postprocessNs: 0,
      endedAtNs: 0,
    };
    this.say(done);
  }
}

function setUp(workerCount: number) {
  const threads: FakeThread[] = [];
  const clock = new ManualClock();
  const limits = { threads: 100 };
  const logged: unknown[][] = [];
  const seen = { done: [] as Batch[], lost: [] as Batch[], room: 0, fatal: [] as MlperfError[] };
  const pool = new WorkerPool({
    workerCount,
    start: {
      benchmark: 'digits',
      usage: {},
      modelFile: 'm',
      sha256: '',
      runtime: TEST_SETTINGS,
      batchSizeMax: 4,
      encodings: [{ form: 'raw', compression: 'identity' }],
      sampleBytesMax: 1_000,
      queryBytesMax: 1_000,
      responseCompression: 'identity',
    },
    spawn: (_name, _start, events) => {
      if (threads.length === limits.threads) throw new Error('no thread left');
      const thread = new FakeThread(events);
      threads.push(thread);
      return thread;
    },
    clock,
    startTimeoutNs: 10e9,
    logger: { ...silentLogger, error: (...line: unknown[]) => logged.push(line) },
    events: {
      onDone: (batch) => seen.done.push(batch),
      ...{ onFirstToken: () => {}, onTokens: () => {} },
      onLost: (batch) => seen.lost.push(batch),
      onRoom: () => {
        seen.room += 1;
      },
      onFatal: (error) => seen.fatal.push(error),
    },
  });
  const start = async () => {
    const loaded = pool.load();
    threads[0]?.say({ kind: 'loaded', tensors: TENSORS });
    await loaded;
    const warm = pool.warmUp();
    for (const thread of threads.slice(1)) thread.say({ kind: 'loaded', tensors: TENSORS });
    await warm;
  };
  return { pool, threads, seen, start, clock, limits, logged };
}

function batchOf(...ids: number[]): Batch {
  return { samples: ids.map((id) => waitingSample(id)), takenAtNs: 0 };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// Goal: every batch comes back, done or lost, and workers that end are replaced, but not for ever.
// Method: fake threads that load, complete and end on command.
describe('WorkerPool', () => {
  it('carries the payload of a query once for the samples that lie in it', async () => {
    const { pool, threads, start } = setUp(1);
    await start();
    const whole = Uint8Array.of(7, 8, 9);
    const slices = [
      { begin: 0, end: 10, total: 30 },
      { begin: 10, end: 30, total: 30 },
    ];
    const samples = [
      waitingSample(1),
      ...slices.map((slice, i) => waitingSample(2 + i, { pieces: [whole], bytes: 1 + i, slice })),
      waitingSample(4),
    ];
    pool.run({ samples, takenAtNs: 0 });
    const message = threads[0]?.batches.at(-1) as BatchMessage;
    expect([...message.begins]).toEqual([0, 1, 1, 4]);
    expect([...message.ends]).toEqual([1, 4, 4, 5]);
    expect([...new Uint8Array(message.payloads, 0, 5)]).toEqual([1, 7, 8, 9, 4]);
    expect(message.slices).toEqual([undefined, ...slices, undefined]);
  });

  it('loads one worker first, then all, and has room when all ran the model', async () => {
    const { pool, threads, seen } = setUp(2);
    const loaded = pool.load();
    expect(threads).toHaveLength(1);
    threads[0]?.say({ kind: 'loaded', tensors: TENSORS });
    expect(await loaded).toBe(TENSORS);
    expect(pool.hasRoom).toBe(false);
    const warm = pool.warmUp();
    expect(threads).toHaveLength(2);
    threads[1]?.say({ kind: 'loaded', tensors: TENSORS });
    await warm;
    expect(pool.hasIdle).toBe(true);
    expect(seen.room).toBe(1);
  });

  it('tells the reason when the first worker cannot load the model', async () => {
    const { pool, threads } = setUp(1);
    const loaded = pool.load();
    threads[0]?.say({ kind: 'failed', code: 'ERR_MODEL', text: 'not ONNX' });
    threads[0]?.events.onEnd('the thread ended with code 0');
    await expect(loaded).rejects.toMatchObject({ code: 'ERR_MODEL', message: 'not ONNX' });
  });

  it('packs the payloads of a batch one behind the other', async () => {
    const { pool, threads, start } = setUp(1);
    await start();
    const pieces = [Uint8Array.of(1, 2), Uint8Array.of(3)];
    pool.run({
      samples: [waitingSample(9), waitingSample(8, { pieces, bytes: 3, form: 1 })],
      takenAtNs: 0,
    });
    const message = threads[0]?.batches[0];
    expect([...new Uint8Array(message?.payloads ?? new ArrayBuffer(0), 0, 4)]).toEqual([
      9, 1, 2, 3,
    ]);
    expect([...(message?.ends ?? [])]).toEqual([1, 4]);
    expect([...(message?.forms ?? [])]).toEqual([0, 1]);
  });

  it('gives batches to idle workers first, then one more to each', async () => {
    const { pool, threads, start } = setUp(2);
    await start();
    for (let id = 0; id < 4; id += 1) {
      expect(pool.hasRoom).toBe(true);
      pool.run(batchOf(id));
    }
    expect(threads.map((thread) => thread.batches.length)).toEqual([2, 2]);
    expect([pool.hasIdle, pool.hasRoom]).toEqual([false, false]);
    threads[1]?.complete();
    expect([pool.hasIdle, pool.hasRoom]).toEqual([false, true]);
  });

  it('reports the batches of a worker that ended, and replaces it', async () => {
    const { pool, threads, seen, start } = setUp(1);
    await start();
    const batches = [batchOf(1), batchOf(2)];
    for (const batch of batches) pool.run(batch);
    threads[0]?.events.onEnd('crash');
    expect(seen.lost).toEqual(batches);
    expect(pool.hasRoom).toBe(false);
    threads[1]?.say({ kind: 'loaded', tensors: TENSORS });
    await nextTurn();
    expect(pool.hasIdle).toBe(true);
    expect(pool.replacedCount).toBe(1);
    expect(seen.room).toBe(2);
  });

  it('gives up when workers end one after another', async () => {
    const { pool, threads, seen, start } = setUp(1);
    await start();
    for (let i = 0; i < 3; i += 1) threads.at(-1)?.events.onEnd(`crash ${i}`);
    expect(seen.fatal.map((error) => error.code)).toEqual(['ERR_SUT_WORKER']);
    expect(seen.fatal[0]?.message).toContain('crash 2');
    expect(threads).toHaveLength(3);
    expect(pool.hasRoom).toBe(false);
  });

  it('does not give up while batches are completed in between', async () => {
    const { pool, threads, seen, start } = setUp(1);
    await start();
    for (let i = 0; i < 5; i += 1) {
      pool.run(batchOf(i));
      threads.at(-1)?.complete();
      threads.at(-1)?.events.onEnd('crash');
      threads.at(-1)?.say({ kind: 'loaded', tensors: TENSORS });
      await nextTurn();
    }
    expect(seen.fatal).toEqual([]);
    expect(seen.done).toHaveLength(5);
    expect(pool.replacedCount).toBe(5);
  });

  it('still reports what the other workers hold after it gave up', async () => {
    const { pool, threads, seen, start } = setUp(2);
    await start();
    pool.run(batchOf(1));
    pool.run(batchOf(2));
    const [first, second] = threads;
    first?.events.onEnd('crash');
    threads[2]?.events.onEnd('crash');
    threads[3]?.events.onEnd('crash');
    expect(seen.fatal).toHaveLength(1);
    second?.complete();
    expect(seen.done.map((batch) => batch.samples[0]?.id)).toEqual([2]);
  });

  it('ends all threads and replaces none when it stops', async () => {
    const { pool, threads, start } = setUp(2);
    await start();
    await pool.stop(NEVER);
    expect(threads.map((thread) => thread.isStopped)).toEqual([true, true]);
  });

  it('gives up a worker that hangs while it loads the model, and says which setting allows more', async () => {
    const { pool, threads, clock } = setUp(1);
    const loaded = pool.load();
    clock.advance(10e9 - 1);
    expect(threads[0]?.isAbandoned).toBe(false);
    clock.advance(1);
    await expect(loaded).rejects.toMatchObject({
      code: 'ERR_SUT_WORKER',
      message: 'worker 0 ended: it did not load the model within 10 s (--worker-start-timeout)',
    });
    expect(threads[0]?.isAbandoned).toBe(true);
    await pool.stop(NEVER);
    expect(threads[0]?.isStopped).toBe(false);
  });

  it('gives up a worker that hangs in its first inference', async () => {
    const { pool, threads, clock } = setUp(1);
    const loaded = pool.load();
    threads[0]?.say({ kind: 'loaded', tensors: TENSORS });
    await loaded;
    if (threads[0] !== undefined) threads[0].warmsUp = false;
    clock.advance(60e9);
    const warm = pool.warmUp();
    await nextTurn();
    clock.advance(10e9);
    await expect(warm).rejects.toThrow('it did not run the model for the first time within 10 s');
  });

  it('replaces a replacement that hangs, hears nothing of it any more, and then gives up', async () => {
    const { pool, threads, seen, start, clock } = setUp(1);
    await start();
    expect(clock.plannedCount).toBe(0);
    threads[0]?.events.onEnd('crash');
    clock.advance(10e9);
    expect(threads).toHaveLength(3);
    threads[1]?.say({ kind: 'loaded', tensors: TENSORS });
    threads[1]?.say({ kind: 'ready' });
    threads[1]?.events.onEnd('it came back and ended');
    expect(pool.hasRoom).toBe(false);
    expect(pool.replacedCount).toBe(2);
    clock.advance(10e9);
    expect(seen.fatal[0]?.message).toContain('it did not load the model within 10 s');
    expect(threads).toHaveLength(3);
  });

  it('ends without a replacement that hangs once its time is over', async () => {
    const { pool, threads, start, clock } = setUp(1);
    await start();
    threads[0]?.events.onEnd('crash');
    if (threads[1] !== undefined) threads[1].stop = () => new Promise(() => {});
    let isStopped = false;
    void pool.stop(NEVER).then(() => {
      isStopped = true;
    });
    clock.advance(10e9 - 1);
    await nextTurn();
    expect(isStopped).toBe(false);
    clock.advance(1);
    await nextTurn();
    expect([isStopped, threads[1]?.isAbandoned]).toEqual([true, true]);
  });

  it('gives up what hangs when it is told that all had time enough, and says which that is', async () => {
    const { pool, threads, seen, start, logged } = setUp(2);
    await start();
    const [first, second] = threads;
    if (first !== undefined) first.stop = () => new Promise(() => {});
    const batch = batchOf(1);
    pool.run(batch);
    const giveUp = new AbortController();
    const stopping = pool.stop(giveUp.signal);
    await nextTurn();
    expect([second?.isStopped, first?.isAbandoned, logged]).toEqual([true, false, []]);
    giveUp.abort();
    await stopping;
    expect([second?.isAbandoned, first?.isAbandoned]).toEqual([false, true]);
    expect(logged).toEqual([
      [{ worker: 'worker 0' }, 'a worker did not end on request and is given up'],
    ]);
    // It comes back, late.
    first?.complete();
    expect(seen.done).toEqual([]);
  });

  it('is not ready when it was stopped while it started', async () => {
    const { pool, threads } = setUp(1);
    const loaded = pool.load();
    threads[0]?.say({ kind: 'loaded', tensors: TENSORS });
    await loaded;
    const warm = pool.warmUp();
    void pool.stop(NEVER);
    await expect(warm).rejects.toMatchObject({ code: 'ERR_INTERRUPTED' });
    expect(pool.hasRoom).toBe(false);
  });

  it('has no room before every worker has run the model', async () => {
    const { pool, threads } = setUp(2);
    const loaded = pool.load();
    threads[0]?.say({ kind: 'loaded', tensors: TENSORS });
    await loaded;
    const warm = pool.warmUp();
    let isWarm = false;
    void warm.then(() => {
      isWarm = true;
    });
    if (threads[1] !== undefined) threads[1].warmsUp = false;
    threads[1]?.say({ kind: 'loaded', tensors: TENSORS });
    await nextTurn();
    expect([isWarm, pool.hasRoom, pool.hasIdle]).toEqual([false, false, false]);
    threads[1]?.say({ kind: 'ready' });
    await warm;
    expect(pool.hasRoom).toBe(true);
  });

  it('is not ready when a worker ended while the others had not run the model', async () => {
    const { pool, threads } = setUp(2);
    const loaded = pool.load();
    threads[0]?.say({ kind: 'loaded', tensors: TENSORS });
    await loaded;
    const warm = pool.warmUp();
    await nextTurn();
    threads[0]?.events.onEnd('crash');
    threads[1]?.say({ kind: 'loaded', tensors: TENSORS });
    await expect(warm).rejects.toThrow('worker 0 ended: crash');
    expect(pool.hasRoom).toBe(false);
  });

  it('tries again, but not for ever, where the machine has no thread left', async () => {
    const { pool, threads, seen, start, limits } = setUp(1);
    await start();
    limits.threads = 1;
    threads[0]?.events.onEnd('crash');
    await nextTurn();
    expect(seen.fatal[0]?.message).toContain('worker 2 ended: it cannot start: no thread left');
    expect(pool.replacedCount).toBe(2);
  });
});
