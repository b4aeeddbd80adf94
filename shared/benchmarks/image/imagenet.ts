import { IMAGENET_ELEMENTS, IMAGENET_IMAGE_SIZE } from '../../rules/rows/imagenet.ts';
import { decodeAnyImage, type ImageSize } from './jpeg.ts';

/** `vgg`: minus the mean of each channel. `mobilenet`: from 0..255 to -1..1. */
type ImagenetNormalisation = 'vgg' | 'mobilenet';

/** `area`: the mean of the covered pixels. `linear`: between the two nearest pixels of each axis. */
type ImagenetInterpolation = 'area' | 'linear';

/** Pre-processing of a benchmark's reference. */
export interface ImagenetPreparation {
  readonly normalisation: ImagenetNormalisation;
  readonly interpolation: ImagenetInterpolation;
}

/**
 * By benchmark.
 * Source: MLCommons inference, vision/classification_and_detection/python/dataset.py, `pre_process_vgg` and
 * `pre_process_mobilenet`; the cut (short side 256, centre 224) is the same in both.
 */
export const IMAGENET_PREPARATIONS: Readonly<
  Record<'resnet50' | 'mobilenet', ImagenetPreparation>
> = {
  resnet50: { normalisation: 'vgg', interpolation: 'area' },
  mobilenet: { normalisation: 'mobilenet', interpolation: 'linear' },
};

/** The short side of an image before the centre is cut out: 224 / 0.875. */
const SHORT_SIDE = 256;

/** Mean of red, green and blue over the training set, in the order and with the figures of the reference. */
const VGG_MEANS = [123.68, 116.78, 103.94] as const;

/**
 * An image of the data set as models for ImageNet take it: decoded, resized so that its short side is 256, the
 * centre of 224 x 224 cut out.
 * Source: MLCommons inference, vision/classification_and_detection/python/dataset.py, up to the
 * normalisation. Only the pixels that remain are resized, which gives the same.
 * @param bytes JPEG of any size, grey, CMYK and turned ones as well; PNG, as some files of ImageNet are.
 * @returns 224 x 224 x RGB (height, width, channel), one byte each: 150,528 bytes.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong: no image, damaged or truncated, too large.
 */
export async function decodeImagenetJpeg(
  bytes: Uint8Array,
  interpolation: ImagenetInterpolation = 'area',
): Promise<Uint8Array> {
  const { rgb, size } = await decodeAnyImage(bytes);
  const resized = resizedSize(size);
  const makeTaps = interpolation === 'area' ? areaTaps : linearTaps;
  const taps = (sourceSize: number, targetSize: number) =>
    makeTaps({ sourceSize, targetSize, from: cutFrom(targetSize), count: IMAGENET_IMAGE_SIZE });
  return resizeRgb(rgb, size, taps(size.height, resized.height), taps(size.width, resized.width));
}

/**
 * Normalises an image into a model's input.
 * @param rgb 150,528 bytes as {@link decodeImagenetJpeg} gives them.
 * @param target At least as many elements; a view of a batch tensor. The first 150,528 are written.
 * @param layout `nchw`: channel x height x width; `nhwc`: height x width x channel.
 */
export function normaliseImagenet(
  rgb: Uint8Array,
  target: Float32Array,
  normalisation: ImagenetNormalisation,
  layout: 'nchw' | 'nhwc',
): void {
  const [red, green, blue] = TABLES[normalisation];
  const pixels = IMAGENET_ELEMENTS / CHANNELS;
  const pixelStep = layout === 'nchw' ? 1 : CHANNELS;
  const channelStep = layout === 'nchw' ? pixels : 1;
  for (let pixel = 0, from = 0, to = 0; pixel < pixels; pixel++, from += CHANNELS) {
    target[to] = red[rgb[from] as number] as number;
    target[to + channelStep] = green[rgb[from + 1] as number] as number;
    target[to + 2 * channelStep] = blue[rgb[from + 2] as number] as number;
    to += pixelStep;
  }
}

type ChannelTables = readonly [Float32Array, Float32Array, Float32Array];

/** The normalised value of each byte: a look-up per element, in the reference's single precision. */
const TABLES: Readonly<Record<ImagenetNormalisation, ChannelTables>> = {
  vgg: [vggTable(VGG_MEANS[0]), vggTable(VGG_MEANS[1]), vggTable(VGG_MEANS[2])],
  mobilenet: [mobilenetTable(), mobilenetTable(), mobilenetTable()],
};

function vggTable(mean: number): Float32Array {
  return Float32Array.from({ length: 256 }, (_, value) => value - Math.fround(mean));
}

function mobilenetTable(): Float32Array {
  return Float32Array.from(
    { length: 256 },
    (_, value) => Math.fround(Math.fround(value / 255) - 0.5) * 2,
  );
}

/** The size of the whole image when its short side is {@link SHORT_SIDE}; fractions are dropped. */
function resizedSize({ width, height }: ImageSize): ImageSize {
  return height > width
    ? { width: SHORT_SIDE, height: Math.floor((SHORT_SIDE * height) / width) }
    : { width: Math.floor((SHORT_SIDE * width) / height), height: SHORT_SIDE };
}

function cutFrom(size: number): number {
  return Math.floor((size - IMAGENET_IMAGE_SIZE) / 2);
}

/**
 * How each pixel of a resized line is made of pixels of the source line: pixel `i` is the sum over `k` of
 * `weights[i * tapsMax + k] * source[starts[i] + k]`. Weights of a pixel add up to 1.
 */
