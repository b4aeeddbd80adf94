import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  drawnFolder,
  ensureDrawnDataSet,
} from '../../../../../../loadgen-node/samples/benchmarks/drawn-data-set.ts';
import { VAL_MAP } from '../../../../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import {
  readReferenceAccuracy,
  STANDIN_DATA,
  writeReferenceAccuracy,
} from '../../../../../../loadgen-node/samples/benchmarks/imagenet/reference-accuracy.ts';
import { readImageList } from '../../../../../../loadgen-node/samples/benchmarks/labelled-images.ts';
import { jpegCodecVersion } from '../../../../../../shared/benchmarks/image/jpeg.ts';
import { makeStandinImage } from '../../../../../../shared/benchmarks/standin/standin-image.ts';
import { STANDIN_EVALUATION_SET } from '../../../../../../shared/rules/cards/imagenet.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: generated data lies as ImageNet's does, is made once, and carries the accuracy that a run asks 99 % of.
// Method: the first six images of the real set, in a cache of the test's own.
const IMAGES = { ...STANDIN_EVALUATION_SET, sampleCount: 6 };

function make(cacheFolder: string, told: string[] = [], images = IMAGES): Promise<string> {
  const onProgress = (_fraction: number, what: string) => told.push(what);
  return ensureDrawnDataSet(STANDIN_DATA, images, { cacheFolder, onProgress });
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
      const made = await makeStandinImage(IMAGES, index);
      expect(path).toBe(`standin_val_0000000${index + 1}.JPEG`);
      expect(label).toBe(made.label);
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

  it('keeps the standard set where earlier versions of longhaul have it', async () => {
    const recipe =
      '{"images":{"seed":12,"imageCount":1536},"drawingRevision":1,"jpegQuality":90,' +
      `"jpegCodec":"${await jpegCodecVersion()}"}`;
    const hash = createHash('sha256').update(recipe).digest('hex').slice(0, 12);
    const folder = await drawnFolder(STANDIN_DATA, STANDIN_EVALUATION_SET, '/cache');
    expect(basename(folder)).toBe(`imagenet-standin-data-set-${hash}`);
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
