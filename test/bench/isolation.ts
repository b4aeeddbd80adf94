import { timerClock } from '../../shared/base/clock.ts';
import { defaultCacheFolder } from '../../shared/base/files/read-file.ts';
import { silentLogger } from '../../shared/base/process/logger.ts';
import { renderDigit } from '../../shared/benchmarks/digits/draw-digit.ts';
import { EVALUATION_SET } from '../../shared/rules/cards/digits.ts';
import { benchmark } from '../../sut-node/benchmarks/digits/benchmark.ts';
import type { SampleOwner, WaitingSample } from '../../sut-node/inference/batcher/sut-model.ts';
import { WorkerPool } from '../../sut-node/inference/workers/worker-pool.ts';
import { spawnOrtProcess } from '../../sut-node/inference/workers/worker-process.ts';
import {
  type SpawnWorker,
  spawnOrtWorker,
} from '../../sut-node/inference/workers/worker-thread.ts';
import { fileDigest } from '../../sut-node/model/model-file.ts';
import { disableTelemetry } from '../../sut-node/model/onnx/onnxruntime.ts';
import { DEFAULT_RUNTIME } from '../../sut-node/settings/model-settings.ts';
import { head, median, row } from './report.ts';

const NOBODY: SampleOwner = {
  answer: () => {},
  firstTokens: () => {},
  takesTokens: false,
  tokens: () => {},
};
const BATCH_SIZES = [1, 8];

interface IsolationOptions {
  readonly rounds: number;
  /** Batches per measurement. */
  readonly count: number;
}

/**
 * Cost of `--isolation process`: the same batches to a worker thread and to a worker process, in
 * turn. The benchmark digits cannot read payloads of the large sizes, so the worker refuses them
 * without an inference: the rest is the way there and back. Payloads of digits itself are computed.
 */
export async function benchIsolation({ rounds, count }: IsolationOptions): Promise<void> {
  disableTelemetry();
  const modelFile = await benchmark.prepareModel({
    model: Object.keys(benchmark.builtInModels)[0] as string,
    cacheFolder: defaultCacheFolder(),
    onProgress: () => {},
  });
  const workers = [await BenchWorker.start(modelFile, spawnOrtWorker)];
  workers.push(await BenchWorker.start(modelFile, spawnOrtProcess));
  const payloads = [
    ['150,528 B, no inference', new Uint8Array(150_528)],
    ['602,112 B, no inference', new Uint8Array(602_112)],
    ['digits', renderDigit(EVALUATION_SET, 0).rgb],
  ] as const;
  head(1, 'payload', 'batch', 'at once', 'thread ms', 'process ms', 'more ms', 'ratio');
  for (const [what, payload] of payloads) {
    for (const size of BATCH_SIZES) {
      for (const outstanding of [1, 2]) {
        const seen = await compare(workers, { rounds, count, payload, size, outstanding });
        row(what, size, outstanding, ...seen);
      }
    }
  }
  await Promise.all(workers.map((worker) => worker.stop()));
}

interface Load {
  readonly rounds: number;
  readonly count: number;
  readonly payload: Uint8Array;
  readonly size: number;
  readonly outstanding: number;
}

/** Medians of both, and of what each round says of the difference. */
async function compare(workers: readonly BenchWorker[], load: Load): Promise<string[]> {
  const ms: number[][] = workers.map(() => []);
  for (let round = -1; round < load.rounds; round += 1) {
    // The one that begins changes; the first round warms up.
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const i of order) {
      const one = await (workers[i] as BenchWorker).msPerBatch(load);
      if (round >= 0) (ms[i] as number[]).push(one);
    }
  }
  const [thread = [], process = []] = ms;
  const more = process.map((value, i) => value - (thread[i] as number));
  const ratios = process.map((value, i) => value / (thread[i] as number));
  const figures = [median(thread), median(process), median(more)].map((value) => value.toFixed(3));
  return [...figures, median(ratios).toFixed(2)];
}

/** A pool of one worker that is kept busy. */
class BenchWorker {
  readonly #pool: WorkerPool;
  #onDone: () => void = () => {};

  private constructor(modelFile: string, sha256: string, spawn: SpawnWorker) {
    this.#pool = new WorkerPool({
      workerCount: 1,
      start: {
        benchmark: 'digits',
        modelFile,
        usage: {},
        sha256,
        runtime: DEFAULT_RUNTIME,
        batchSizeMax: 8,
        encodings: [{ form: 'raw', compression: 'identity' }],
        sampleBytesMax: 1e6,
        queryBytesMax: 1e6,
        responseCompression: 'identity',
      },
      spawn,
      clock: timerClock,
      startTimeoutNs: 60e9,
      logger: silentLogger,
      events: {
        onDone: () => this.#onDone(),
        onFirstToken: () => {},
        onTokens: () => {},
        onLost: (_batch, error) => {
          throw error;
        },
        onRoom: () => {},
        onFatal: () => {},
      },
    });
  }

  static async start(modelFile: string, spawn: SpawnWorker): Promise<BenchWorker> {
    const worker = new BenchWorker(modelFile, await fileDigest(modelFile, 'sha256'), spawn);
    await worker.#pool.load();
    await worker.#pool.warmUp();
    return worker;
  }

  msPerBatch({ count, payload, size, outstanding }: Load): Promise<number> {
    const samples = Array.from({ length: size }, (_, id) => sampleOf(id, payload));
    return new Promise((resolve) => {
      const beginMs = performance.now();
      let sent = 0;
      let done = 0;
      const send = (): void => {
        if (sent === count) return;
        sent += 1;
        this.#pool.run({ samples, takenAtNs: timerClock.nowNs() });
      };
      this.#onDone = () => {
        done += 1;
        send();
        if (done === count) resolve((performance.now() - beginMs) / count);
      };
      for (let i = 0; i < outstanding; i += 1) send();
    });
  }

  stop(): Promise<void> {
    return this.#pool.stop(new AbortController().signal);
  }
}

function sampleOf(id: number, payload: Uint8Array): WaitingSample {
  return {
    id,
    pieces: [payload],
    bytes: payload.length,
    form: 0,
    slice: undefined,
    owner: NOBODY,
    arrivedAtNs: 0,
    queuedAtNs: 0,
  };
}
