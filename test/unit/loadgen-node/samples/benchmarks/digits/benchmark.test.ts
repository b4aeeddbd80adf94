import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark as digitsBenchmark } from '../../../../../../loadgen-node/samples/benchmarks/digits/benchmark.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { renderDigit } from '../../../../../../shared/benchmarks/digits/draw-digit.ts';
import { encodeResponse } from '../../../../../../shared/benchmarks/digits/response.ts';
import { decodeJpeg, encodeJpeg } from '../../../../../../shared/benchmarks/image/jpeg.ts';
import { EVALUATION_SET, IMAGE_SIZE } from '../../../../../../shared/rules/cards/digits.ts';
import { tempFolder, testCacheFolder } from '../../../../../scenes/host/folders.ts';

// Goal: a data set that was opened has no broken file in it, and answers are scored as they should
// be. Method: a folder of three images as a user would bring it, with one fault at a time.
const LABELS = [3, 1, 4];
const SIZE = { width: IMAGE_SIZE, height: IMAGE_SIZE };

async function writeOwnData(): Promise<string> {
  const folder = tempFolder();
  await mkdir(join(folder, 'images'));
  for (const [i] of LABELS.entries()) {
    const jpeg = await encodeJpeg(renderDigit(EVALUATION_SET, i).rgb, SIZE, 90);
    await writeFile(join(folder, 'images', `${i}.jpg`), jpeg);
  }
  await writeLabels(folder, LABELS.map((label, i) => `${i}.jpg ${label}\n`).join(''));
  return folder;
}

async function writeLabels(folder: string, text: string): Promise<void> {
  await writeFile(join(folder, 'labels.txt'), text);
}

function open(dataFolder: string): Promise<DataSet> {
  const cacheFolder = join(dataFolder, 'must-not-be-used');
  return digitsBenchmark.openDataSet({ dataFolder, cacheFolder, onProgress: () => undefined });
}

describe('openDataSet of digits with a folder of the user', () => {
  it('opens it and uses no cache', async () => {
    const folder = await writeOwnData();
    await expect(open(folder)).resolves.toMatchObject({
      name: 'digits-own-data',
      folder,
      totalSampleCount: 3,
    });
  });

  it('opens a data set of one image', async () => {
    const folder = await writeOwnData();
    await writeLabels(folder, '2.jpg 4\n');
    expect((await open(folder)).totalSampleCount).toBe(1);
  });

  it.each([
    ['is missing', (path: string) => rm(path), 'there is no such file'],
    ['is truncated', (path: string) => truncate(path, 800), 'damaged or truncated JPEG'],
    ['is no JPEG', (path: string) => writeFile(path, 'GIF89a'), 'not a JPEG image'],
    ['is empty', (path: string) => truncate(path, 0), 'not a JPEG image (0 bytes)'],
    [
      'has another size',
      async (path: string) => {
        const size = { width: 32, height: 48 };
        await writeFile(path, await encodeJpeg(new Uint8Array(32 * 48 * 3), size, 85));
      },
      'the JPEG image is 32x48 pixels, not 48x48',
    ],
  ])('names file and line when an image %s', async (_case, damage, reason) => {
    const folder = await writeOwnData();
    await damage(join(folder, 'images', '1.jpg'));
    await expect(open(folder)).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringContaining(
        `${join(folder, 'images', '1.jpg')} (labels.txt, line 2): ${reason}`,
      ),
    });
  });

  it('names the line of a label that is none', async () => {
    const folder = await writeOwnData();
    await writeLabels(folder, '0.jpg 3\n1.jpg one\n');
    await expect(open(folder)).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringContaining('labels.txt, line 2: "1.jpg one"'),
    });
  });

  it('names the label file that is missing', async () => {
    const folder = tempFolder();
    await expect(open(folder)).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: `${join(folder, 'labels.txt')}: there is no such file or folder`,
    });
  });
});

