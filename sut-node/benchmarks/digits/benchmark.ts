import assert from 'node:assert';
import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, modelError } from '../../../shared/base/errors/mlperf-error.ts';
import { dataFile } from '../../../shared/base/files/package-files.ts';
import { RAW_IMAGE_BYTES } from '../../../shared/benchmarks/digits/digit-sets.ts';
import { encodeResponse } from '../../../shared/benchmarks/digits/response.ts';
import { decodeJpeg, loadJpegCodec } from '../../../shared/benchmarks/image/jpeg.ts';
import { benchmarkRules } from '../../../shared/rules/benchmark-rules.ts';
import { IMAGE_SIZE } from '../../../shared/rules/cards/digits.ts';
import type { ModelPipeline, OutputTensor } from '../../model/model-facts.ts';
import { checkModelFits, refuseUsage } from '../../pipeline/model-fit.ts';
import type { SutBenchmark } from '../sut-benchmark.ts';

/** Name of the model in the file, in logs and on the wire; no model of MLPerf has a similar one. */
export const MODEL_NAME = 'longhaul-digits-example';

/** Name of the model's input: float32, {@link SAMPLE_SHAPE} per sample, -1 to 1. */
export const INPUT_NAME = 'image';

/** Name of the model output for the response: int64, the class. */
export const LABEL_OUTPUT_NAME = 'label';

/** Shape of one sample: channels, height, width. */
export const SAMPLE_SHAPE: readonly number[] = [3, IMAGE_SIZE, IMAGE_SIZE];

const PIXEL_COUNT: number = IMAGE_SIZE * IMAGE_SIZE;

/** Half of the largest byte: maps 0 to 255 to -1 to 1. */
const HALF_RANGE = 127.5;

/**
 * A grey JPEG of 48 x 48 pixels for the warm-up. A file instead of pixels, so that the codec is
 * loaded before the first sample. Made by sharp: `create` 48x48 "#808080", `jpeg` of quality 85.
 */
const GREY_JPEG = Buffer.from(
  '/9j/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0dHx8fExciJCIeJBwe' +
    'Hx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4e' +
    'Hh7/wAARCAAwADADASIAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAU' +
    'AQEAAAAAAAAAAAAAAAAAAAAA/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AAAAAAAAAAAAAAAAAAA//2Q==',
  'base64',
);

/** Required inputs and outputs of the model. */
const EXPECTED = {
  inputs: [{ name: INPUT_NAME, elementType: 'float', sampleShape: SAMPLE_SHAPE }],
  outputNames: [LABEL_OUTPUT_NAME],
};

/**
 * The embedded example on the SUT node: a small classifier of digits beside this file (made by
 * test/tools/fit), or a user's own model with the same input and output. The response is the class
 * (see shared/benchmarks/digits/response.ts).
 */
export const benchmark: SutBenchmark<ModelPipeline> = {
  rules: benchmarkRules('digits'),
  builtInModels: { example: MODEL_NAME },
  reference: undefined,
  sampleElements: RAW_IMAGE_BYTES,
  prepareModel: async () => dataFile(`sut-node/benchmarks/digits/${MODEL_NAME}.onnx`),
  // Workers decode images: see loadJpegCodec for why the main thread loads the codec first.
  prepareProcess: loadJpegCodec,
  openPipeline: (model, usage) => {
    refuseUsage(usage, 'the benchmark digits');
    checkModelFits(model, 'the benchmark digits', EXPECTED);
    return {
      ...EXPECTED,
      responseNumber: 'int32',
      forms: ['jpeg', 'raw'],
      tensorForms: [],
      checkTensor: () => {
        throw new Error('no payload of digits is the tensor itself');
      },
      preprocess: (payload, form, [target]) => preprocess(payload, form, target as Float32Array),
      postprocess,
      warmUpPayload: () => ({ form: 'jpeg', payload: GREY_JPEG }),
    };
  },
};

/**
 * Decodes one payload into one sample of the model's input.
 * @throws MlperfError `ERR_DATA_SET` with the payload's fault.
 */
async function preprocess(
  payload: BorrowedBytes,
  form: string,
  target: Float32Array,
): Promise<void> {
  if (form === 'jpeg') {
    const rgb = await decodeJpeg(readInPlace(payload), { width: IMAGE_SIZE, height: IMAGE_SIZE });
    normaliseImage(rgb, target);
    return;
  }
  assert.equal(form, 'raw');
  if (payload.length !== RAW_IMAGE_BYTES) {
    throw dataSetError(
      `a raw image has ${RAW_IMAGE_BYTES} bytes (${IMAGE_SIZE} x ${IMAGE_SIZE} x 3), ` +
        `this payload has ${payload.length}`,
    );
  }
  normaliseImage(payload, target);
}

/**
 * Converts bytes 0 to 255 into floats -1 to 1, and pixels into planes.
 * @param rgb Height x width x RGB.
 * @param target RGB x height x width.
 */
export function normaliseImage(rgb: BorrowedBytes, target: Float32Array): void {
  assert.equal(rgb.length, RAW_IMAGE_BYTES);
  assert.equal(target.length, RAW_IMAGE_BYTES);
  for (let pixel = 0; pixel < PIXEL_COUNT; pixel += 1) {
    for (let channel = 0; channel < 3; channel += 1) {
      const byte = rgb[pixel * 3 + channel] as number; // In range: the lengths are asserted above.
      target[channel * PIXEL_COUNT + pixel] = byte / HALF_RANGE - 1;
    }
  }
}

/**
 * Response of one sample: its element of the output `label`, as one 32-bit integer.
 * @throws MlperfError `ERR_MODEL` if the user's model lacks this output or class.
 */
function postprocess(outputs: ReadonlyMap<string, OutputTensor>, row: number): Uint8Array {
  const labels = outputs.get(LABEL_OUTPUT_NAME);
  if (labels === undefined) {
    throw modelError(`the model has no output "${LABEL_OUTPUT_NAME}"`);
  }
  // One element per sample, as [N] or [N, 1]; more would shift every row after the first.
  const isOnePerSample = labels.data.length === labels.dims[0];
  const label = isOnePerSample ? labels.data[row] : undefined;
  if (label === undefined) {
    throw modelError(
      `output "${LABEL_OUTPUT_NAME}" of the model has the shape [${labels.dims.join(', ')}], ` +
        `which has no single label in row ${row}`,
    );
  }
  return encodeResponse(Number(label));
}
