import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { DRAWING_REVISION, TRAINING_SET } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { runFitThread } from '../fitting/fit-thread.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { buildFeatureModel, MODEL_NAME } from './digits-graph.ts';
import { FIT_REVISION, RIDGE_STRENGTH } from './fit-digits.ts';

/**
 * Returns the path of the example's model from the cache, where it is fitted first when it is not there.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export const prepareModel: SutBenchmark['prepareModel'] = async ({ cacheFolder, onProgress }) => {
  const fileName = `${MODEL_NAME}.onnx`;
  const folder = await ensureArtifact({
    cacheFolder,
    name: 'digits-model',
    recipe: {
      drawingRevision: DRAWING_REVISION,
      images: TRAINING_SET,
      // Stands for the layers and their random filters.
      featureModel: createHash('sha256').update(buildFeatureModel()).digest('hex'),
      ridgeStrength: RIDGE_STRENGTH,
      fitRevision: FIT_REVISION,
    },
    build: async (building, onFitProgress) => {
      const file = join(building, fileName);
      await runFitThread('sut-node/benchmarks/digits/fit-worker.js', { file }, onFitProgress);
    },
    onProgress,
  });
  return join(folder, fileName);
};
