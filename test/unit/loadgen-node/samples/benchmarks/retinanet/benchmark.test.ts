import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { benchmark } from '../../../../../../loadgen-node/samples/benchmarks/retinanet/benchmark.ts';
import type { DataSet } from '../../../../../../loadgen-node/samples/data-set/data-set.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: the data set as users have it is read, each sample in every form, and what is missing is
// named, never dropped. Method: drawn images in the layout of the data set, and copies of them with
// a fault.

const cacheFolder = suiteFolder();
const generated = { seed: 5, sampleCount: 6 };

function open(dataFolder: string | undefined, isScoreOnly = false): Promise<DataSet> {
  const onProgress = () => undefined;
  return benchmark.openDataSet({ dataFolder, cacheFolder, generated, isScoreOnly, onProgress });
}

describe('the data set of retinanet', () => {
  let drawn: DataSet;

  beforeAll(async () => {
    drawn = await open('standin');
  });

  it('says that drawn images are a stand-in, and that the target was measured on others', () => {
    expect(drawn.name).toBe('openimages-standin-seed-5-count-6');
    expect(drawn.marks).toEqual([
      'the data set is a stand-in: 6 images drawn by longhaul, not Open Images',
      expect.stringMatching(/not the standard one: 6 samples of seed 5/),
    ]);
    expect(drawn.quality).toMatchObject({ metric: 'mAP', reference: { share: 0.99 } });
  });

  it('describes images and objects as the data set does', () => {
    const path = join(drawn.folder, 'annotations/openimages-mlperf.json');
    const { images, annotations, categories } = JSON.parse(readFileSync(path, 'utf8'));
    expect(images).toHaveLength(6);
    expect(categories.map(({ id }: { id: number }) => id)).toEqual([...Array(12).keys()]);
    for (const { id, image_id: image, bbox, area } of annotations) {
      expect(annotations[id - 1].id).toBe(id);
      const { width, height } = images[image - 1];
      expect(bbox[0]).toBeGreaterThanOrEqual(0);
      expect(bbox[0] + bbox[2]).toBeLessThanOrEqual(width);
      expect(bbox[1] + bbox[3]).toBeLessThanOrEqual(height);
      expect(area).toBe(bbox[2] * bbox[3]);
    }
  });

  it('reads a sample as bytes, as floats and as its file', async () => {
    expect(await drawn.readPayload(3, 'uint8')).toHaveLength(800 * 800 * 3);
    expect(await drawn.readPayload(3, 'fp32')).toHaveLength(800 * 800 * 3 * 4);
    const file = readFileSync(join(drawn.folder, drawn.files?.[4] ?? ''));
    expect(Buffer.compare(await drawn.readPayload(3, 'jpeg'), file)).toBe(0);
  });

  it('names an image that is missing; to score, none is needed', async () => {
    const folder = join(tempFolder(), 'copy');
    cpSync(drawn.folder, folder, { recursive: true });
    rmSync(join(folder, 'validation/data/standin_00000002.jpg'));
    await expect(open(folder)).rejects.toThrow(
      /1 of 6 images are not in .*: validation\/data\/standin_00000002\.jpg \(images\[1\]\)/,
    );
    const scored = await open(folder, true);
    expect(scored.name).toBe('openimages-standin');
    const response = new Uint8Array(Float32Array.of(0, 0, 0, 1, 1, 0.5, 0).buffer);
    const report = await scored.scoreAccuracy([{ sampleIndex: 0, response }]);
    expect(report).toMatchObject({ metric: 'mAP', sampleCount: 1 });
    expect(report.correctCount).toBeUndefined();
  });

  it('names an image that is damaged', async () => {
    const folder = join(tempFolder(), 'copy');
    cpSync(drawn.folder, folder, { recursive: true });
    const path = join(folder, 'validation/data/standin_00000002.jpg');
    cpSync(join(folder, 'annotations/openimages-mlperf.json'), path);
    const dataSet = await open(folder);
    await expect(dataSet.readPayload(1, 'uint8')).rejects.toThrow(
      /standin_00000002\.jpg \(annotations\/openimages-mlperf\.json, images\[1\]\): not a JPEG image/,
    );
  });

  it('marks a folder that is not the whole data set', async () => {
    const { marks, name, quality } = await open('test/golden/benchmarks/retinanet/a', true);
    expect(name).toBe('openimages-own-data');
    expect(quality).toBeUndefined();
    expect(marks).toEqual([expect.stringMatching(/60 images of 12 categories; .* 24781 images/)]);
  });

  it('says what to give where there is no folder, and where the annotations are not in it', async () => {
    await expect(open(undefined)).rejects.toThrow(/needs --data-dir FOLDER .* --data-dir standin/);
    await expect(open(tempFolder())).rejects.toThrow(
      /annotations\/openimages-mlperf\.json: .*; it holds the annotations in COCO's form/,
    );
  });
});
