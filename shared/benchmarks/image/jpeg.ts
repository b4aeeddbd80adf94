import type { Sharp, SharpOptions } from 'sharp';
import {
  dataSetError,
  type MlperfError,
  messageOf,
  notInstalled,
} from '../../base/errors/mlperf-error.ts';

type SharpModule = typeof import('sharp').default;

/** Size of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Pixels of one image, one byte per channel. */
export interface RgbImage {
  /** height x width x RGB. */
  readonly rgb: Uint8Array;
  readonly size: ImageSize;
}

/**
 * Most pixels of an image of unknown size, checked before memory is allocated: 192 MiB decoded,
 * five times the largest of ImageNet's validation set.
 */
const PIXELS_MAX = 2 ** 26;

/** The first bytes of every PNG file. */
const PNG_START: readonly number[] = [0x89, 0x50, 0x4e, 0x47];

/** The first bytes of every JPEG file: start of image, then the first byte of the next marker. */
const JPEG_START: readonly number[] = [0xff, 0xd8, 0xff];

let loading: Promise<SharpModule> | undefined;

/**
 * Loads sharp, the JPEG codec, once per thread. Only this file imports it, and only when the first
 * image needs it: loading takes 80 ms and most commands need none.
 *
 * Call this in the main thread before starting worker threads that decode images: the main thread
 * then keeps the native library loaded, and a worker that ends during a decode does not unload it
 * (sharp issue 2263).
 * @throws MlperfError `ERR_NOT_INSTALLED` if sharp or its binary for this platform is missing.
 */
export async function loadJpegCodec(): Promise<void> {
  await loadSharp();
}

/**
 * Version of the encoder. Other versions may encode the same pixels to other bytes.
 * @throws MlperfError `ERR_NOT_INSTALLED`
 */
export async function jpegCodecVersion(): Promise<string> {
  const sharp = await loadSharp();
  return `sharp-${sharp.versions.sharp ?? 'unknown'}-vips-${sharp.versions.vips}`;
}

/**
 * Encodes `width * height` RGB pixels, one byte per channel; colours at half the resolution
 * (4:2:0).
 * @param quality 1 to 100, as libjpeg counts it.
 * @param stretched Size of the encoded image, per axis; undefined: unchanged.
 */
export async function encodeJpeg(
  rgb: Uint8Array,
  { width, height }: ImageSize,
  quality: number,
  stretched?: ImageSize,
): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const image = sharp(rgb, { raw: { width, height, channels: 3 } });
  const sized = stretched === undefined ? image : image.resize({ ...stretched, fit: 'fill' });
  return sized.jpeg({ quality }).toBuffer();
}

/**
 * Decodes a JPEG into height x width x RGB, one byte per channel. Greyscale becomes RGB; nothing is
 * resized or turned.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong: no JPEG, damaged or truncated, another
 *   size.
 */
export async function decodeJpeg(bytes: Uint8Array, expected: ImageSize): Promise<Uint8Array> {
  if (!startsWith(bytes, JPEG_START)) {
    throw dataSetError(`not a JPEG image (${describeStart(bytes)})`);
  }
  const sharp = await loadSharp();
  const { width, height } = expected;
  const image = openImage(sharp, bytes, { limitInputPixels: width * height });
  try {
    const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
    if (info.width === width && info.height === height) return data;
  } catch (error) {
    throw await describeFailure(sharp, bytes, expected, error);
  }
  throw await describeFailure(sharp, bytes, expected, undefined);
}

/**
 * Decodes a JPEG (or a PNG: a file of ImageNet is one, named .JPEG) of any size, as OpenCV's imread
 * does for the references: grey and CMYK become RGB, the EXIF orientation is honoured, colour
 * profiles are not. Faults that libjpeg only warns about pass, since photographs have them; a
 * truncated image fails.
 * @throws MlperfError `ERR_DATA_SET` saying what is wrong: no image, damaged or truncated, too
 * large.
 */
export async function decodeAnyImage(bytes: Uint8Array): Promise<RgbImage> {
  if (!startsWith(bytes, JPEG_START) && !startsWith(bytes, PNG_START)) {
    throw dataSetError(`not a JPEG image (${describeStart(bytes)})`);
  }
  const sharp = await loadSharp();
  try {
    const { data, info } = await sharp(bytes, {
      failOn: 'error',
      limitInputPixels: PIXELS_MAX,
      ignoreIcc: true,
    })
      .autoOrient()
      .removeAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { rgb: data, size: { width: info.width, height: info.height } };
  } catch (error) {
    throw dataSetError(
      `damaged, truncated or too large image of ${bytes.length} bytes (${messageOf(error)})`,
      error,
    );
  }
}

/**
 * Opens an image so that a damaged or truncated one is an error, not a grey area in the picture.
 */
function openImage(sharp: SharpModule, bytes: Uint8Array, options: SharpOptions): Sharp {
  return sharp(bytes, { failOn: 'warning', ...options });
}

/** Reads the header of an unusable image: a wrong size explains more than its consequences. */
async function describeFailure(
  sharp: SharpModule,
  bytes: Uint8Array,
  expected: ImageSize,
  cause: unknown,
): Promise<MlperfError> {
  const seen = await openImage(sharp, bytes, {})
    .metadata()
    .catch(() => undefined); // The header is damaged too: the first error is enough.
  if (seen !== undefined && (seen.width !== expected.width || seen.height !== expected.height)) {
    const wanted = `${expected.width}x${expected.height}`;
    return dataSetError(
      `the JPEG image is ${seen.width}x${seen.height} pixels, not ${wanted}`,
      cause,
    );
  }
  return dataSetError(
    `damaged or truncated JPEG image of ${bytes.length} bytes (${messageOf(cause)})`,
    cause,
  );
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, i) => bytes[i] === byte);
}

function describeStart(bytes: Uint8Array): string {
  if (bytes.length === 0) return '0 bytes';
  const start = Buffer.from(bytes.subarray(0, JPEG_START.length)).toString('hex');
  return `${bytes.length} bytes that begin with hexadecimal ${start}, not ffd8ff`;
}

function loadSharp(): Promise<SharpModule> {
  loading ??= importSharp();
  return loading;
}

async function importSharp(): Promise<SharpModule> {
  try {
    const { default: sharp } = await import('sharp');
    // libvips caches results of operations. A repeated sample must be decoded again: the rules
    // forbid a SUT to cache, and the measurement would count a look-up as a decode.
    sharp.cache(false);
    // Threads per image. Images are small and many; more threads would take cores from inference.
    sharp.concurrency(1);
    return sharp;
  } catch (error) {
    throw notInstalled(
      `the package sharp (JPEG codec) does not load: ${messageOf(error)}; run "npm install sharp"`,
      error,
    );
  }
}
