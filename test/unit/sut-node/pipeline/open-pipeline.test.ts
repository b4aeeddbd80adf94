import { describe, expect, it } from 'vitest';
import {
  type ModelTensor,
  type ModelUsage,
  NO_TENSOR,
  type OutputTensor,
} from '../../../../sut-node/model/model-facts.ts';
import { openPipeline } from '../../../../sut-node/pipeline/open-pipeline.ts';

// Goal: a description joins a model with pre- and post-processing, and one that does not fit is
// refused in words that help. Method: models as ONNX Runtime tells them, outputs by hand.

const tensor = (name: string, elementType: string, ...shape: number[]): ModelTensor => ({
  name,
  elementType,
  shape,
});

const IMAGE = tensor('image', 'float', -1, 3, -1, -1);
const SCORES = tensor('scores', 'float', -1, 3);
const LABEL = tensor('label', 'int64', -1);

function open(usage: ModelUsage, outputs = [SCORES], inputs = [IMAGE]) {
  return openPipeline({ file: 'm.onnx', inputs, outputs }, usage);
}

function outputs(name: string, dims: number[], data: OutputTensor['data']) {
  return new Map<string, OutputTensor>([[name, { data, dims }]]);
}

const TWO_ROWS = outputs('scores', [2, 3], Float32Array.of(1, 5, 5, 9, 8, 7));

