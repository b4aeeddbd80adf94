import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { workerError } from '../../../shared/base/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/base/files/package-files.ts';
import type { GraphBuilder } from '../../model/onnx/graph-builder.ts';
import type { Standin, StandinFiles, SutBenchmark } from '../sut-benchmark.ts';

/** Work of the thread that makes a stand-in. */
export interface StandinWork {
  readonly benchmark: string;
  readonly word: string;
  readonly cost: number;
  readonly folder: string;
}

/**
 * Raise with every change of a graph, or of what is planted in samples: no model of the old way is
 * found in the cache then.
 */
const REVISION = 1;

/** Time between two reports of progress, which may throw once the caller no longer waits. */
const PROGRESS_MS = 200;

/** The part of a benchmark that its stand-in decides. */
export function standinModels(
  standin: Standin,
): Pick<SutBenchmark, 'standin' | 'builtInModels' | 'prepareModel'> {
  const { benchmark, original, words, costDefault, isParts = false } = standin;
  return {
    standin,
    builtInModels: words,
    prepareModel: async ({ model: word, cost = costDefault, cacheFolder, onProgress }) => {
      standin.checkCost?.(cost);
      const name = words[word] as string; // Only words of builtInModels are requested.
      const what = `making the stand-in for ${original}`;
      const folder = await ensureArtifact({
        cacheFolder,
        name: `${name}-model`,
        recipe: { cost, revision: REVISION },
        build: (building, onBuildProgress) =>
          makeInThread({ benchmark, word, cost, folder: building }, what, onBuildProgress),
        onProgress,
      });
      return join(folder, `${name}.${isParts ? 'yaml' : 'onnx'}`);
    },
  };
}

/**
 * Makes a stand-in on a thread of its own: the gRPC server of this one answers meanwhile that it is
 * not ready.
 * @throws what `onProgress` throws, soon after; `ERR_SUT_WORKER`
 */
async function makeInThread(
  workerData: StandinWork,
  what: string,
  onProgress: BuildProgress,
): Promise<void> {
  onProgress(0, what);
  const givenUp = new AbortController();
  const entry = compiledModule('sut-node/benchmarks/standin/make-standin.js');
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

/**
 * Files of a model of several parts: its description, as a user would write it, and the ONNX file
 * of each part.
 */
export function partFiles(name: string, parts: Readonly<Record<string, Uint8Array>>): StandinFiles {
  const names = Object.keys(parts);
  const lines = names.map((part) => `  ${part}: ${part}.onnx\n`);
  return {
    [`${name}.yaml`]: `name: ${name}\nparts:\n${lines.join('')}`,
    ...Object.fromEntries(names.map((part) => [`${part}.onnx`, parts[part] as Uint8Array])),
  };
}

/** Bytes of a stand-in's file, which says what it is. */
export function standinBytes(
  graph: GraphBuilder,
  { benchmark, original }: Pick<Standin, 'benchmark' | 'original'>,
  cost: number,
): Uint8Array {
  return graph.build(
    `STAND-IN for ${original}, made by longhaul: its inputs, outputs and cost, but random weights, and a small reader of ` +
      'answers that longhaul plants in the samples it makes. Neither this model nor its accuracy is one of MLPerf.',
    { longhaul_benchmark: benchmark, longhaul_role: 'stand-in', longhaul_cost: String(cost) },
  );
}