describe('openDataSet of digits with generated data', () => {
  const openGenerated = (cacheFolder: string, generated: { seed: number; sampleCount: number }) =>
    digitsBenchmark.openDataSet({
      ...{ dataFolder: undefined, cacheFolder, generated },
      onProgress: () => undefined,
    });

  it('draws another set with another seed, and says so in name and marks', async () => {
    const cacheFolder = tempFolder();
    const dataSet = await openGenerated(cacheFolder, { seed: 7, sampleCount: 12 });
    expect(dataSet).toMatchObject({
      ...{ name: 'digits-seed-7-count-12', totalSampleCount: 12, isManifestChecked: true },
      marks: [
        'the data set is not the standard one: 12 samples of seed 7; the quality target was measured on ' +
          '1200 samples of seed 2 and is applied to these, so that a few samples may miss it by chance',
      ],
    });
    const standard = await openGenerated(cacheFolder, { ...EVALUATION_SET, sampleCount: 12 });
    expect(standard.folder).not.toBe(dataSet.folder);
    const first = await standard.readPayload(0, 'jpeg');
    expect(first).toEqual(await encodeJpeg(renderDigit(EVALUATION_SET, 0).rgb, SIZE, 85));
    expect(await dataSet.readPayload(0, 'jpeg')).not.toEqual(first);
  });

  it('is the standard set where no other is asked for', async () => {
    const { name, marks } = await digitsBenchmark.openDataSet({
      ...{ dataFolder: undefined, cacheFolder: testCacheFolder() },
      onProgress: () => undefined,
    });
    expect({ name, marks }).toEqual({ name: 'digits', marks: [] });
  });
});

describe('readPayload of digits', () => {
  it('gives the file as it is in the form jpeg, and its pixels in the form raw', async () => {
    const dataSet = await open(await writeOwnData());
    const jpeg = await dataSet.readPayload(1, 'jpeg');
    expect(jpeg).toEqual(await encodeJpeg(renderDigit(EVALUATION_SET, 1).rgb, SIZE, 90));
    expect(await dataSet.readPayload(1, 'raw')).toEqual(await decodeJpeg(jpeg, SIZE));
  });

  it('names a file that went missing after the data set was opened', async () => {
    const folder = await writeOwnData();
    const dataSet = await open(folder);
    await rm(join(folder, 'images', '2.jpg'));
    await expect(dataSet.readPayload(2, 'jpeg')).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringContaining('2.jpg (labels.txt, line 3): there is no such file'),
    });
  });
});

describe('scoreAccuracy of digits', () => {
  it('counts right answers over scored samples', async () => {
    const dataSet = await open(await writeOwnData());
    const entries = [3, 1, 5].map((label, sampleIndex) => ({
      sampleIndex,
      response: encodeResponse(label),
    }));
    expect(await dataSet.scoreAccuracy(entries)).toEqual({
      metric: 'top-1',
      value: 2 / 3,
      correctCount: 2,
      sampleCount: 3,
      scriptLine: 'accuracy=66.667%, good=2, total=3',
    });
  });

  it('counts a sample once, with its first answer', async () => {
    const dataSet = await open(await writeOwnData());
    const entries = [9, 3].map((label) => ({ sampleIndex: 0, response: encodeResponse(label) }));
    expect(await dataSet.scoreAccuracy(entries)).toMatchObject({ correctCount: 0, sampleCount: 1 });
  });

  it('is 0 and not a number divided by nothing when there is no answer', async () => {
    const dataSet = await open(await writeOwnData());
    expect(await dataSet.scoreAccuracy([])).toMatchObject({ value: 0, sampleCount: 0 });
  });

  it.each([
    ['is too short', 1, Uint8Array.of(3), /sample 1: .* 4 bytes, this one has 1/],
    ['names no class', 1, Uint8Array.of(77, 0, 0, 0), /sample 1: .* 0 to 9, this one is 77/],
    ['belongs to no sample', 3, Uint8Array.of(3, 0, 0, 0), /sample 3; .* samples 0 to 2/],
  ])('refuses a response that %s', async (_case, sampleIndex, response, message) => {
    const dataSet = await open(await writeOwnData());
    await expect(dataSet.scoreAccuracy([{ sampleIndex, response }])).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });
});
