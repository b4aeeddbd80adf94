import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import {
  type DetectionLayout,
  detectionFloats,
  floatsOfBytes,
} from '../../../shared/benchmarks/image/detection.ts';
import {
  DETECTION_IMAGE_SIZES,
  type DetectionBenchmark,
  detectionElements,
} from '../../../shared/rules/cards/detection.ts';
import type {
  ModelUsage,
  OpenedModel,
  RunModel,
  SamplePayload,
  StepwisePipeline,
} from '../../model/model-facts.ts';
import { GREY_JPEG, turnPlanes } from '../../pipeline/imagenet-preprocessor.ts';
import { listTensors, refuseUsage, shapeFits } from '../../pipeline/model-fit.ts';
import { indexOfNotFinite } from '../../pipeline/tensor-preprocessor.ts';
import { type DetectionOutputs, detectionsOf } from './detections.ts';

/** One of the input and output forms of a benchmark's models. */
export interface SingleImageForm extends DetectionOutputs {
  /**
   * Name of the only input, and the possible layouts of an image; the first one if all axes are
   * free.
   */
  readonly inputName: string;
  readonly layouts: readonly DetectionLayout[];
  /** Element types of the labels. */
  readonly labelTypes: readonly string[];
}

/**
 * Object detection, one image per inference, as the official models require. The response is the
 * detections (7 float32 each, shared/rules/cards/detection.ts), possibly empty.
 * @param forms Forms of the benchmark's models, distinguished by the input's name.
 * @throws MlperfError `ERR_MODEL` with the expected and the actual tensors.
 */
export function singleImagePipeline(
  benchmark: DetectionBenchmark,
  forms: readonly SingleImageForm[],
  model: OpenedModel,
  usage: ModelUsage,
): StepwisePipeline {
  refuseUsage(usage, `the benchmark ${benchmark}`);
  const { form, layout } = checkInput(benchmark, forms, model);
  checkOutputs(benchmark, form, model);
  const outputNames = [form.boxes, form.scores, form.labels];
  const answerOne = async (sample: SamplePayload, run: RunModel): Promise<Uint8Array | Error> => {
    let data: Float32Array;
    try {
      data = await inputOf(sample, benchmark, layout);
    } catch (error) {
      return error as Error;
    }
    const dims = shapeOf(benchmark, layout);
    const input = { name: form.inputName, elementType: 'float', data, dims };
    return detectionsOf(await run([input], outputNames), form);
  };
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
}

function shapeOf(benchmark: DetectionBenchmark, layout: DetectionLayout): readonly number[] {
  const side = DETECTION_IMAGE_SIZES[benchmark];
  return layout === 'nchw' ? [1, 3, side, side] : [1, side, side, 3];
}

function checkInput(
  benchmark: DetectionBenchmark,
  forms: readonly SingleImageForm[],
  { file, inputs }: OpenedModel,
) {
  const [input, another] = inputs;
  const form = forms.find(({ inputName }) => inputName === input?.name);
  const layout = form?.layouts.find((one) =>
    shapeFits(input?.shape ?? [], shapeOf(benchmark, one)),
  );
  if (input?.elementType === 'float' && another === undefined && form && layout) {
    return { form, layout };
  }
  const expected = forms.flatMap(({ inputName, layouts }) =>
    layouts.map((one) => `${inputName}: float [${shapeOf(benchmark, one).join(', ')}]`),
  );
  throw modelError(
    `${file} does not fit the benchmark ${benchmark}: expected input ${expected.join(' or ')} ` +
      `with any of its axes free; found ${listTensors(inputs)}`,
  );
}

function checkOutputs(
  benchmark: DetectionBenchmark,
  { boxes, scores, labels, labelTypes }: SingleImageForm,
  { file, outputs }: OpenedModel,
): void {
  const wanted: [string, readonly string[]][] = [
    [boxes, ['float']],
    [scores, ['float']],
    [labels, labelTypes],
  ];
  for (const [name, types] of wanted) {
    const output = outputs.find((tensor) => tensor.name === name);
    if (output !== undefined && types.includes(output.elementType)) continue;
    throw modelError(
      `${file} does not fit the benchmark ${benchmark}: expected output ${name}: ${types.join(' or ')}; ` +
        `found ${listTensors(outputs)}`,
    );
  }
}

/** The model input from a payload. @throws MlperfError `ERR_DATA_SET` with its fault. */
async function inputOf(
  { payload: borrowed, form }: SamplePayload,
  benchmark: DetectionBenchmark,
  layout: DetectionLayout,
): Promise<Float32Array> {
  const payload = readInPlace(borrowed as BorrowedBytes);
  if (form === 'jpeg') return detectionFloats(payload, benchmark, layout);
  const elements = detectionElements(benchmark);
  const bytes = elements * (form === 'uint8' ? 1 : Float32Array.BYTES_PER_ELEMENT);
  if (payload.length !== bytes) {
    throw dataSetError(
      `an image of the form ${form} has ${bytes} bytes, this payload has ${payload.length}`,
    );
  }
  if (form === 'uint8') return floatsOfBytes(payload, benchmark, layout);
  // Float32 views need an offset that is a multiple of 4.
  const aligned = payload.byteOffset % 4 === 0 ? payload : new Uint8Array(payload);
  const place = indexOfNotFinite(aligned, 'float');
  if (place !== -1) throw dataSetError(`element ${place} of the image is NaN or infinite`);
  const planes = new Float32Array(aligned.buffer, aligned.byteOffset, elements);
  if (layout === 'nchw') return planes;
  const turned = new Float32Array(elements);
  turnPlanes(aligned, turned);
  return turned;
}
