import { describe, expect, it } from 'vitest';
import {
  parseInputShapes,
  requireKnownShapes,
  resolveInputs,
} from '../../../../shared/domain/input-shapes.ts';
import type { OipTensor } from '../../../../shared/domain/tensors.ts';

// Goal: shapes of one sample come from the model and --input-shape, and nothing is guessed.
// Method: a model with a batch axis and free axes; what is said of them, right and wrong.

const INPUTS: readonly OipTensor[] = [
  { name: 'image', datatype: 'FP32', shape: [-1, 3, -1, -1] },
  { name: 'input:0', datatype: 'INT64', shape: [-1, 4] },
];

describe('resolveInputs', () => {
  it('takes the batch axis away and fills what is requested', () => {
    const { inputShapes: shapes } = parseInputShapes(['image:3x224x320', 'input:0:4']);
    expect(resolveInputs(INPUTS, shapes, true).map(({ shape }) => shape)).toEqual([
      [3, 224, 320],
      [4],
    ]);
  });

  it('leaves free what nobody said, and has the flag that says it', () => {
    const inputs = resolveInputs(INPUTS, new Map(), true);
    expect(inputs.map(({ shape }) => shape)).toEqual([[3, -1, -1], [4]]);
    expect(() => requireKnownShapes(inputs)).toThrow(
      'give their lengths for one sample by --input-shape image:3xNxN, with a number',
    );
    const unbatched = resolveInputs(INPUTS, new Map(), false);
    expect(() => requireKnownShapes(unbatched)).toThrow('image:Nx3xNxN,input:0:Nx4');
  });

  it.each([
    ['no such input', 'mask:3', 'has no such input; it has image, input:0'],
    [
      'an axis that the model fixes',
      'image:1x8x8',
      'a sample of the model has the shape [3, -1, -1]',
    ],
    ['the batch axis', 'image:1x3x8x8', 'leave out the axis that counts samples'],
  ])('refuses %s', (_case, text, message) => {
    const { inputShapes } = parseInputShapes([text]);
    expect(() => resolveInputs(INPUTS, inputShapes, true)).toThrow(message);
  });
});

describe('parseInputShapes', () => {
  it('reads the shape of a single number', () => {
    expect([...parseInputShapes(['x:']).inputShapes]).toEqual([['x', []]]);
  });

  it.each(['image', 'image:3,4', 'image:3x', ':3', 'image:-2x3', 'image:9999999999'])(
    'refuses "%s"',
    (text) => {
      expect(() => parseInputShapes([text])).toThrow(`--input-shape ${text}: `);
    },
  );

  it.each([
    ['past:0x64', [0, 64]],
    ['past:-1x64', [-1, 64]],
  ])('reads an axis without an element, or of any length: %s', (text, shape) => {
    expect(parseInputShapes([text]).inputShapes.get('past')).toEqual(shape);
  });

  it('reads declarations beside shapes, also of names with colons', () => {
    expect(parseInputShapes(['x:FP32:-1x3', 'input:0:INT64:', 'x:FP33:4', 'x:7'])).toEqual({
      inputShapes: new Map([
        ['x:FP33', [4]],
        ['x', [7]],
      ]),
      declaredInputs: [
        { name: 'x', datatype: 'FP32', shape: [-1, 3] },
        { name: 'input:0', datatype: 'INT64', shape: [] },
      ],
    });
  });

  it.each([
    ['x:1', 'x:2'],
    ['x:FP32:1', 'x:INT8:1'],
  ])('refuses a name that is said twice (%s, %s)', (first, second) => {
    expect(() => parseInputShapes([first, second])).toThrow('names x twice');
  });
});
