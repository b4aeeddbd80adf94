import { modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { newVolume, openVolume, WINDOW_SIDE } from '../../../shared/benchmarks/volume/volume.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { VOLUME_FORM } from '../../../shared/rules/cards/3d-unet.ts';
import type {
  ModelUsage,
  OpenedModel,
  RunModel,
  StepwisePipeline,
} from '../../model/model-facts.ts';
import {
  batchShapeOf,
  checkBatchSize,
  checkModelFits,
  refuseUsage,
} from '../../pipeline/model-fit.ts';
import { standinModels } from '../standin/standin-models.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import {
  copyWindow,
  WINDOW_VOXELS,
  WindowBlend,
  windowCorners,
  windowWeights,
} from './sliding-window.ts';
import { SCORES_OUTPUT, UNET_STANDIN, VOXEL_CLASSES, WINDOW_INPUT } from './standin.ts';

/** Voxels of KiTS19's mean volume. A sample may be four times as large. */
const MEAN_VOXELS = 32_944_795;

const WINDOW_SHAPE = [1, WINDOW_SIDE, WINDOW_SIDE, WINDOW_SIDE];

/** Required inputs and outputs of the model. */
const EXPECTED = {
  inputs: [{ name: WINDOW_INPUT, elementType: 'float', sampleShape: WINDOW_SHAPE }],
  outputNames: [SCORES_OUTPUT],
};

/**
 * 3D U-Net of KiTS19 on the SUT node: sliding windows of a volume through the model, blended, and
 * the class of the largest score. The response is a byte per voxel: 0, 1 kidney, 2 tumour.
 */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  ...standinModels(UNET_STANDIN),
  rules: benchmarkRules('3d-unet'),
  reference: {
    howToGet:
      'the reference is 3dunet_kits19_128x128x128_dynbatch.onnx of Zenodo record 5597155 (or the one without dynbatch)',
    // MD5 published by MLCommons (mlcommons/mlperf-automations, script/get-ml-model-3d-unet).
    files: [{ algorithm: 'md5', digest: '82f0618fde78f9839e7c712274019b4a' }],
  },
  // One byte per voxel of the sample.
  sampleElements: MEAN_VOXELS,
  takesHalf: true,
  openPipeline,
};

function openPipeline(
  model: OpenedModel,
  usage: ModelUsage,
  batchSizeAsked?: number,
): StepwisePipeline {
  refuseUsage(usage, 'the benchmark 3d-unet');
  checkModelFits(model, 'the benchmark 3d-unet', EXPECTED);
  const shape = batchShapeOf(model, usage);
  checkBatchSize(model, shape, batchSizeAsked);
  const sizeMax = shape.sizeFixed ?? batchSizeAsked ?? 1;
  const segment = segmenter(sizeMax, shape.sizeFixed !== undefined);
  return {
    forms: [VOLUME_FORM],
    // A volume already fills many windows: a second volume in the batch would only wait.
    samplesAtOnce: 1,
    answer: async (samples, run) => {
      const answers: (Uint8Array | Error)[] = [];
      for (const { payload } of samples) {
        const volume = orError(() => openVolume(payload));
        answers.push(volume instanceof Error ? volume : await segment(volume, run));
      }
      return answers;
    },
    warmUpPayload: () => {
      const { payload } = newVolume([WINDOW_SIDE, WINDOW_SIDE, WINDOW_SIDE]);
      return { form: VOLUME_FORM, payload };
    },
  };
}

function orError<T>(open: () => T): T | Error {
  try {
    return open();
  } catch (error) {
    return error as Error; // The pipeline throws only errors.
  }
}

/**
 * Runs the windows of volumes through a model and returns a label per voxel. Memory is allocated at
 * first use.
 * @param sizeMax Windows per inference; if that is fixed, the last batch is padded.
 */
function segmenter(sizeMax: number, isSizeFixed: boolean) {
  let windows: Float32Array | undefined;
  let weights: Float32Array | undefined;
  return async (
    { shape, voxels }: ReturnType<typeof openVolume>,
    run: RunModel,
  ): Promise<Uint8Array> => {
    windows ??= new Float32Array(sizeMax * WINDOW_VOXELS);
    weights ??= windowWeights();
    const blend = new WindowBlend(shape, weights);
    const corners = windowCorners(shape);
    for (let begin = 0; begin < corners.length; begin += sizeMax) {
      const batch = corners.slice(begin, begin + sizeMax);
      for (const [row, corner] of batch.entries()) {
        copyWindow(voxels, shape, corner, windows, row * WINDOW_VOXELS);
      }
      const size = isSizeFixed ? sizeMax : batch.length;
      const scores = await scoresOf(windows.subarray(0, size * WINDOW_VOXELS), size, run);
      for (const [row, corner] of batch.entries()) blend.add(corner, scores, row);
    }
    return blend.finish();
  };
}

/** @throws MlperfError `ERR_MODEL` for scores of another shape; Error of the model */
async function scoresOf(data: Float32Array, size: number, run: RunModel): Promise<Float32Array> {
  const input = { name: WINDOW_INPUT, elementType: 'float', data, dims: [size, ...WINDOW_SHAPE] };
  const scores = (await run([input], [SCORES_OUTPUT])).get(SCORES_OUTPUT);
  const { data: found, dims } = scores ?? { data: [], dims: [] };
  if (found instanceof Float32Array && found.length === data.length * VOXEL_CLASSES) return found;
  throw modelError(
    `output "${SCORES_OUTPUT}" of the model has the shape [${dims.join(', ')}] for windows of [${input.dims.join(', ')}]; ` +
      `it must have ${VOXEL_CLASSES} scores for each voxel, as float32`,
  );
}
