import { describe, expect, it } from 'vitest';
import { parseLabelList } from '../../../../../../loadgen-node/samples/benchmarks/digits/label-list.ts';

// Goal: the label file is read exactly or refused with the line that is wrong.
// Method: one text in all its forms, then texts with one fault each.
describe('parseLabelList', () => {
  it('accepts tabs, Windows line ends and a missing last line end', () => {
    const images = parseLabelList('a.jpg\t1\r\nb.jpg  2', 'labels.txt');
    expect(images).toEqual([
      { fileName: 'a.jpg', label: 1 },
      { fileName: 'b.jpg', label: 2 },
    ]);
  });

  it.each([
    ['a label that is no digit', 'a.jpg 1\nb.jpg x\n', 2, 'b.jpg x'],
    ['a label above 9', 'a.jpg 10\n', 1, 'a.jpg 10'],
    ['no label', 'a.jpg 1\nb.jpg 2\nc.jpg\n', 3, 'c.jpg'],
    ['a third word', 'a.jpg 1 2\n', 1, 'a.jpg 1 2'],
    ['an empty line in between', 'a.jpg 1\n\nb.jpg 2\n', 2, ''],
  ])('refuses a line with %s', (_case, text, line, shown) => {
    expect(() => parseLabelList(text, '/data/labels.txt')).toThrow(
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
    expect(() => parseLabelList(text, 'labels.txt')).toThrow('labels.txt is empty');
  });
});
