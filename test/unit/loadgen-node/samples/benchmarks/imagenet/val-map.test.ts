import { describe, expect, it } from 'vitest';
import {
  parseValMap,
  readValMap,
} from '../../../../../../loadgen-node/samples/benchmarks/imagenet/val-map.ts';
import { tempFolder } from '../../../../../support/process/temp-folder.ts';

// Goal: line i is sample i, or the list is refused with the line that is wrong.
describe('val_map.txt', () => {
  it('lists files and classes, in sub-folders as well', () => {
    const text = 'ILSVRC2012_val_00000001.JPEG 65\nval/./two.JPEG\t999\r\n./three.JPEG  0 \n';
    expect(parseValMap(text, 'm')).toEqual([
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
    expect(() => parseValMap(`a.JPEG 1\n${line}\nc.JPEG 2\n`, 'm')).toThrow(
      expect.objectContaining({ code: 'ERR_DATA_SET', message: expect.stringMatching(message) }),
    );
  });

  it.each(['', '\n', ' \r\n'])('is refused when it lists nothing: %j', (text) => {
    expect(() => parseValMap(text, 'm')).toThrow('m is empty: it lists no image');
  });

  it('is named when it is missing', async () => {
    await expect(readValMap(tempFolder())).rejects.toMatchObject({
      code: 'ERR_DATA_SET',
      message: expect.stringMatching(/val_map\.txt: there is no such file or folder; it lists/),
    });
  });
});
