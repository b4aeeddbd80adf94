import { IMAGENET_ELEMENTS, IMAGENET_IMAGE_SIZE } from '../../rules/cards/imagenet.ts';
import { decodeAnyImage, type ImageSize } from './jpeg.ts';
import { areaTaps, linearTaps, resizeRows } from './resize.ts';

/** `vgg`: minus the mean of each channel. `mobilenet`: from 0..255 to -1..1. */
type ImagenetNormalisation = 'vgg' | 'mobilenet';

/**
 * `area`: the mean of the covered pixels. `linear`: between the two nearest pixels of each axis.
 */
type ImagenetInterpolation = 'area' | 'linear';

/** Pre-processing of a benchmark's reference. */
export interface ImagenetPreparation {
  readonly normalisation: ImagenetNormalisation;
  readonly interpolation: ImagenetInterpolation;
}

/**
 * By benchmark. Source: MLCommons inference, vision/classification_and_detection/python/dataset.py,
 * `pre_process_vgg` and `pre_process_mobilenet`; the cut (short side 256, centre 224) is the same
 * in both.
 */
export const IMAGENET_PREPARATIONS: Readonly<
  Record<'resnet50' | 'mobilenet', ImagenetPreparation>
> = {
  resnet50: { normalisation: 'vgg', interpolation: 'area' },
  mobilenet: { normalisation: 'mobilenet', interpolation: 'linear' },
};

/** The short side of an image before the centre is cut out: 224 / 0.875. */
const SHORT_SIDE = 256;

/**
 * Mean of red, green and blue over the training set, in the order and with the figures of the
 * reference.
 */
export const VGG_MEANS = [123.68, 116.78, 103.94] as const;

/**
 * An image of the data set as models for ImageNet take it: decoded, resized so that its short side
 * is 256, the centre of 224 x 224 cut out. Source: MLCommons inference,
 * vision/classification_and_detection/python/dataset.py, up to the normalisation. Only the pixels
 * that remain are resized, which gives the same.
 * @param bytes JPEG of any size, grey, CMYK and turned ones as well; PNG, as some files of
 *   ImageNet are.
 * @returns 224 x 224 x RGB (height, width, channel), one byte each: 150,528 bytes.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong: no image, damaged or truncated, too
 *   large.
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
  const pixels = new Uint8Array(IMAGENET_ELEMENTS);
  const [rows, columns] = [taps(size.height, resized.height), taps(size.width, resized.width)];
  resizeRows(rgb, size.width, rows, columns, (line, row) => {
    const start = row * line.length;
    // Rounded to the nearest byte.
    for (let i = 0; i < line.length; i++) pixels[start + i] = (line[i] as number) + 0.5;
  });
  return pixels;
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

/** Red, green, blue. */
const CHANNELS = 3;

type ChannelTables = readonly [Float32Array, Float32Array, Float32Array];

/**
 * The normalised value of each byte: a look-up per element, in the reference's single precision.
 */
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
