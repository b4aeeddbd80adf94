import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readReferenceAccuracy,
  writeReferenceAccuracy,
} from '../../../../../loadgen-node/benchmarks/imagenet/reference-accuracy.ts';
import { ensureStandinDataSet } from '../../../../../loadgen-node/benchmarks/imagenet/standin-data-set.ts';
import { readValMap } from '../../../../../loadgen-node/benchmarks/imagenet/val-map.ts';
import { makeStandinImage } from '../../../../../shared/standin/standin-image.ts';
import { STANDIN_EVALUATION_SET } from '../../../../../shared/standin/standin-sets.ts';
import { tempFolder } from '../../../../support/temp-folder.ts';

// Goal: generated data lies as ImageNet's does, is made once, and carries the accuracy that a run asks 99 % of.
// Method: the first six images of the real set, in a cache of the test's own.
const IMAGES = { ...STANDIN_EVALUATION_SET, imageCount: 6 };

function make(cacheFolder: string, told: string[] = []): Promise<string> {
  const onProgress = (_fraction: number, what: string) => told.push(what);
  return ensureStandinDataSet({ cacheFolder, onProgress, images: IMAGES });
}

describe('ensureStandinDataSet', () => {
  it('lists every image with the class that it shows', async () => {
    const folder = await make(tempFolder());
    const images = await readValMap(folder);
    expect(images).toHaveLength(IMAGES.imageCount);
    for (const [index, { path, label }] of images.entries()) {
      const made = await makeStandinImage(IMAGES, index);
      expect(path).toBe(`standin_val_0000000${index + 1}.JPEG`);
      expect(label).toBe(made.label);
      expect(statSync(join(folder, path)).size).toBe(made.jpeg.length);
    }
  });

  it('makes the images once, and what is written beside them does no harm', async () => {
    const cacheFolder = tempFolder();
    const folder = await make(cacheFolder);
    const reference = { benchmark: 'resnet50', model: 'm', accuracy: 0.96 };
    await writeReferenceAccuracy(folder, reference);
    const told: string[] = [];
    expect(await make(cacheFolder, told)).toBe(folder);
    expect(told).toEqual([]);
    expect(await readReferenceAccuracy(folder)).toEqual(reference);
    const names = readdirSync(folder).filter((name) => name.startsWith('reference'));
    expect(names).toEqual(['reference.json']);
  });
});
