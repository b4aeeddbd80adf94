import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureDrawnDataSet } from '../../../../../../loadgen-node/samples/benchmarks/drawn-data-set.ts';
import {
  drawClass,
  STANDIN_IMAGES,
} from '../../../../../../loadgen-node/samples/benchmarks/imagenet/draw-class.ts';
import { VAL_MAP } from '../../../../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import { readImageList } from '../../../../../../loadgen-node/samples/benchmarks/labelled-images.ts';
import { decodeAnyImage } from '../../../../../../shared/benchmarks/image/jpeg.ts';
import { codeOf } from '../../../../../../shared/benchmarks/standin/planted-cells.ts';
import { STANDIN_EVALUATION_SET } from '../../../../../../shared/rules/cards/imagenet.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: generated data lies as ImageNet's does, and is made once.
// Method: the first six images of the real set, in a cache of the test's own.
const IMAGES = { ...STANDIN_EVALUATION_SET, sampleCount: 6 };

function make(cacheFolder: string, told: string[] = [], images = IMAGES): Promise<string> {
  const onProgress = (_fraction: number, what: string) => told.push(what);
  return ensureDrawnDataSet(STANDIN_IMAGES, images, { cacheFolder, onProgress });
}

/** SHA-256 of every image, in the order of their names. */
function imageDigests(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.JPEG'));
  return names.sort().map((name) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex'),
  );
}

describe('ensureDrawnDataSet', () => {
  it('lists every image with the class that it shows', async () => {
    const folder = await make(tempFolder());
    const images = await readImageList(VAL_MAP, folder);
    expect(images).toHaveLength(IMAGES.sampleCount);
    for (const [index, { path, label }] of images.entries()) {
      const made = await drawClass(IMAGES, index);
      expect(path).toBe(`standin_val_0000000${index + 1}.JPEG`);
      expect(label).toBe(made.content);
      expect(statSync(join(folder, path)).size).toBe(made.jpeg.length);
    }
  });

  it('keeps every seed and count in a folder of its own, and begins a larger set as a smaller one', async () => {
    const cacheFolder = tempFolder();
    const folder = await make(cacheFolder);
    const larger = await make(cacheFolder, [], { ...IMAGES, sampleCount: 8 });
    const other = await make(cacheFolder, [], { ...IMAGES, seed: 99 });
    expect(new Set([folder, larger, other]).size).toBe(3);
    expect(imageDigests(larger).slice(0, 6)).toEqual(imageDigests(folder));
    expect(await readImageList(VAL_MAP, larger)).toHaveLength(8);
    const own = new Set(imageDigests(folder));
    expect(imageDigests(other).filter((digest) => own.has(digest))).toEqual([]);
  });

  it('makes the images once', async () => {
    const cacheFolder = tempFolder();
    const folder = await make(cacheFolder);
    const told: string[] = [];
    expect(await make(cacheFolder, told)).toBe(folder);
    expect(told).toEqual([]);
  });

  it('makes JPEG files of many sizes, landscape and portrait', async () => {
    const indices = Array.from({ length: 12 }, (_, index) => index);
    const images = await Promise.all(indices.map((index) => drawClass(IMAGES, index)));
    const sizes = await Promise.all(
      images.map(async ({ jpeg }) => (await decodeAnyImage(jpeg)).size),
    );
    for (const { width, height } of sizes) {
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(320);
      expect(Math.max(width, height)).toBeLessThanOrEqual(500);
    }
    expect(new Set(sizes.map(({ width, height }) => width > height)).size).toBe(2);
  });

  it('gives no two classes the same code', () => {
    const codes = Array.from({ length: 1000 }, (_, label) => codeOf(label).join());
    expect(new Set(codes).size).toBe(1000);
  });
});
