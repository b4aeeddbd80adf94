import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { loadJpegCodec } from '../../../shared/benchmarks/image/jpeg.ts';
import { planesOfBytes, retinanetPlanes } from '../../../shared/benchmarks/image/retinanet.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import {
  DETECTION_FLOATS,
  RETINANET_ELEMENTS,
  RETINANET_IMAGE_SIZE,
} from '../../../shared/rules/rows/retinanet.ts';
import type {
  OpenedModel,
  OutputTensor,
  RunModel,
  SamplePayload,
  StepwisePipeline,
  TensorElements,
} from '../../model/model-facts.ts';
import { GREY_JPEG } from '../../pipeline/imagenet-preprocessor.ts';
import { listTensors, refuseUsage, shapeFits } from '../../pipeline/model-fit.ts';
import { indexOfNotFinite } from '../../pipeline/tensor-preprocessor.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';
import { BOXES, INPUT_NAME, LABELS, SCORES } from './standin-graph.ts';
import { ensureStandin, STANDIN_NAME } from './standin-model.ts';

/** Shape of the input: one image, channel x height x width. */
const INPUT_SHAPE = [1, 3, RETINANET_IMAGE_SIZE, RETINANET_IMAGE_SIZE] as const;

/** Outputs, by name: exporters order them differently. */
const OUTPUT_NAMES = [BOXES, SCORES, LABELS] as const;

/** Detections end at the first score below. Source: MLCommons inference, `openimages-800-retinanet-onnx` in python/main.py. */
const SCORE_MIN = 0.05;

/**
 * RetinaNet on the SUT node, one image per inference, as the official model takes them. The response is the detections (7
 * float32 each, shared/rules/rows/retinanet.ts); none is an empty response. Its first number, the index of the sample, is 0:
 * a SUT over the network does not get to know it, and no score depends on it.
 * Source: MLCommons inference, vision/classification_and_detection/python/openimages.py, `PostProcessOpenImagesRetinanet`.
 */
export const benchmark: SutBenchmark<StepwisePipeline> = {
  rules: benchmarkRules('retinanet'),
  builtInModels: { standin: STANDIN_NAME },
  reference: {
    howToGet: 'the reference is resnext50_32x4d_fpn.onnx of Zenodo record 6617879 (opset 13)',
    // MD5 is what MLCommons publishes of it (mlcommons/mlperf-automations, script/get-ml-model-retinanet).
    files: [{ algorithm: 'md5', digest: '4544f4e56e0a4684215831cc937ea45c' }],
  },
  // As many detections as the model gives.
  responseBytesMax: undefined,
  sampleElements: RETINANET_ELEMENTS,
  prepareModel: ({ cost, cacheFolder, onProgress }) =>
    ensureStandin({ cost, cacheFolder, onProgress }),
  hasStandinCost: true,
  takesHalf: true,
  // The workers decode images: see loadJpegCodec for why the main thread loads the codec before them.
  prepareProcess: loadJpegCodec,
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark retinanet');
    checkModel(model);
    return {
      forms: ['uint8', 'fp32', 'jpeg'],
      answer: async (samples, run) => {
        const answers: (Uint8Array | Error)[] = [];
        for (const sample of samples) answers.push(await answerOne(sample, run));
        return answers;
      },
      samplesAtOnce: 1,
      warmUpPayload: () => ({ form: 'jpeg', payload: GREY_JPEG }),
    };
  },
};

