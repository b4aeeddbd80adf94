import { readInPlace } from '../../shared/base/bytes/borrowed-bytes.ts';
import { dataSetError, modelError } from '../../shared/base/errors/mlperf-error.ts';
import {
  decodeImagenetJpeg,
  type ImagenetPreparation,
  normaliseImagenet,
} from '../../shared/benchmarks/image/imagenet.ts';
import { IMAGENET_ELEMENTS, IMAGENET_IMAGE_SIZE } from '../../shared/rules/cards/imagenet.ts';
import {
  FREE,
  type PipelineInput,
  type Preprocessor,
  type TensorElements,
} from '../model/model-facts.ts';
import { listTensors, shapeFits } from './model-fit.ts';
import { tensorPreprocessor } from './tensor-preprocessor.ts';

/** Forms of payload, as shared/benchmarks/image/imagenet.ts describes them. */
const FORMS = ['jpeg', 'uint8', 'fp32'] as const;

const CHANNELS = 3;

/**
 * How a model for ImageNet has one image: channel x height x width, or height x width x channel.
 */
export type ImagenetLayout = 'nchw' | 'nhwc';

/** Shape of one image per layout. */
export const IMAGENET_SHAPES: Readonly<Record<ImagenetLayout, readonly number[]>> = {
  nchw: [CHANNELS, IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE],
  nhwc: [IMAGENET_IMAGE_SIZE, IMAGENET_IMAGE_SIZE, CHANNELS],
};

/**
 * A grey JPEG of 16 x 16 pixels. A file and not pixels, so that warm-up loads the codec too, which
 * the first sample would wait for otherwise. Made by sharp: `create` 16x16 "#808080", `jpeg` of
 * quality 85.
 */
export const GREY_JPEG = Buffer.from(
  '/9j/2wBDAAUDBAQEAwUEBAQFBQUGBwwIBwcHBw8LCwkMEQ8SEhEPERETFhwXExQaFRERGCEYGh0dHx8fExciJCIeJB' +
    'weHx7/2wBDAQUFBQcGBw4ICA4eFBEUHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4e' +
    'Hh4eHh7/wAARCAAQABADASIAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAA' +
    'D/xAAUAQEAAAAAAAAAAAAAAAAAAAAA/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AAA//2Q==',
  'base64',
);

/** The layout that fits a shape, in which 0 fits every length; undefined where none does. */
export function imagenetLayoutOf(sampleShape: readonly number[]): ImagenetLayout | undefined {
  return (['nchw', 'nhwc'] as const).find((layout) =>
    shapeFits(sampleShape, IMAGENET_SHAPES[layout]),
  );
}

/**
 * Images as the reference prepares them: `jpeg` is decoded, resized, cut and normalised, `uint8`
 * (already cut; height x width x RGB) is normalised, `fp32` (channel x height x width) is the input
 * itself, which a model of the other layout gets turned.
 * @throws MlperfError `ERR_MODEL` unless the model has one input of floats in one of the two
 *   layouts.
 */
export function imagenetPreprocessor(
  inputs: readonly PipelineInput[],
  { normalisation, interpolation }: ImagenetPreparation,
): Preprocessor {
  const layout = layoutOf(inputs);
  // The rules for a payload that is the input itself: the byte count, and no NaN.
  const tensor = tensorPreprocessor(inputs, ['fp32']);
  return {
    forms: FORMS,
    tensorForms: layout === 'nchw' ? tensor.tensorForms : [],
    checkTensor: tensor.checkTensor,
    preprocess: async (borrowed, form, targets) => {
      const payload = readInPlace(borrowed);
      const target = targets[0] as Float32Array; // One input of floats: see layoutOf.
      if (form !== 'fp32') {
        const rgb =
          form === 'jpeg' ? await decodeImagenetJpeg(payload, interpolation) : checkPixels(payload);
        normaliseImagenet(rgb, target, normalisation, layout);
        return;
      }
      if (layout === 'nchw') return tensor.preprocess(payload, form, targets);
      tensor.checkTensor(payload, form);
      turnPlanes(payload, target);
    },
    warmUpPayload: () => ({ form: 'jpeg', payload: GREY_JPEG }),
  };
}

function layoutOf(inputs: readonly PipelineInput[]): ImagenetLayout {
  const [input, another] = inputs;
  const isOne = input !== undefined && another === undefined && input.elementType === 'float';
  const layout = isOne ? imagenetLayoutOf(input.sampleShape) : undefined;
  if (layout === undefined || input?.sampleShape.includes(FREE)) {
    const shapes = Object.values(IMAGENET_SHAPES).map((shape) => `[${shape.join(', ')}]`);
    const found = inputs.map(({ sampleShape, ...rest }) => ({ ...rest, shape: sampleShape }));
    throw modelError(
      `a model for images of ImageNet has one input of float ${shapes.join(' or ')} behind its batch axis; ` +
        `this one has, per sample: ${listTensors(found)}`,
    );
  }
  return layout;
}

function checkPixels(payload: Uint8Array): Uint8Array {
  if (payload.length === IMAGENET_ELEMENTS) return payload;
  throw dataSetError(
    `an image of the form uint8 has ${IMAGENET_ELEMENTS} bytes (224 x 224 x 3), ` +
      `this payload has ${payload.length}`,
  );
}

/** From channel x height x width, floats at any place in memory, to height x width x channel. */
export function turnPlanes(payload: Uint8Array, target: TensorElements): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const pixels = target.length / CHANNELS;
  for (let pixel = 0; pixel < pixels; pixel += 1) {
    for (let channel = 0; channel < CHANNELS; channel += 1) {
      const from = (channel * pixels + pixel) * Float32Array.BYTES_PER_ELEMENT;
      target[pixel * CHANNELS + channel] = view.getFloat32(from, true);
    }
  }
}