interface ResizeTaps {
  /** First source pixel of each pixel. */
  readonly starts: Int32Array;
  /** Weights, `tapsMax` per pixel; those beyond the last source pixel needed are 0. */
  readonly weights: Float32Array;
  readonly tapsMax: number;
}

/** A line of pixels, and the part of its resized form that is wanted. */
interface ResizedLine {
  /** Pixels of the source line. */
  readonly sourceSize: number;
  /** Pixels that the whole resized line would have. */
  readonly targetSize: number;
  /** First pixel of the resized line that is wanted, and how many. */
  readonly from: number;
  readonly count: number;
}

/** Overlaps smaller than this share of a pixel are rounding errors of the division. */
const OVERLAP_MIN = 1e-3;

/**
 * Every pixel of the target covers `sourceSize / targetSize` pixels of the source, and is their mean,
 * weighted by how much of each is covered (OpenCV's INTER_AREA, smaller and larger).
 */
function areaTaps({ sourceSize, targetSize, from, count }: ResizedLine): ResizeTaps {
  const scale = sourceSize / targetSize;
  const tapsMax = Math.ceil(scale) + 1;
  const starts = new Int32Array(count);
  const weights = new Float32Array(count * tapsMax);
  for (let i = 0; i < count; i++) {
    const begin = (from + i) * scale;
    const end = Math.min(begin + scale, sourceSize);
    const first = Math.floor(begin + OVERLAP_MIN);
    starts[i] = first;
    let total = 0;
    for (let k = 0; k < tapsMax && first + k < sourceSize; k++) {
      const overlap = Math.min(end, first + k + 1) - Math.max(begin, first + k);
      if (overlap <= OVERLAP_MIN) continue;
      weights[i * tapsMax + k] = overlap;
      total += overlap;
    }
    for (let k = i * tapsMax; k < (i + 1) * tapsMax; k++)
      weights[k] = (weights[k] as number) / total;
  }
  return { starts, weights, tapsMax };
}

/**
 * Every pixel of the target lies between the centres of two pixels of the source and is interpolated
 * between them, without regard to what else it covers (OpenCV's INTER_LINEAR).
 */
function linearTaps({ sourceSize, targetSize, from, count }: ResizedLine): ResizeTaps {
  const scale = sourceSize / targetSize;
  const starts = new Int32Array(count);
  const weights = new Float32Array(count * 2);
  for (let i = 0; i < count; i++) {
    const centre = (from + i + 0.5) * scale - 0.5;
    const within = Math.min(Math.max(centre, 0), sourceSize - 1);
    // The last pixel is the second tap of the one before, so that no tap lies outside.
    const first = Math.min(Math.floor(within), Math.max(0, sourceSize - 2));
    starts[i] = first;
    weights[i * 2] = 1 - (within - first);
    weights[i * 2 + 1] = within - first;
  }
  return { starts, weights, tapsMax: 2 };
}

/** Red, green, blue. */
const CHANNELS = 3;

/**
 * Makes the part of a resized image that the taps describe, each axis for itself.
 * @param rgb height x width x RGB bytes.
 * @param size Of `rgb`.
 * @returns rows x columns x RGB, rounded to the nearest byte.
 */
function resizeRgb(
  rgb: Uint8Array,
  { width }: ImageSize,
  rows: ResizeTaps,
  columns: ResizeTaps,
): Uint8Array {
  const rowCount = rows.starts.length;
  const rowBytes = columns.starts.length * CHANNELS;
  const resized = new Uint8Array(rowCount * rowBytes);
  const { from, to } = span(columns, width);
  const line = new Float32Array((to - from) * CHANNELS);
  for (let row = 0; row < rowCount; row++) {
    line.fill(0);
    for (let k = 0; k < rows.tapsMax; k++) {
      const weight = rows.weights[row * rows.tapsMax + k] as number;
      if (weight === 0) continue;
      const sourceRow = (rows.starts[row] as number) + k;
      const start = (sourceRow * width + from) * CHANNELS;
      addRow(line, rgb, start, weight);
    }
    resizeRow(line, from, columns, resized, row * rowBytes);
  }
  return resized;
}

/** Source pixels that the columns need: `from` up to, not including, `to`. */
function span({ starts, tapsMax }: ResizeTaps, width: number): { from: number; to: number } {
  const last = starts.at(-1) as number;
  return { from: starts[0] as number, to: Math.min(last + tapsMax, width) };
}

function addRow(line: Float32Array, rgb: Uint8Array, start: number, weight: number): void {
  for (let i = 0; i < line.length; i++)
    line[i] = (line[i] as number) + weight * (rgb[start + i] as number);
}

function resizeRow(
  line: Float32Array,
  from: number,
  { starts, weights, tapsMax }: ResizeTaps,
  target: Uint8Array,
  offset: number,
): void {
  for (let column = 0; column < starts.length; column++) {
    let red = 0;
    let green = 0;
    let blue = 0;
    let at = ((starts[column] as number) - from) * CHANNELS;
    for (let k = 0; k < tapsMax; k++, at += CHANNELS) {
      const weight = weights[column * tapsMax + k] as number;
      // Also keeps the taps that do not exist, at the end of the line, from being read.
      if (weight === 0) continue;
      red += weight * (line[at] as number);
      green += weight * (line[at + 1] as number);
      blue += weight * (line[at + 2] as number);
    }
    const place = offset + column * CHANNELS;
    target[place] = red + 0.5;
    target[place + 1] = green + 0.5;
    target[place + 2] = blue + 0.5;
  }
}
