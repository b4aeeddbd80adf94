import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchmark as ssdMobilenet } from '../../../../../../loadgen-node/samples/benchmarks/ssd-mobilenet/benchmark.ts';
import { benchmark as ssdResnet34 } from '../../../../../../loadgen-node/samples/benchmarks/ssd-resnet34/benchmark.ts';
import { COCO_CATEGORY_IDS } from '../../../../../../shared/benchmarks/standin/planted-cells.ts';
import { suiteFolder, tempFolder } from '../../../../../scenes/host/folders.ts';

// Goal: COCO's files are found under their own names, drawn ones are described with COCO's ids, and
// what is no COCO is marked. Method: a few drawn images, and the annotations of a golden.

const options = { cacheFolder: suiteFolder(), onProgress: () => undefined };

describe('the data set of the two SSD', () => {
  it('is drawn with the 80 ids of COCO, for both the same', async () => {
    const generated = { seed: 5, sampleCount: 3 };
    const drawn = { ...options, dataFolder: 'standin', generated };
    const dataSet = await ssdMobilenet.openDataSet(drawn);
    expect((await ssdResnet34.openDataSet(drawn)).folder).toBe(dataSet.folder);
    expect(dataSet.name).toBe('coco-standin-seed-5-count-3');
    const path = join(dataSet.folder, 'annotations/instances_val2017.json');
    const { categories, annotations } = JSON.parse(readFileSync(path, 'utf8'));
    const ids = categories.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(COCO_CATEGORY_IDS);
    expect([ids.length, ids[0], ids[11], ids.at(-1)]).toEqual([80, 1, 13, 90]);
    for (const { category_id: id } of annotations) expect(ids).toContain(id);
    expect(await dataSet.readPayload(1, 'uint8')).toHaveLength(270_000);
    const file = readFileSync(join(dataSet.folder, 'val2017/standin_00000002.jpg'));
    expect(Buffer.compare(await dataSet.readPayload(1, 'jpeg'), file)).toBe(0);
  });

  it('marks a folder that is not all of COCO, and names images that are missing', async () => {
    const golden = { ...options, dataFolder: 'test/golden/benchmarks/ssd/resnet34-a' };
    const { marks, name } = await ssdResnet34.openDataSet({ ...golden, isScoreOnly: true });
    expect(name).toBe('coco-own-data');
    expect(marks).toEqual([expect.stringMatching(/120 images of 80 categories; .* 5000 images/)]);
    await expect(ssdResnet34.openDataSet(golden)).rejects.toThrow(
      /120 of 120 images are not in .*: val2017\//,
    );
  });

  it('says what to give', async () => {
    await expect(ssdMobilenet.openDataSet({ ...options, dataFolder: undefined })).rejects.toThrow(
      /ssd-mobilenet needs --data-dir FOLDER with annotations\/instances_val2017\.json .* val2017/,
    );
    const dataFolder = tempFolder();
    await expect(ssdMobilenet.openDataSet({ ...options, dataFolder })).rejects.toThrow(
      /instances_val2017\.json: .*; it holds the annotations in COCO's form/,
    );
  });
});
