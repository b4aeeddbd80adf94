import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import {
  planesOfBytes,
  retinanetBytes,
  retinanetPlanes,
} from '../../../../../shared/benchmarks/image/retinanet.ts';
import { RETINANET_ELEMENTS } from '../../../../../shared/rules/rows/retinanet.ts';

// Goal: images are resized as OpenCV's INTER_LINEAR resizes floats: between the centres of the two nearest pixels, clamped at
// the edges, without regard to the shape. Method: images of few pixels, whose values are worked out by hand.

const SIDE = 800;

/** PNG keeps every value. @param rgb height x width x RGB */
function png(width: number, height: number, rgb: readonly number[]): Promise<Uint8Array> {
  const raw = { raw: { width, height, channels: 3 as const } };
  return sharp(Uint8Array.from(rgb), raw).png().toBuffer();
}

describe('retinanetPlanes', () => {
  it('interpolates between the centres of pixels, and holds the edge', async () => {
    // Red rises from left to right, green falls from top to bottom, blue is even.
    const image = await png(2, 2, [0, 200, 7, 100, 200, 7, 0, 0, 7, 100, 0, 7]);
    const planes = await retinanetPlanes(image);
    const at = (channel: number, y: number, x: number) =>
      (planes[channel * SIDE * SIDE + y * SIDE + x] as number) * 255;
    // Pixel x has its centre at (x + 0.5) / 400 - 0.5 of the source: up to 199 it is left of the first centre.
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
    expect(planes).toHaveLength(RETINANET_ELEMENTS);
    expect(new Set(planes.subarray(0, SIDE * SIDE))).toEqual(new Set([1]));
    expect(new Set(planes.subarray(2 * SIDE * SIDE))).toEqual(new Set([Math.fround(51 / 255)]));
  });

  it('refuses what is no image', async () => {
    await expect(retinanetPlanes(Uint8Array.of(1, 2, 3))).rejects.toThrow(/not a JPEG image/);
  });
});

describe('retinanetBytes', () => {
  it('rounds what retinanetPlanes computes, half a step up', async () => {
    const noise = Array.from({ length: 90 * 70 * 3 }, (_, i) => (i * 7919) % 256);
    const image = await png(90, 70, noise);
    const [bytes, exact] = [await retinanetBytes(image), await retinanetPlanes(image)];
    const planes = planesOfBytes(bytes);
    let largest = 0;
    for (let i = 0; i < planes.length; i += 1) {
      largest = Math.max(largest, Math.abs((planes[i] as number) - (exact[i] as number)) * 255);
    }
    expect(largest).toBeLessThanOrEqual(0.5 + 1e-4);
    expect(largest).toBeGreaterThan(0.49);
  });
});
