import { describe, expect, it } from 'vitest';
import { requestLayout } from '../../../../../qdl/protocols/tensors/request-layout.ts';
import type { InputShapes } from '../../../../../shared/domain/input-shapes.ts';
import { benchmarkRules } from '../../../../../shared/rules/benchmark-rules.ts';
import type { OipModelFacts } from '../../../../../shared/wire/oip/request-plan.ts';
import { modelOf } from '../../../../scenes/oip-server/model-of.ts';

const NO_SHAPES: InputShapes = new Map();
const resnet50 = benchmarkRules('resnet50');
const digits = benchmarkRules('digits');

// Goal: samples go into a model as they are, or not at all, and whoever reads why knows what to do.
describe('requestLayout of a benchmark', () => {
  it.each([
    ['FP32 [-1, 3, 224, 224]', 'fp32', true],
    ['FP32 [1, 3, 224, 224]', 'fp32', true],
    ['FP32 [3, 224, 224]', 'fp32', false],
    ['FP32 [-1, -1, -1, -1]', 'fp32', true],
    ['UINT8 [-1, 224, 224, 3]', 'uint8', true],
    ['BYTES [-1]', 'jpeg', false],
    ['BYTES [-1, 1]', 'jpeg', true],
  ])('takes for %s the encoding %s', (input, encodingName, hasBatchAxis) => {
    const layout = requestLayout(
      resnet50,
      modelOf([input], ['INT64 [-1]']),
      NO_SHAPES,
      undefined,
      undefined,
    );
    expect(layout).toMatchObject({ encodingName, hasBatchAxis });
    expect(layout.inputs[0]?.shape).not.toContain(-1);
  });

  it('shows both sides where nothing fits, and what is in another order', () => {
    const facts = modelOf(['FP32 [-1, 224, 224, 3]'], ['FP32 [-1, 1001]']);
    expect(() => requestLayout(resnet50, facts, NO_SHAPES, undefined, undefined)).toThrow(
      'no sample of benchmark resnet50 fits model net of 10.0.0.2:8001: the model takes in0 FP32 [-1, 224, 224, 3]; ' +
        'a sample of resnet50 is uint8 UINT8 [224, 224, 3], fp32 FP32 [3, 224, 224], jpeg BYTES [1]. ' +
        'fp32 has the same axes in another order (channels last or first), and longhaul never converts samples: ' +
        "serve the model with the benchmark's order of axes; --data random gives samples of the right shape",
    );
  });

  it('names the encoding that would fit in place of the one that was requested', () => {
    const facts = modelOf(['UINT8 [-1, 48, 48, 3]'], ['INT32 [-1, 1]']);
    expect(() => requestLayout(digits, facts, NO_SHAPES, 'jpeg', undefined)).toThrow(
      /^--encoding jpeg of benchmark digits does not fit.* --encoding raw fits \(in a program: openSamples.* encoding: 'raw'/,
    );
  });

  it('refuses a model of several inputs', () => {
    const facts = modelOf(['UINT8 [-1, 48, 48, 3]', 'INT32 [-1]'], ['INT32 [-1, 1]']);
    expect(() => requestLayout(digits, facts, NO_SHAPES, undefined, undefined)).toThrow(
      /a sample is one tensor, and the model has 2 inputs/,
    );
  });

  it('gives a free axis of bytes the length of the payloads', () => {
    const echo = benchmarkRules('echo');
    const layout = requestLayout(
      echo,
      modelOf(['UINT8 [-1, -1]'], ['UINT8 [-1, -1]']),
      NO_SHAPES,
      undefined,
      16,
    );
    expect(layout.inputs).toMatchObject([{ shape: [16], sampleBytes: 16 }]);
    expect(layout.responseClass).toBeUndefined();
  });

  it.each([
    ['the benchmark’s own response', resnet50, ['FP32 [-1, 1]'], { form: 'same', classOffset: 0 }],
    [
      'a label before scores',
      resnet50,
      ['FP32 [-1, 1001]', 'INT64 [-1]'],
      { form: 'class', classOffset: -1 },
    ],
    ['scores of 1,001 classes', resnet50, ['FP32 [-1, 1001]'], { form: 'scores', classOffset: -1 }],
    ['scores of 1,000 classes', resnet50, ['FP64 [-1, 1000]'], { form: 'scores', classOffset: 0 }],
    ['scores of digits', digits, ['FP32 [-1, 10]'], { form: 'scores', classOffset: 0 }],
  ] as const)('reads the class from %s', (_what, rules, outputs, expected) => {
    const input = rules.key === 'digits' ? 'UINT8 [-1, 48, 48, 3]' : 'FP32 [-1, 3, 224, 224]';
    const layout = requestLayout(rules, modelOf([input], outputs), NO_SHAPES, undefined, undefined);
    expect(layout.responseClass).toMatchObject(expected);
    expect(layout.outputs).toHaveLength(1);
  });

  it.each([
    ['none', ['FP16 [-1, 10]'], 'no output is one'],
    ['two', ['FP32 [-1, 10]', 'FP32 [-1, 20]'], 'more than one output could be one'],
  ])('refuses a model with %s that could be the class', (_what, outputs, why) => {
    const facts = modelOf(['UINT8 [-1, 48, 48, 3]'], outputs);
    expect(() => requestLayout(digits, facts, NO_SHAPES, undefined, undefined)).toThrow(why);
  });
});

describe('requestLayout of a benchmark whose response is many numbers', () => {
  const bert = benchmarkRules('bert');
  const layoutOf = (outputs: readonly string[]) =>
    requestLayout(bert, modelOf(['INT32 [-1, 384]'], outputs), NO_SHAPES, 'ids', undefined);

  it('reads the output that is of its form', () => {
    const { outputs, responseClass } = layoutOf(['FP32 [-1, 384]', 'FP32 [-1, 384, 2]']);
    expect(outputs).toMatchObject([{ shape: [-1, 384, 2] }]);
    expect(responseClass).toMatchObject({ form: 'same', classOffset: 0 });
  });

  it('says what it asks for where there is none', () => {
    expect(() => layoutOf(['FP32 [-1, 384]', 'FP32 [-1, 384]'])).toThrow(
      /^benchmark bert asks for FP32 \[384, 2\] in each sample, and no output is that: the model has out0 FP32/,
    );
  });
});

describe('requestLayout of a model alone', () => {
  const custom = benchmarkRules('custom');
  const layoutOf = (facts: OipModelFacts, shapes = NO_SHAPES) =>
    requestLayout(custom, facts, shapes, undefined, undefined);

  it.each([
    ['the server does not say', undefined, true],
    ['the server says 8', 8, true],
    ['the server says that there is none', 0, false],
  ])('takes a free first axis for that of samples where %s', (_what, batchSizeMax, expected) => {
    const facts = modelOf(['FP32 [-1, 4]', 'INT64 [-1]'], ['FP32 [-1]'], { batchSizeMax });
    expect(layoutOf(facts).hasBatchAxis).toBe(expected);
  });

  it.each([
    ['where nothing is said', undefined, {}, [[], []]],
    ['where a shape has all axes', undefined, { in0: [-1], in1: [8] }, [[-1], [8]]],
    ['where one of them has', undefined, { in1: [8] }, [[-1], [8]]],
  ])(
    'takes the only axis %s, of a server that does not tell',
    (_what, batchSizeMax, shapes, found) => {
      const facts = modelOf(['BOOL [-1]', 'INT64 [-1]'], ['FP32 [-1, 1]'], { batchSizeMax });
      const layout = layoutOf(facts, new Map(Object.entries(shapes)));
      expect(layout.inputs.map(({ shape }) => shape)).toEqual(found);
      expect(layout.hasBatchAxis).toBe(found[0]?.length === 0);
    },
  );

  it('has a hint only where it is not known what the first axis is', () => {
    const hintOf = (batchSizeMax?: number) =>
      layoutOf(modelOf(['INT64 [-1, -1]'], ['FP32 [-1]'], { batchSizeMax })).inputs[0]?.shapeHint;
    expect(hintOf()).toMatch(
      /belongs to the sample, use --input-shape in0:-1x-1 \(-1: any length\)$/,
    );
    expect([hintOf(0), hintOf(8)]).toEqual([undefined, undefined]);
  });

  it('takes the shapes that were requested', () => {
    const facts = modelOf(['FP32 [-1, -1, 4]'], ['FP32 [-1]']);
    const { inputs } = layoutOf(facts, new Map([['in0', [7, 4]]]));
    expect(inputs).toMatchObject([{ shape: [7, 4], sampleBytes: 112 }]);
  });
});
