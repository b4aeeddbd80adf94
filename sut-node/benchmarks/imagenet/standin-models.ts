import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { workerError } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule, dataFile } from '../../../shared/base/files/package-files.ts';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import type { ModelProto } from '../../model/onnx/graph-builder.ts';
import { quantiseModel, tensorsToQuantise } from '../../model/onnx/quantise.ts';
import {
  type LinearClassifier,
  STANDIN_FEATURE_COUNT,
  STANDIN_FLOAT_OUTPUTS,
  STANDINS,
  type StandinBenchmark,
  type StandinPrecision,
  standinModel,
  standinName,
} from './standin-graph.ts';

/** Raise with every change of the graph: no model of the old way is found in the cache then. */
const STANDIN_GRAPH_REVISION = 1;

/** Time between two reports of progress, which may throw once the caller no longer waits. */
const PROGRESS_MS = 200;

/** One path or name per precision. */
export type StandinFiles = Readonly<Record<StandinPrecision, string>>;

/** Work of the thread. */
export interface StandinWork {
  readonly benchmark: StandinBenchmark;
  /** Factor on the trunk's channels: 1, or 1/16 for a toy. */
  readonly width: number;
  readonly files: StandinFiles;
}

/**
 * File of the numbers of a stand-in that were fitted (test/tools/fit): float32, little-endian: the weights and biases
 * of its classifier, then the smallest and largest value of each tensor that int8 needs to know, in the graph's order.
 */
export function fittedFile(benchmark: StandinBenchmark): string {
  return dataFile(`sut-node/benchmarks/imagenet/${benchmark}-standin.f32`);
}

/**
 * Finds both precisions of a stand-in in the cache, checked against their checksums, or makes them first, in seconds
 * on a thread of its own: the gRPC server of this one answers meanwhile that it is not ready.
 * @param width Factor on the trunk's channels: 1 but in tests.
 * @returns Paths of the files.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`, `ERR_SUT_WORKER`
 */
export async function ensureStandinModels({
  benchmark,
  cacheFolder,
  onProgress,
  width = 1,
}: {
  readonly benchmark: StandinBenchmark;
  readonly cacheFolder: string;
  readonly onProgress: BuildProgress;
  readonly width?: number;
}): Promise<StandinFiles> {
  const filesIn = (folder: string): StandinFiles => ({
    fp32: join(folder, `${standinName(benchmark, 'fp32')}.onnx`),
    int8: join(folder, `${standinName(benchmark, 'int8')}.onnx`),
  });
  const fitted = readFileSync(fittedFile(benchmark));
  const folder = await ensureArtifact({
    cacheFolder,
    name: `${benchmark}-standin-model`,
    recipe: {
      ...{ benchmark, width, graphRevision: STANDIN_GRAPH_REVISION },
      fitted: createHash('sha256').update(fitted).digest('hex'),
    },
    build: (building, onBuildProgress) =>
      makeInThread({ benchmark, width, files: filesIn(building) }, onBuildProgress),
    onProgress,
  });
  return filesIn(folder);
}

/** @throws what `onProgress` throws, soon after; `ERR_SUT_WORKER` */
async function makeInThread(workerData: StandinWork, onProgress: BuildProgress): Promise<void> {
  const what = `making the stand-in for ${STANDINS[workerData.benchmark].original}`;
  onProgress(0, what);
  const givenUp = new AbortController();
  const entry = compiledModule('sut-node/benchmarks/imagenet/make-standin.js');
  const worker = new Worker(entry, { workerData });
  const asking = setInterval(() => {
    try {
      onProgress(0, what);
    } catch (error) {
      givenUp.abort(error);
    }
  }, PROGRESS_MS);
  try {
    const [exitCode] = await once(worker, 'exit', { signal: givenUp.signal });
    if (exitCode === 0) return;
    throw workerError(`${what} ended with exit code ${exitCode}`);
  } catch (error) {
    throw givenUp.signal.aborted ? givenUp.signal.reason : error;
  } finally {
    clearInterval(asking);
    await worker.terminate();
  }
}

/** Both precisions of a stand-in, out of seeds and fitted numbers: the same bytes on every machine. */
export function makeStandin(
  benchmark: StandinBenchmark,
  width: number,
): Readonly<Record<StandinPrecision, ModelProto>> {
  const { buffer, byteOffset, byteLength } = Uint8Array.from(readFileSync(fittedFile(benchmark)));
  const numbers = new Float32Array(buffer, byteOffset, byteLength / 4);
  const weightCount = STANDIN_FEATURE_COUNT * STANDIN_CLASS_COUNT;
  const rangesStart = weightCount + STANDIN_CLASS_COUNT;
  const classifier: LinearClassifier = {
    weights: numbers.subarray(0, weightCount),
    biases: numbers.subarray(weightCount, rangesStart),
  };
  const fp32 = standinModel(benchmark, width, classifier);
  const ranges = [...tensorsToQuantise(fp32, STANDIN_FLOAT_OUTPUTS)].map((name, i) => {
    const [low, high] = numbers.subarray(rangesStart + i * 2) as unknown as [number, number];
    return [name, { low, high }] as const;
  });
  return { fp32, int8: quantiseModel(fp32, new Map(ranges), STANDIN_FLOAT_OUTPUTS) };
}