describe('openPipeline', () => {
  it('feeds all inputs of the model, with the shapes of the model', () => {
    const mask = tensor('mask', 'int64', -1, -1);
    expect(open({}, [SCORES], [IMAGE, mask]).inputs).toEqual([
      { name: 'image', elementType: 'float', sampleShape: [3, -1, -1] },
      { name: 'mask', elementType: 'int64', sampleShape: [-1] },
    ]);
  });

  it('fills free axes in from the description', () => {
    const { inputs, forms, lengthOf } = open({ inputs: [{ name: 'image', shape: [3, 2, 2] }] });
    expect(inputs[0]?.sampleShape).toEqual([3, 2, 2]);
    expect(forms).toEqual(['raw', 'fp32']);
    expect(lengthOf).toBeUndefined();
  });

  it.each<[string, ModelUsage, ModelTensor[], string]>([
    [
      'another shape',
      { inputs: [{ name: 'image', shape: [4, 2, 2] }] },
      [IMAGE],
      '[3, free, free]',
    ],
    ['an unknown input', { inputs: [{ name: 'image' }, { name: 'y' }] }, [IMAGE], 'no input "y"'],
    [
      'an input left out',
      { inputs: [{ name: 'image' }] },
      [IMAGE, LABEL],
      'needs its input "label"',
    ],
    ['text', {}, [tensor('t', 'string', -1)], 'elements of type string'],
    [
      'no shape in the model',
      {},
      [{ ...tensor('t', 'float'), isRankUnknown: true }],
      'no shape in the model, not even a number of axes; give the shape of one sample in a model description',
    ],
    ['no tensor', {}, [tensor('t', NO_TENSOR)], 'is no tensor, but a sequence, map or optional'],
    ['an offset of no class', { classOffset: -1 }, [IMAGE], '"classOffset" has no effect'],
    ['a number of no class', { response: 'int64' }, [IMAGE], '"response" has no effect'],
    ['a single number', {}, [tensor('t', 'float')], '"batchAxis: none"'],
    ['no input', {}, [], 'has no input'],
    ['an unknown output', { output: 'y' }, [IMAGE], 'no output "y"; it has: scores: float'],
  ])('refuses %s', (_case, usage, inputs, message) => {
    expect(() => open(usage, [SCORES], inputs)).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL', message: expect.stringContaining(message) }),
    );
  });

  it('answers with the bytes of all outputs of the row where nothing else is said', () => {
    const { postprocess } = open({}, [SCORES, LABEL]);
    const all = new Map([...TWO_ROWS, ...outputs('label', [2], BigInt64Array.of(1n, 7n))]);
    const response = postprocess(all, 1);
    expect(new Float32Array(response.buffer, 0, 3)).toEqual(Float32Array.of(9, 8, 7));
    expect(new DataView(response.buffer).getBigInt64(12, true)).toBe(7n);
  });

  it('answers with the whole output of a model without a batch axis', () => {
    const usage = { batchAxis: 'none' } as const;
    const { postprocess } = open(usage, [tensor('scores', 'float', 2, 3)]);
    expect(postprocess(TWO_ROWS, 0)).toHaveLength(24);
  });

  it.each<[string, ModelUsage, ModelTensor[], ReadonlyMap<string, OutputTensor>, number[]]>([
    ['the first of the highest scores', {}, [SCORES], TWO_ROWS, [1, 0]],
    ['with an offset', { classOffset: -1 }, [SCORES], TWO_ROWS, [0, -1]],
    [
      'the label itself',
      {},
      [SCORES, LABEL],
      outputs('label', [2], BigInt64Array.of(4n, 5n)),
      [4, 5],
    ],
    ['of the output that is named', { output: 'scores' }, [SCORES, LABEL], TWO_ROWS, [1, 0]],
    [
      'a label in an axis of its own',
      {},
      [tensor('label', 'int32', -1, 1)],
      outputs('label', [2, 1], Int32Array.of(4, 5)),
      [4, 5],
    ],
  ])('answers with the class: %s', (_case, usage, modelOutputs, values, classes) => {
    const { postprocess } = open({ postprocess: 'class', ...usage }, modelOutputs);
    const found = classes.map((_, row) =>
      new DataView(postprocess(values, row).buffer).getInt32(0, true),
    );
    expect(found).toEqual(classes);
  });

  it.each([
    ['float32', [0, 0, 128, 63]],
    ['int32', [1, 0, 0, 0]],
    ['int64', [1, 0, 0, 0, 0, 0, 0, 0]],
  ] as const)('answers with a class as %s', (response, bytes) => {
    const { postprocess } = open({ postprocess: 'class', response });
    expect([...postprocess(TWO_ROWS, 0)]).toEqual(bytes);
  });

  it.each<[string, ModelTensor[], string]>([
    ['no output', [tensor('map', 'float', -1, 8, 8)], 'no output that could be a class'],
    ['two outputs', [SCORES, tensor('more', 'float', -1, 9)], 'more than one output'],
  ])('refuses a model of which %s could be the class', (_case, modelOutputs, message) => {
    expect(() => open({ postprocess: 'class' }, modelOutputs)).toThrow(message);
  });

  it.each<[string, ModelUsage, ModelTensor[], ReadonlyMap<string, OutputTensor>, string]>([
    [
      'has no such row',
      {},
      [SCORES],
      outputs('scores', [1, 3], Float32Array.of(1, 2, 3)),
      'no row 1',
    ],
    [
      'has a score that is NaN',
      {},
      [SCORES],
      outputs('scores', [2, 2], Float32Array.of(1, 2, 3, Number.NaN)),
      'score 1 of output "scores" of the model is NaN',
    ],
    [
      'has two labels',
      {},
      [LABEL],
      outputs('label', [2, 2], BigInt64Array.of(1n, 2n, 3n, 4n)),
      '2 labels',
    ],
    [
      'does not fit the response',
      {},
      [LABEL],
      outputs('label', [2], BigInt64Array.of(0n, 2n ** 40n)),
      '1099511627776, which a response of type int32 cannot hold exactly',
    ],
    ['is missing', {}, [SCORES], new Map(), 'no output "scores"'],
  ])('fails a sample whose output %s', (_case, usage, modelOutputs, values, message) => {
    const { postprocess } = open({ postprocess: 'class', ...usage }, modelOutputs);
    expect(() => postprocess(values, 1)).toThrow(message);
  });

  it.each([
    ['float16', Uint16Array.of(0x7bff, 0xfbff), Uint16Array.of(0, 0x7c00)],
    ['double', Float64Array.of(-1e300, 0), Float64Array.of(0, Number.NaN)],
    ['float', Float32Array.of(-3.4e38, 3.4e38), Float32Array.of(1, Number.POSITIVE_INFINITY)],
    ['bool', Uint8Array.of(0, 1), Uint8Array.of(1, 2)],
  ])('takes numbers of %s and refuses what is none', (elementType, good, bad) => {
    const { checkTensor } = open({}, [SCORES], [tensor('x', elementType, 0, 2)]);
    expect(() => checkTensor(new Uint8Array(good.buffer), 'raw')).not.toThrow();
    expect(() => checkTensor(new Uint8Array(bad.buffer), 'raw')).toThrow('element 1 of input "x"');
  });
});
