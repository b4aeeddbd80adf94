import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark as mobilenet } from '../../../../../../loadgen-node/samples/benchmarks/mobilenet/benchmark.ts';
import { benchmark as resnet50 } from '../../../../../../loadgen-node/samples/benchmarks/resnet50/benchmark.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { decodeImagenetJpeg } from '../../../../../../shared/benchmarks/image/imagenet.ts';
import { tempFolder } from '../../../../../scenes/host/folders.ts';
import { tinyImages, writeTinyImagenet } from '../../../../../scenes/simulated-run/data-sets.ts';

// Goal: a folder as ImageNet's validation set has it becomes samples, and whatever is wrong with it
// is named. Method: five generated images, one fault at a time.
async function writeImages(subFolder = ''): Promise<string> {
  const folder = tempFolder();
  await writeTinyImagenet(folder, tinyImages(5, subFolder));
  return folder;
}

function open(dataFolder: string | undefined, benchmark = resnet50): Promise<DataSet> {
  return benchmark.openDataSet({ dataFolder, cacheFolder: '/unused', onProgress: () => {} });
}

describe('openDataSet of resnet50', () => {
  it('opens a folder of images and marks that it is not the whole validation set', async () => {
    const folder = await writeImages();
    expect(await open(folder)).toMatchObject({
      ...{ name: 'imagenet-own-data', folder, totalSampleCount: 5, quality: undefined },
      files: ['val_map.txt', ...[1, 2, 3, 4, 5].map((i) => `val_${i}.JPEG`)],
      marks: [
        expect.stringMatching(
          /is not the validation set .*: 5 images, 0 of them with names of its/,
        ),
      ],
    });
  });

  it('takes no part of the validation set for the whole', async () => {
    const folder = tempFolder();
    await writeTinyImagenet(folder, [{ path: 'val/ILSVRC2012_val_00000001.JPEG', label: 1 }]);
    const { name, marks } = await open(folder);
    expect(name).toBe('imagenet-own-data');
    expect(marks).toEqual([expect.stringContaining('1 images, 1 of them with names of its 50000')]);
  });

  it('finds images in the sub-folder that the list names', async () => {
    const dataSet = await open(await writeImages('val'));
    expect(dataSet.files).toContain('val/val_5.JPEG');
    expect(await dataSet.readPayload(4, 'jpeg')).not.toHaveLength(0);
  });

  it('judges generated images of another seed by the accuracy of the standard ones, and says so', async () => {
    const { name, quality, marks } = await resnet50.openDataSet({
      ...{ dataFolder: 'standin', cacheFolder: tempFolder() },
      ...{ generated: { seed: 5, sampleCount: 3 }, onProgress: () => {} },
    });
    expect(name).toBe('imagenet-standin-seed-5-count-3');
    expect(quality).toMatchObject({ target: (1475 / 1536) * 0.99, reference: { share: 0.99 } });
    expect(marks).toEqual([
      expect.stringContaining('stand-in: 3 images drawn by longhaul, not ImageNet'),
      'the data set is not the standard one: 3 samples of seed 5; the quality target was measured on ' +
        '1536 samples of seed 12 and is applied to these, so that a few samples may miss it by chance',
    ]);
  });

  it('knows a copy of generated images by their names', async () => {
    const folder = tempFolder();
    await writeTinyImagenet(folder, [{ path: 'val/standin_val_1.JPEG', label: 1 }]);
    const { name, marks, quality } = await open(folder, mobilenet);
    expect(name).toBe('imagenet-standin');
    expect(quality?.reference?.value).toBe(1475 / 1536);
    expect(marks?.[0]).toContain('stand-in: 1 images drawn by longhaul');
  });

  it('names all images that are missing, with their lines', async () => {
    const folder = await writeImages();
    await rm(join(folder, 'val_2.JPEG'));
    await rm(join(folder, 'val_4.JPEG'));
    await expect(open(folder)).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(
        /val_map.txt: 2 of 5 images are not in .*: val_2.JPEG \(line 2\), val_4.JPEG \(line 4\)$/,
      ),
    });
  });

  it('needs the list alone to score a log, as the official script does', async () => {
    const folder = await writeImages();
    for (const i of [1, 2, 3, 4, 5]) await rm(join(folder, `val_${i}.JPEG`));
    const options = { dataFolder: folder, cacheFolder: '/unused', onProgress: () => {} };
    const dataSet = await resnet50.openDataSet({ ...options, isScoreOnly: true });
    expect(dataSet.totalSampleCount).toBe(5);
    const report = await dataSet.scoreAccuracy([
      { sampleIndex: 0, response: new Uint8Array(new Float32Array([1]).buffer) },
    ]);
    expect(report.sampleCount).toBe(1);
  });

  it('tells how to get ImageNet when no folder is said, and what there is without', async () => {
    await expect(open(undefined)).rejects.toMatchObject({
      code: 'ERR_CONFIG_INVALID',
      message: expect.stringMatching(/--data-dir FOLDER .*image-net\.org.* --data-dir standin/),
    });
  });
});

describe('samples of ImageNet', () => {
  it('are the file, the cut image, or the normalised tensor', async () => {
    const dataSet = await open(await writeImages());
    const jpeg = await dataSet.readPayload(1, 'jpeg');
    const uint8 = await dataSet.readPayload(1, 'uint8');
    expect(uint8).toEqual(await decodeImagenetJpeg(jpeg, 'area'));
    const bytes = await dataSet.readPayload(1, 'fp32');
    expect(bytes).toHaveLength(602_112);
    const tensor = new Float32Array(bytes.buffer);
    expect(tensor[0]).toBeCloseTo((uint8[0] as number) - 123.68, 4);
    expect(tensor[2 * 224 * 224]).toBeCloseTo((uint8[2] as number) - 103.94, 4);
  });

  it('are normalised as the benchmark wants it', async () => {
    const dataSet = await open(await writeImages(), mobilenet);
    const uint8 = await dataSet.readPayload(1, 'uint8');
    const tensor = new Float32Array((await dataSet.readPayload(1, 'fp32')).buffer);
    expect(tensor[0]).toBeCloseTo((uint8[0] as number) / 127.5 - 1, 5);
  });

  it.each([
    ['is cut off', (path: string) => truncate(path, 200), 'damaged, truncated'],
    ['is no image', (path: string) => writeFile(path, 'GIF89a'), 'not a JPEG image'],
    ['is empty', (path: string) => truncate(path, 0), 'not a JPEG image (0 bytes)'],
    ['is gone', (path: string) => rm(path), 'there is no such file'],
  ])('name file and line when an image %s', async (_case, damage, reason) => {
    const folder = await writeImages();
    const dataSet = await open(folder);
    const path = join(folder, 'val_3.JPEG');
    await damage(path);
    await expect(dataSet.readPayload(2, 'uint8')).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringContaining(`${path} (val_map.txt, line 3): ${reason}`),
    });
  });
});
