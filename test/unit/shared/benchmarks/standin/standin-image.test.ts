import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeAnyImage } from '../../../../../shared/benchmarks/image/jpeg.ts';
import { makeStandinImage } from '../../../../../shared/benchmarks/standin/standin-image.ts';
import { STANDIN_CLASS_COUNT } from '../../../../../shared/benchmarks/standin/standin-sets.ts';
import {
  STANDIN_EVALUATION_SET,
  STANDIN_TRAINING_SET,
} from '../../../../../shared/rules/cards/imagenet.ts';

// Goal: a stand-in's data set is the same whenever it is made, looks like ImageNet's from outside, and is unseen
// by the fit. Method: the first images of both sets, made, decoded and compared.
const COUNT = 12;

const imagesOf = (set: typeof STANDIN_EVALUATION_SET) =>
  Promise.all(Array.from({ length: COUNT }, (_, index) => makeStandinImage(set, index)));

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe('makeStandinImage', () => {
  it('makes the same bytes again, of any image on its own', async () => {
    const images = await imagesOf(STANDIN_EVALUATION_SET);
    const again = await makeStandinImage(STANDIN_EVALUATION_SET, 7);
    expect(again.label).toBe(images[7]?.label);
    expect(hashOf(again.jpeg)).toBe(hashOf(images[7]?.jpeg ?? new Uint8Array(0)));
  });

  it('makes JPEG files of many sizes, landscape and portrait', async () => {
    const sizes = await Promise.all(
      (await imagesOf(STANDIN_EVALUATION_SET)).map(
        async ({ jpeg }) => (await decodeAnyImage(jpeg)).size,
      ),
    );
    for (const { width, height } of sizes) {
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(320);
      expect(Math.max(width, height)).toBeLessThanOrEqual(500);
    }
    expect(new Set(sizes.map(({ width, height }) => `${width}x${height}`)).size).toBe(COUNT);
    expect(new Set(sizes.map(({ width, height }) => width > height)).size).toBe(2);
  });

  it('shows digits, and other images to the fit than to a run', async () => {
    const images = await imagesOf(STANDIN_EVALUATION_SET);
    const training = new Set(
      (await imagesOf(STANDIN_TRAINING_SET)).map(({ jpeg }) => hashOf(jpeg)),
    );
    for (const { label, jpeg } of images) {
      expect(label).toBeGreaterThanOrEqual(0);
      expect(label).toBeLessThan(STANDIN_CLASS_COUNT);
      expect(training.has(hashOf(jpeg))).toBe(false);
    }
    expect(STANDIN_EVALUATION_SET.sampleCount).toBeGreaterThan(1024);
  });
});