/** @throws MlperfError `ERR_MODEL` that tells what is expected and what the model has. */
function checkModel({ file, inputs, outputs }: OpenedModel): void {
  const [input, another] = inputs;
  const isFit =
    input !== undefined &&
    another === undefined &&
    input.name === INPUT_NAME &&
    input.elementType === 'float' &&
    shapeFits(input.shape, INPUT_SHAPE);
  if (!isFit) {
    throw modelError(
      `${file} does not fit the benchmark retinanet: expected input ${INPUT_NAME}: float [${INPUT_SHAPE.join(', ')}] ` +
        `with any of its axes free; found ${listTensors(inputs)}`,
    );
  }
  const types = { [BOXES]: ['float'], [SCORES]: ['float'], [LABELS]: ['int64', 'int32'] };
  for (const name of OUTPUT_NAMES) {
    const output = outputs.find((tensor) => tensor.name === name);
    if (output !== undefined && types[name].includes(output.elementType)) continue;
    throw modelError(
      `${file} does not fit the benchmark retinanet: expected output ${name}: ${types[name].join(' or ')}; ` +
        `found ${listTensors(outputs)}`,
    );
  }
}

/** The response, or an error of the sample. @throws Error of the model */
async function answerOne(
  { payload, form }: SamplePayload,
  run: RunModel,
): Promise<Uint8Array | Error> {
  let data: Float32Array;
  try {
    data = await planesOf(payload, form);
  } catch (error) {
    return error as Error;
  }
  const input = { name: INPUT_NAME, elementType: 'float', data, dims: INPUT_SHAPE };
  return detectionsOf(await run([input], OUTPUT_NAMES));
}

/** The model's input of a payload. @throws MlperfError `ERR_DATA_SET` saying what is wrong with it. */
async function planesOf(borrowed: BorrowedBytes, form: string): Promise<Float32Array> {
  const payload = readInPlace(borrowed);
  if (form === 'jpeg') return retinanetPlanes(payload);
  const bytes = RETINANET_ELEMENTS * (form === 'uint8' ? 1 : Float32Array.BYTES_PER_ELEMENT);
  if (payload.length !== bytes) {
    throw dataSetError(
      `an image of the form ${form} has ${bytes} bytes, this payload has ${payload.length}`,
    );
  }
  if (form === 'uint8') return planesOfBytes(payload);
  // Floats lie at multiples of 4.
  const aligned = payload.byteOffset % 4 === 0 ? payload : new Uint8Array(payload);
  const place = indexOfNotFinite(aligned, 'float');
  if (place !== -1) throw dataSetError(`element ${place} of the image is NaN or infinite`);
  return new Float32Array(aligned.buffer, aligned.byteOffset, RETINANET_ELEMENTS);
}

/**
 * Response of one image.
 * @throws MlperfError `ERR_MODEL` when the outputs do not have as many boxes, scores and labels.
 */
export function detectionsOf(outputs: ReadonlyMap<string, OutputTensor>): Uint8Array {
  const elementsOf = (name: string): TensorElements | [] => outputs.get(name)?.data ?? [];
  const [boxes, scores, labels] = [elementsOf(BOXES), elementsOf(SCORES), elementsOf(LABELS)];
  if (boxes.length !== scores.length * 4 || labels.length !== scores.length) {
    throw modelError(
      `the model gave ${boxes.length} numbers of boxes, ${scores.length} scores and ${labels.length} labels: ` +
        'expected 4 numbers and a label for each score',
    );
  }
  let count = 0;
  // A NaN is not below: the scorer names it.
  while (count < scores.length && !((scores[count] as number) < SCORE_MIN)) count += 1;
  const detections = new Float32Array(count * DETECTION_FLOATS);
  for (let i = 0, at = 0; i < count; i += 1, at += DETECTION_FLOATS) {
    detections[at + 1] = (boxes[i * 4 + 1] as number) / RETINANET_IMAGE_SIZE;
    detections[at + 2] = (boxes[i * 4] as number) / RETINANET_IMAGE_SIZE;
    detections[at + 3] = (boxes[i * 4 + 3] as number) / RETINANET_IMAGE_SIZE;
    detections[at + 4] = (boxes[i * 4 + 2] as number) / RETINANET_IMAGE_SIZE;
    detections[at + 5] = scores[i] as number;
    detections[at + 6] = Number(labels[i]);
  }
  return new Uint8Array(detections.buffer);
}
