import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCocoAnnotations } from '../../../../../loadgen-node/samples/metrics/coco-annotations.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: whatever is wrong in a file of annotations is told with file and entry. Method: one good
// file, and one change each.

const GOOD = {
  images: [{ id: 1, file_name: 'a.jpg', width: 10, height: 20, license: null }],
  categories: [{ id: 0, name: 'thing' }],
  annotations: [
    { id: 5, image_id: 1, category_id: 0, bbox: [0, 1.5, 2, 3], area: 6, iscrowd: 0 },
    { id: 6, image_id: 1, category_id: 0, bbox: [0, 0, 1, 1], area: 1, iscrowd: 1 },
  ],
};

function read(content: unknown) {
  const folder = tempFolder();
  mkdirSync(join(folder, 'annotations'));
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(folder, 'annotations/file.json'), text);
  return readCocoAnnotations(folder, 'annotations/file.json', '');
}

describe('readCocoAnnotations', () => {
  it('reads images, categories and objects', async () => {
    const { images, categories, annotations } = await read(GOOD);
    expect(images).toEqual([{ id: 1, file_name: 'a.jpg', width: 10, height: 20 }]);
    expect(categories).toEqual([{ id: 0 }]);
    expect(annotations[0]).toEqual(GOOD.annotations[0]);
  });

  it.each([
    ['no JSON', '{"images": [', /file\.json is not JSON/],
    ['an empty file', '', /file\.json is empty$/],
    ['a list', [], /file\.json: the file must be an object with keys; it is \[\]$/],
    ['no keys', {}, /file\.json: images must be a list; there is none$/],
    ['no images', { ...GOOD, images: [] }, /file\.json: images is empty/],
    [
      'a box of three numbers',
      { ...GOOD, annotations: [GOOD.annotations[0], { ...GOOD.annotations[1], bbox: [1, 2, 3] }] },
      /file\.json: annotations\[1\]\.bbox must be a list of 4 numbers$/,
    ],
    [
      'a width of 0',
      { ...GOOD, images: [{ ...GOOD.images[0], width: 0 }] },
      /file\.json: images\[0\]\.width must be above 0; it is 0$/,
    ],
    [
      'an object without iscrowd',
      { ...GOOD, annotations: [{ ...GOOD.annotations[0], iscrowd: undefined }] },
      /annotations\[0\]\.iscrowd must be a number; there is none$/,
    ],
    [
      'an id twice',
      { ...GOOD, annotations: [GOOD.annotations[0], GOOD.annotations[0]] },
      /annotations\[1\] has the id 5 of annotations\[0\]/,
    ],
    ['no objects', { ...GOOD, annotations: [] }, /file\.json: annotations is empty/],
    [
      'an object in no image',
      { ...GOOD, annotations: [{ ...GOOD.annotations[0], image_id: 9999 }] },
      /annotations\[0\]\.image_id is 9999, which no entry has/,
    ],
    [
      'an object of no category',
      { ...GOOD, annotations: [{ ...GOOD.annotations[0], category_id: 7 }] },
      /annotations\[0\]\.category_id is 7, which no entry has/,
    ],
    [
      'a file outside of the folder',
      { ...GOOD, images: [{ ...GOOD.images[0], file_name: '../a.jpg' }] },
      /images\[0\]\.file_name: \.\.\/a\.jpg leaves its folder/,
    ],
  ])('tells %s', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });

  it('names a file that is missing, with the hint', async () => {
    const reading = readCocoAnnotations(tempFolder(), 'annotations/none.json', '; put it there');
    await expect(reading).rejects.toThrow(/annotations\/none\.json: .*; put it there$/);
  });
});
