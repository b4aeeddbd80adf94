import {
  DETECTION_IMAGE_SIZES,
  type DetectionBenchmark,
  detectionElements,
} from '../../rules/cards/detection.ts';
import { decodeAnyImage } from './jpeg.ts';
import { linearTaps, resizeRows } from './resize.ts';

// Pre-processing of object detection: decoded, RGB, resized to a square without regard to the
// shape, bilinear, in float, and normalised. Source: MLCommons inference,
// vision/classification_and_detection/python/dataset.py, `pre_process_openimages_retinanet`,
// `pre_process_coco_mobilenet` and `pre_process_coco_resnet34`.

/** The largest byte. */
const BYTE_MAX = 255;

/** Mean and deviation per channel, for pixel values 0 to 1. */
interface Normalisation {
  readonly means: readonly [number, number, number];
  readonly deviations: readonly [number, number, number];
}

/** By benchmark. RetinaNet has its own normalisation inside, and ssd-mobilenet takes bytes. */
export const DETECTION_NORMALISATIONS: Readonly<Record<DetectionBenchmark, Normalisation>> = {
  retinanet: { means: [0, 0, 0], deviations: [1, 1, 1] },
  'ssd-mobilenet': { means: [0, 0, 0], deviations: [1, 1, 1] },
  'ssd-resnet34': { means: [0.485, 0.456, 0.406], deviations: [0.229, 0.224, 0.225] },
};

/** Order of an image's elements: channel x height x width, or height x width x channel. */
export type DetectionLayout = 'nchw' | 'nhwc';

/**
 * Added before the fraction is dropped. The reference of ssd-mobilenet truncates to bytes: the
 * interpolation's last bit must not turn the 100 of a uniform area into 99. Other models take
 * floats, so rounding to the nearest byte is best.
 */
const FRACTION_KEPT: Readonly<Record<DetectionBenchmark, number>> = {
  retinanet: 0.5,
  'ssd-mobilenet': 1e-3,
  'ssd-resnet34': 0.5,
};

/**
 * A file of the data set, decoded and resized to bytes.
 * @returns height x width x RGB.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong: no image, damaged or truncated, too
 * large.
 */
export async function detectionBytes(
  file: Uint8Array,
  benchmark: DetectionBenchmark,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(detectionElements(benchmark));
  const kept = FRACTION_KEPT[benchmark];
  await resizeFile(file, DETECTION_IMAGE_SIZES[benchmark], (line, row) => {
    const start = row * line.length;
    for (let i = 0; i < line.length; i++) bytes[start + i] = (line[i] as number) + kept;
  });
  return bytes;
}

/**
 * A file of the data set as the model's input, normalised, not rounded.
 * @throws MlperfError as {@link detectionBytes}
 */
export async function detectionFloats(
  file: Uint8Array,
  benchmark: DetectionBenchmark,
  layout: DetectionLayout,
): Promise<Float32Array> {
  const side = DETECTION_IMAGE_SIZES[benchmark];
  const floats = new Float32Array(detectionElements(benchmark));
  const { pixelStep, channelStep } = stepsOf(layout, side);
  const { means, deviations } = DETECTION_NORMALISATIONS[benchmark];
  await resizeFile(file, side, (line, row) => {
    for (let channel = 0; channel < 3; channel++) {
      const mean = Math.fround(means[channel] as number);
      const deviation = Math.fround(deviations[channel] as number);
      let to = row * side * pixelStep + channel * channelStep;
      for (let from = channel; from < line.length; from += 3, to += pixelStep) {
        // Single precision, step by step, as in NumPy.
        const share = Math.fround(Math.fround(line[from] as number) / BYTE_MAX);
        floats[to] = Math.fround(share - mean) / deviation;
      }
    }
  });
  return floats;
}

/** The model input for an image from {@link detectionBytes}. */
export function floatsOfBytes(
  bytes: Uint8Array,
  benchmark: DetectionBenchmark,
  layout: DetectionLayout,
): Float32Array {
  const floats = new Float32Array(bytes.length);
  const [red, green, blue] = TABLES[benchmark];
  const { pixelStep, channelStep } = stepsOf(layout, DETECTION_IMAGE_SIZES[benchmark]);
  for (let to = 0, from = 0; from < bytes.length; to += pixelStep, from += 3) {
    floats[to] = red[bytes[from] as number] as number;
    floats[to + channelStep] = green[bytes[from + 1] as number] as number;
    floats[to + 2 * channelStep] = blue[bytes[from + 2] as number] as number;
  }
  return floats;
}

type Tables = readonly [Float32Array, Float32Array, Float32Array];

const CHANNELS = [0, 1, 2] as const;

/** The normalised value of each byte, per channel. */
const TABLES = Object.fromEntries(
  Object.entries(DETECTION_NORMALISATIONS).map(([benchmark, { means, deviations }]) => [
    benchmark,
    CHANNELS.map((channel) => {
      const [mean, deviation] = [Math.fround(means[channel]), Math.fround(deviations[channel])];
      const value = (byte: number) => Math.fround(Math.fround(byte / BYTE_MAX) - mean) / deviation;
      return Float32Array.from({ length: 256 }, (_, byte) => value(byte));
    }),
  ]),
) as unknown as Readonly<Record<DetectionBenchmark, Tables>>;

/** Distance in elements from one pixel, and from one channel, to the next. */
function stepsOf(layout: DetectionLayout, side: number) {
  return layout === 'nchw'
    ? { pixelStep: 1, channelStep: side ** 2 }
    : { pixelStep: 3, channelStep: 1 };
}

async function resizeFile(
  file: Uint8Array,
  targetSize: number,
  emit: (line: Float64Array, row: number) => void,
): Promise<void> {
  const { rgb, size } = await decodeAnyImage(file);
  const taps = (sourceSize: number) =>
    linearTaps({ sourceSize, targetSize, from: 0, count: targetSize });
  resizeRows(rgb, size.width, taps(size.height), taps(size.width), emit);
}
