import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ensureArtifact } from '../../../shared/cache/artifact-cache.ts';
import { DRAWING_REVISION, TRAINING_SET } from '../../../shared/digits/digit-sets.ts';
import { MlperfError } from '../../../shared/errors/mlperf-error.ts';
import { compiledModule } from '../../../shared/process/package-files.ts';
import { disableTelemetry } from '../../onnx/onnxruntime.ts';
import type { PrepareProgress, SutBenchmark } from '../sut-benchmark.ts';
import { buildFeatureModel, MODEL_NAME } from './digits-graph.ts';
import { FIT_REVISION, RIDGE_STRENGTH } from './fit-digits.ts';
import type { FitMessage } from './fit-messages.ts';

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
      await writeFile(join(building, fileName), await fitInWorkerThread(onFitProgress));
    },
    onProgress,
  });
  return join(folder, fileName);
};

/** Fits in a thread of its own: the gRPC server of this thread answers meanwhile that it is not ready. */
function fitInWorkerThread(onProgress: PrepareProgress): Promise<Uint8Array> {
  disableTelemetry();
  const worker = new Worker(compiledModule('sut-node/benchmarks/digits/fit-worker.js'));
  return new Promise((resolve, reject) => {
    let file: Uint8Array | undefined;
    worker.on('message', (message: FitMessage) => {
      if (message.kind === 'progress') onProgress(message.fraction, message.what);
      else if (message.kind === 'model') file = message.file;
      else reject(new MlperfError(message.code, message.text));
    });
    worker.on('error', reject);
    // Not before the thread has ended: it gives its memory back before sessions are made.
    worker.on('exit', (exitCode) => {
      if (file !== undefined) resolve(file);
      // Without effect when one of the above has rejected before.
      else reject(new MlperfError('ERR_SUT_WORKER', `the fit ended with exit code ${exitCode}`));
    });
  });
}
