import { describe, expect, it } from 'vitest';
import { LABEL_LIST } from '../../../../../loadgen-node/samples/benchmarks/digits/benchmark.ts';
import { VAL_MAP } from '../../../../../loadgen-node/samples/benchmarks/imagenet/imagenet-data-set.ts';
import {
  parseImageList as parse,
  readImageList,
} from '../../../../../loadgen-node/samples/benchmarks/labelled-images.ts';
import { tempFolder } from '../../../../scenes/host/folders.ts';

// Goal: line i is sample i, or the list is refused with the line that is wrong.
// Method: one text in all its forms, then texts with one fault each.
describe('labels.txt', () => {
  it('accepts tabs, Windows line ends and a missing last line end', () => {
    const images = parse(LABEL_LIST, 'a.jpg\t1\r\nb.jpg  2', 'labels.txt');
    expect(images).toEqual([
      { path: 'images/a.jpg', label: 1 },
      { path: 'images/b.jpg', label: 2 },
    ]);
  });

  it.each([
    ['a label that is no digit', 'a.jpg 1\nb.jpg x\n', 2, 'b.jpg x'],
    ['a label above 9', 'a.jpg 10\n', 1, 'a.jpg 10'],
    ['no label', 'a.jpg 1\nb.jpg 2\nc.jpg\n', 3, 'c.jpg'],
    ['a third word', 'a.jpg 1 2\n', 1, 'a.jpg 1 2'],
    ['an empty line in between', 'a.jpg 1\n\nb.jpg 2\n', 2, ''],
  ])('refuses a line with %s', (_case, text, line, shown) => {
    expect(() => parse(LABEL_LIST, text, '/data/labels.txt')).toThrow(
      expect.objectContaining({
        code: 'ERR_DATA_SET',
        message: expect.stringContaining(`/data/labels.txt, line ${line}: "${shown}" is not`),
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['line ends only', '\n\n'],
  ])('refuses a file of %s', (_case, text) => {
    expect(() => parse(LABEL_LIST, text, 'labels.txt')).toThrow('labels.txt is empty');
  });
});

describe('val_map.txt', () => {
  it('lists files and classes, in sub-folders as well', () => {
    const text = 'ILSVRC2012_val_00000001.JPEG 65\nval/./two.JPEG\t999\r\n./three.JPEG  0 \n';
    expect(parse(VAL_MAP, text, 'm')).toEqual([
      { path: 'ILSVRC2012_val_00000001.JPEG', label: 65 },
      { path: 'val/two.JPEG', label: 999 },
      { path: 'three.JPEG', label: 0 },
    ]);
  });

  it.each([
    ['no label', 'b.JPEG', /line 2: "b.JPEG" is not a file and a label, such as/],
    ['a third word', 'b c.JPEG 5', /line 2: "b c.JPEG 5" is not a file and a label/],
    ['nothing', '', /line 2: "" is not a file and a label/],
    ['class 1000', 'b.JPEG 1000', /line 2: the label "1000" is not a class from 0 to 999/],
    ['class -1', 'b.JPEG -1', /line 2: the label "-1" is not a class/],
    ['a word for a class', 'b.JPEG cat', /line 2: the label "cat" is not a class/],
    ['the file of line 1', './a.JPEG 3', /line 2: a.JPEG is in line 1 already/],
    ['a file elsewhere', '../b.JPEG 3', /line 2: \.\.\/b.JPEG is not below the folder/],
    ['an absolute path', '/b.JPEG 3', /line 2: \/b.JPEG is not below the folder/],
  ])('is refused where a line has %s', (_case, line, message) => {
    expect(() => parse(VAL_MAP, `a.JPEG 1\n${line}\nc.JPEG 2\n`, 'm')).toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });

  it.each(['', '\n', ' \r\n'])('is refused when it lists nothing: %j', (text) => {
    expect(() => parse(VAL_MAP, text, 'm')).toThrow('m is empty: it lists no image');
  });

  it('is named when it is missing', async () => {
    await expect(readImageList(VAL_MAP, tempFolder())).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(/val_map\.txt: there is no such file or folder; it lists/),
    });
  });
});
