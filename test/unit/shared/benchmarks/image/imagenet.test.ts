import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  decodeImagenetJpeg,
  normaliseImagenet,
} from '../../../../../shared/benchmarks/image/imagenet.ts';
import { encodeJpeg } from '../../../../../shared/benchmarks/image/jpeg.ts';

// Goal: an image becomes what the reference makes of it: short side 256, centre of 224 x 224,
// normalised. Method: images whose result can be told by hand. Against OpenCV itself (4.6,
// INTER_AREA and INTER_LINEAR, 18 generated images) no byte differed by more than 1.
const SIDE = 224;
const IMAGE_BYTES = SIDE * SIDE * 3;

type Paint = (x: number, y: number) => readonly [number, number, number];

function painted(width: number, height: number, paint: Paint): Uint8Array {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rgb.set(paint(x, y), (y * width + x) * 3);
  }
  return rgb;
}

function png(width: number, height: number, paint: Paint): Promise<Uint8Array> {
  const raw = { width, height, channels: 3 } as const;
  return sharp(painted(width, height, paint), { raw })
    .png()
    .toBuffer();
}

function pixelOf(image: Uint8Array, x: number, y: number): number[] {
  return [...image.subarray((y * SIDE + x) * 3, (y * SIDE + x) * 3 + 3)];
}

async function failureOf(bytes: Uint8Array): Promise<unknown> {
  return decodeImagenetJpeg(bytes).catch((error: unknown) => error);
}

describe('decodeImagenetJpeg', () => {
  it.each([
    ['wide', 500, 375],
    ['high', 375, 500],
    ['small', 60, 50],
    ['one pixel', 1, 1],
  ])('gives 224 x 224 x 3 bytes of an image that is %s', async (_case, width, height) => {
    const grey = painted(width, height, () => [100, 100, 100]);
    const image = await decodeImagenetJpeg(await encodeJpeg(grey, { width, height }, 95));
    expect(image).toHaveLength(IMAGE_BYTES);
    expect(image.every((value) => Math.abs(value - 100) <= 2)).toBe(true);
  });

  it('cuts out the centre: pixel 0 is pixel 16 of an image of 256 x 256', async () => {
    const image = await decodeImagenetJpeg(await png(256, 256, (x, y) => [x, y, 255 - x]));
    expect(pixelOf(image, 0, 0)).toEqual([16, 16, 239]);
    expect(pixelOf(image, 223, 10)).toEqual([239, 26, 16]);
  });

  it('takes the mean of the covered pixels (area), or only the two nearest ones (linear)', async () => {
    // Columns 0, 1, 2, 3 of four have 0, 30, 60, 240; a target pixel covers all four.
    const columns = [0, 30, 60, 240];
    const source = await png(1024, 1024, (x) => {
      const value = columns[x % 4] as number;
      return [value, value, value];
    });
    expect(pixelOf(await decodeImagenetJpeg(source, 'area'), 5, 5)).toEqual([83, 83, 83]);
    expect(pixelOf(await decodeImagenetJpeg(source, 'linear'), 5, 5)).toEqual([45, 45, 45]);
  });

  it('weighs pixels that are covered in part', async () => {
    // 384 -> 256: each target pixel covers 1.5 source pixels; the first ones all of 0 and half of
    // 1.
    const source = await png(384, 384, (x) => (x % 3 === 0 ? [240, 0, 0] : [0, 0, 90]));
    // Target 16 covers source 24 to 25.5: 24 is red, 25 and half of 26 are not.
    expect(pixelOf(await decodeImagenetJpeg(source), 0, 0)).toEqual([160, 0, 30]);
  });

  it('honours the EXIF orientation and makes RGB of grey', async () => {
    const raw = { width: 300, height: 300, channels: 3 } as const;
    const half = sharp(
      painted(300, 300, (x) => (x < 150 ? [255, 255, 255] : [0, 0, 0])),
      { raw },
    ).greyscale();
    // Orientation 6: the left half of the stored image is the upper one.
    const turned = await half.withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
    const image = await decodeImagenetJpeg(turned);
    expect(Math.min(...pixelOf(image, 200, 10))).toBeGreaterThan(240);
    expect(Math.max(...pixelOf(image, 10, 200))).toBeLessThan(15);
  });

  it('takes CMYK', async () => {
    const raw = { width: 256, height: 256, channels: 3 } as const;
    const white = sharp(
      painted(256, 256, () => [255, 255, 255]),
      { raw },
    );
    const image = await decodeImagenetJpeg(await white.toColourspace('cmyk').jpeg().toBuffer());
    expect(image).toHaveLength(IMAGE_BYTES);
    expect(image.every((value) => value > 245)).toBe(true);
  });

  it.each([
    ['empty', new Uint8Array(0), /not a JPEG image \(0 bytes\)/],
    ['text', Buffer.from('hello'), /not a JPEG image \(5 bytes .* 68656c/],
    ['only a start', Buffer.from('ffd8ffe0', 'hex'), /damaged, truncated .* of 4 bytes/],
  ])('refuses bytes that are %s', async (_case, bytes, message) => {
    expect(await failureOf(bytes)).toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(message),
    });
  });

  it('refuses a truncated image', async () => {
    const rgb = painted(300, 200, (x, y) => [x % 256, y % 256, (x * y) % 256]);
    const jpeg = await encodeJpeg(rgb, { width: 300, height: 200 }, 90);
    expect(await failureOf(jpeg.subarray(0, jpeg.length - 200))).toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(/premature end/),
    });
  });
});

describe('normaliseImagenet', () => {
  // Pixel 0 is (0, 128, 255), all others (1, 2, 3).
  const rgb = new Uint8Array(IMAGE_BYTES).map((_, i) => (i % 3) + 1);
  rgb.set([0, 128, 255]);

  function normalised(...[how, layout]: ['vgg' | 'mobilenet', 'nchw' | 'nhwc']): Float32Array {
    const target = new Float32Array(IMAGE_BYTES);
    normaliseImagenet(rgb, target, how, layout);
    return target;
  }

  it('subtracts the means of the channels (vgg), channel by channel (nchw)', () => {
    const target = normalised('vgg', 'nchw');
    const plane = SIDE * SIDE;
    expect(target[0]).toBe(Math.fround(-123.68));
    expect(target[plane]).toBeCloseTo(128 - 116.78, 5);
    expect(target[2 * plane]).toBeCloseTo(255 - 103.94, 5);
    expect(target[IMAGE_BYTES - 1]).toBeCloseTo(3 - 103.94, 5);
  });

  it('maps 0..255 to -1..1 (mobilenet), pixel by pixel (nhwc)', () => {
    const target = normalised('mobilenet', 'nhwc');
    expect([...target.subarray(0, 3)]).toEqual([-1, expect.closeTo(128 / 127.5 - 1, 6), 1]);
    expect(target[IMAGE_BYTES - 3]).toBeCloseTo(1 / 127.5 - 1, 6);
  });
});
