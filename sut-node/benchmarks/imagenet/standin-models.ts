import { join } from 'node:path';
import { type BuildProgress, ensureArtifact } from '../../../shared/base/cache/artifact-cache.ts';
import { jpegCodecVersion } from '../../../shared/benchmarks/image/jpeg.ts';
import {
  STANDIN_DRAWING_REVISION,
  STANDIN_JPEG_QUALITY,
  STANDIN_TRAINING_SET,
} from '../../../shared/benchmarks/standin/standin-sets.ts';
import { runFitThread } from '../fitting/fit-thread.ts';
import { STANDIN_FIT_REVISION, STANDIN_RIDGE_STRENGTH, type StandinFit } from './fit-standin.ts';
import { type StandinBenchmark, type StandinPrecision, standinName } from './standins.ts';

/** One path or name per precision. */
export type StandinFiles = Readonly<Record<StandinPrecision, string>>;

/** What the thread of a fit works with. */
export interface FitWork {
  readonly fit: StandinFit;
  readonly folder: string;
  readonly fileNames: StandinFiles;
}

/** Which stand-in is wanted, and where it is kept. */
export interface StandinRequest {
  readonly benchmark: StandinBenchmark;
  readonly cacheFolder: string;
  readonly onProgress: BuildProgress;
  /** How much of it: toys of few images and a narrow trunk. @internal For tests. */
  readonly scale?: Pick<StandinFit, 'images' | 'width'>;
}

/**
 * Finds both precisions of a stand-in in the cache, checked against their checksums, or makes them first.
 * @returns Paths of the files.
 * @throws MlperfError `ERR_CACHE`, `ERR_NOT_INSTALLED`
 */
export async function ensureStandinModels(request: StandinRequest): Promise<StandinFiles> {
  const { benchmark, cacheFolder, onProgress, scale } = request;
  const fit: StandinFit = {
    benchmark,
    images: scale?.images ?? STANDIN_TRAINING_SET,
    width: scale?.width ?? 1,
  };
  const fileNames: StandinFiles = {
    fp32: `${standinName(benchmark, 'fp32')}.onnx`,
    int8: `${standinName(benchmark, 'int8')}.onnx`,
  };
  const folder = await ensureArtifact({
    cacheFolder,
    name: `${benchmark}-standin-model`,
    recipe: {
      fit,
      fitRevision: STANDIN_FIT_REVISION,
      ridgeStrength: STANDIN_RIDGE_STRENGTH,
      drawingRevision: STANDIN_DRAWING_REVISION,
      jpegQuality: STANDIN_JPEG_QUALITY,
      // The same images may become other pixels.
      jpegCodec: await jpegCodecVersion(),
    },
    build: (building, onFitProgress) => {
      const work: FitWork = { fit, folder: building, fileNames };
      return runFitThread('sut-node/benchmarks/imagenet/fit-worker.js', work, onFitProgress);
    },
    onProgress,
  });
  return { fp32: join(folder, fileNames.fp32), int8: join(folder, fileNames.int8) };
}
