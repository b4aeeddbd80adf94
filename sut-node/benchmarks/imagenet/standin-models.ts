import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { dataFile } from '../../../shared/base/files/package-files.ts';
import { STANDIN_CLASS_COUNT } from '../../../shared/benchmarks/standin/standin-sets.ts';
import type { ModelProto } from '../../model/onnx/graph-builder.ts';
import { quantiseModel, tensorsToQuantise } from '../../model/onnx/quantise.ts';
import { makeInThread } from '../make-in-thread.ts';
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
const STANDIN_GRAPH_REVISION = 2;

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
      benchmark,
      width,
      graphRevision: STANDIN_GRAPH_REVISION,
      fitted: createHash('sha256').update(fitted).digest('hex'),
    },
    build: (building, onBuildProgress) =>
      makeInThread(
        {
          entry: 'sut-node/benchmarks/imagenet/make-standin.js',
          work: { benchmark, width, files: filesIn(building) } satisfies StandinWork,
          what: `making the stand-in for ${STANDINS[benchmark].original}`,
        },
        onBuildProgress,
      ),
    onProgress,
  });
  return filesIn(folder);
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
