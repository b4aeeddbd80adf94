import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { forEachIndex } from '../../../shared/base/async.ts';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { IMAGENET_ELEMENTS } from '../../../shared/rules/cards/imagenet.ts';
import type { ModelPipeline, PipelineInput } from '../../model/model-facts.ts';
import { fileDigest } from '../../model/model-file.ts';
import { createOrtSession } from '../../model/onnx/ort-session.ts';
import { DEFAULT_RUNTIME, type RuntimeSettings } from '../../settings/model-settings.ts';
import { sutBenchmark } from '../registry.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import {
  STANDIN_PRECISIONS,
  type StandinBenchmark,
  type StandinPrecision,
} from './standin-graph.ts';
import type { StandinFiles } from './standin-models.ts';

/** A file of the data set and its class. */
export interface LabelledFile {
  readonly path: string;
  readonly label: number;
}

/** Right answers by precision. */
export type CorrectCounts = Readonly<Record<StandinPrecision, number>>;

/** Models and images to measure, and the cache that keeps the result. */
export interface AccuracyRequest {
  readonly benchmark: StandinBenchmark;
  readonly models: StandinFiles;
  /** Folder of the data set in the cache: its name tells which images they are. */
  readonly dataFolder: string;
  readonly images: readonly LabelledFile[];
  readonly cacheFolder: string;
  readonly onProgress: BuildProgress;
}

/** Images in one call of the model. */
const BATCH_SIZE = 8;

/** Threads beyond four gain little on a batch of 8. */
const THREAD_COUNT_MAX = 4;

/** Defaults of `longhaul sut` but for the threads: all cores are free here. */
const RUNTIME: RuntimeSettings = {
  ...DEFAULT_RUNTIME,
  threadsPerWorker: Math.min(availableParallelism(), THREAD_COUNT_MAX),
};

const RESULT_FILE = 'accuracy.json';

const schema: z.ZodType<CorrectCounts> = z.object({
  fp32: z.int().min(0),
  int8: z.int().min(0),
});

/**
 * Right answers of a stand-in on all images, through the code that serves it. Measured once per pair of models and
 * data set; later calls find the counts in the cache.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`, `ERR_MODEL`, `ERR_DATA_SET`
 */
export async function ensureStandinAccuracy(request: AccuracyRequest): Promise<CorrectCounts> {
  const { benchmark, models, dataFolder, cacheFolder, onProgress } = request;
  const folder = await ensureArtifact({
    cacheFolder,
    name: `${benchmark}-standin-accuracy`,
    recipe: {
      fp32: await fileDigest(models.fp32, 'sha256'),
      int8: await fileDigest(models.int8, 'sha256'),
      dataSet: basename(dataFolder),
    },
    build: async (building, onBuildProgress) => {
      const counts = await measure(request, onBuildProgress);
      await writeFile(join(building, RESULT_FILE), JSON.stringify(counts));
    },
    onProgress,
  });
  return schema.parse(JSON.parse(await readFile(join(folder, RESULT_FILE), 'utf8')));
}

/** Both models see the same input: preparing it costs as much as int8 does. */
async function measure(
  { benchmark: key, models, images }: AccuracyRequest,
  onProgress: BuildProgress,
): Promise<CorrectCounts> {
  // A sample of ImageNet is a row.
  const benchmark = (await sutBenchmark(key)) as SutBenchmark<ModelPipeline>;
  const contestants = {
    fp32: await open(benchmark, models.fp32),
    int8: await open(benchmark, models.int8),
  };
  const counts = { fp32: 0, int8: 0 };
  const memory = new Float32Array(BATCH_SIZE * IMAGENET_ELEMENTS);
  for (let first = 0; first < images.length; first += BATCH_SIZE) {
    onProgress(
      first / images.length,
      `measuring the accuracy of both stand-ins on ${images.length} images`,
    );
    const batch = images.slice(first, first + BATCH_SIZE);
    const data = memory.subarray(0, batch.length * IMAGENET_ELEMENTS);
    await prepareBatch(contestants.fp32.pipeline, batch, data);
    for (const precision of STANDIN_PRECISIONS) {
      counts[precision] += await countCorrect(contestants[precision], batch, data);
    }
  }
  return counts;
}

/** A model that is measured. */
type Contestant = Awaited<ReturnType<typeof open>>;

async function open(benchmark: SutBenchmark<ModelPipeline>, modelFile: string) {
  const sha256 = await fileDigest(modelFile, 'sha256');
  const session = await createOrtSession({ modelFile, sha256, runtime: RUNTIME });
  return { session, pipeline: benchmark.openPipeline({ file: modelFile, ...session.tensors }, {}) };
}

async function prepareBatch(
  pipeline: ModelPipeline,
  batch: readonly LabelledFile[],
  data: Float32Array,
): Promise<void> {
  await forEachIndex(batch.length, batch.length, async (row) => {
    const payload = await readFile((batch[row] as LabelledFile).path);
    const target = data.subarray(row * IMAGENET_ELEMENTS, (row + 1) * IMAGENET_ELEMENTS);
    await pipeline.preprocess(payload, 'jpeg', [target]);
  });
}

async function countCorrect(
  { session, pipeline }: Contestant,
  batch: readonly LabelledFile[],
  data: Float32Array,
): Promise<number> {
  const [input] = pipeline.inputs as [PipelineInput]; // The benchmarks of ImageNet have one.
  const dims = [batch.length, ...input.sampleShape];
  const outputs = await session.run([{ ...input, data, dims }], pipeline.outputNames);
  const isCorrect = ({ label }: LabelledFile, row: number): boolean => {
    const response = pipeline.postprocess(outputs, row);
    const view = new DataView(response.buffer, response.byteOffset, response.byteLength);
    return view.getFloat32(0, true) === label;
  };
  return batch.filter(isCorrect).length;
}
