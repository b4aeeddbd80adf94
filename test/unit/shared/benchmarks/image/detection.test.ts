import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  detectionBytes,
  detectionFloats,
  floatsOfBytes,
} from '../../../../../shared/benchmarks/image/detection.ts';
import { detectionElements } from '../../../../../shared/rules/cards/detection.ts';

// Goal: images are resized as OpenCV's INTER_LINEAR resizes floats: between the centres of the two
// nearest pixels, clamped at the edges, without regard to the shape. Method: images of few pixels,
// whose values are worked out by hand.

const SIDE = 800;

/** PNG keeps every value. @param rgb height x width x RGB */
function png(width: number, height: number, rgb: readonly number[]): Promise<Uint8Array> {
  const raw = { raw: { width, height, channels: 3 as const } };
  return sharp(Uint8Array.from(rgb), raw).png().toBuffer();
}

const retinanetPlanes = (file: Uint8Array) => detectionFloats(file, 'retinanet', 'nchw');

describe('detectionFloats', () => {
  it('interpolates between the centres of pixels, and holds the edge', async () => {
    // Red rises from left to right, green falls from top to bottom, blue is even.
    const image = await png(2, 2, [0, 200, 7, 100, 200, 7, 0, 0, 7, 100, 0, 7]);
    const planes = await retinanetPlanes(image);
    const at = (channel: number, y: number, x: number) =>
      (planes[channel * SIDE * SIDE + y * SIDE + x] as number) * 255;
    // Pixel x has its centre at (x + 0.5) / 400 - 0.5 of the source: up to 199 it is left of the
    // first centre.
    expect(at(0, 0, 0)).toBe(0);
    expect(at(0, 5, 199)).toBe(0);
    expect(at(0, 5, 200)).toBeCloseTo(100 * (200.5 / 400 - 0.5), 4);
    expect(at(0, 700, 399)).toBeCloseTo(100 * (399.5 / 400 - 0.5), 4);
    expect(at(0, 799, 600)).toBeCloseTo(100, 4);
    expect(at(1, 399, 0)).toBeCloseTo(200 - 200 * (399.5 / 400 - 0.5), 4);
    expect(at(1, 799, 0)).toBe(0);
    expect(at(2, 321, 123)).toBeCloseTo(7, 4);
  });

  it('takes an image of one pixel', async () => {
    const planes = await retinanetPlanes(await png(1, 1, [255, 0, 51]));
    expect(planes).toHaveLength(detectionElements('retinanet'));
    expect(new Set(planes.subarray(0, SIDE * SIDE))).toEqual(new Set([1]));
    expect(new Set(planes.subarray(2 * SIDE * SIDE))).toEqual(new Set([Math.fround(51 / 255)]));
  });

  it('refuses what is no image', async () => {
    await expect(retinanetPlanes(Uint8Array.of(1, 2, 3))).rejects.toThrow(/not a JPEG image/);
  });
});

describe('detectionBytes', () => {
  it('rounds what detectionFloats computes, half a step up', async () => {
    const noise = Array.from({ length: 90 * 70 * 3 }, (_, i) => (i * 7919) % 256);
    const image = await png(90, 70, noise);
    const [bytes, exact] = [await detectionBytes(image, 'retinanet'), await retinanetPlanes(image)];
    const planes = floatsOfBytes(bytes, 'retinanet', 'nchw');
    let largest = 0;
    for (let i = 0; i < planes.length; i += 1) {
      largest = Math.max(largest, Math.abs((planes[i] as number) - (exact[i] as number)) * 255);
    }
    expect(largest).toBeLessThanOrEqual(0.5 + 1e-4);
    expect(largest).toBeGreaterThan(0.49);
  });

  it('drops fractions for ssd-mobilenet, but keeps whole numbers', async () => {
    // Pixel x has its centre at (x + 0.5) / 150 - 0.5 of the source, and 3 times that in red.
    const slope = await detectionBytes(await png(2, 1, [0, 50, 9, 3, 50, 9]), 'ssd-mobilenet');
    const reds = [0, 124, 125, 174, 175, 224, 225, 299].map((x) => slope[x * 3]);
    expect(reds).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    for (const value of [1, 7, 100, 177, 254, 255]) {
      const even = await png(71, 53, Array(71 * 53 * 3).fill(value));
      expect(new Set(await detectionBytes(even, 'ssd-mobilenet'))).toEqual(new Set([value]));
    }
  });
});

describe('the normalisation of ssd-resnet34', () => {
  it('is that of ImageNet, of files and of bytes, in both layouts', async () => {
    const image = await png(1, 1, [255, 0, 51]);
    const expected = [(1 - 0.485) / 0.229, -0.456 / 0.224, (0.2 - 0.406) / 0.225];
    const pixels = 1200 * 1200;
    const planes = await detectionFloats(image, 'ssd-resnet34', 'nchw');
    const rows = await detectionFloats(image, 'ssd-resnet34', 'nhwc');
    for (const [channel, value] of expected.entries()) {
      expect(planes[channel * pixels + 77]).toBeCloseTo(value, 6);
      expect(rows[77 * 3 + channel]).toBe(planes[channel * pixels + 77]);
    }
    const bytes = await detectionBytes(image, 'ssd-resnet34');
    const isSame = (a: Float32Array, b: Float32Array) =>
      Buffer.compare(Buffer.from(a.buffer), Buffer.from(b.buffer)) === 0;
    expect(isSame(floatsOfBytes(bytes, 'ssd-resnet34', 'nchw'), planes)).toBe(true);
    expect(isSame(floatsOfBytes(bytes, 'ssd-resnet34', 'nhwc'), rows)).toBe(true);
  });
});
