import { describe, expect, it } from 'vitest';
import {
  requestLayout,
  requestPlan,
} from '../../../../../../qdl/protocols/oip/prepare/request-layout.ts';
import type { OipAsked } from '../../../../../../qdl/protocols/oip/settings/oip-settings.ts';
import type { OipTensor } from '../../../../../../shared/domain/tensors.ts';
import { benchmarkRules } from '../../../../../../shared/rules/benchmark-rules.ts';
import type { OipModelFacts } from '../../../../../../shared/wire/oip/request-plan.ts';

const asked = { inputShapes: new Map(), samplesPerRequest: 1 };
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
      model([input], ['INT64 [-1]']),
      asked,
      undefined,
      undefined,
    );
    expect(layout).toMatchObject({ encodingName, hasBatchAxis });
    expect(layout.inputs[0]?.shape).not.toContain(-1);
  });

  it('shows both sides where nothing fits, and what is in another order', () => {
    const facts = model(['FP32 [-1, 224, 224, 3]'], ['FP32 [-1, 1001]']);
    expect(() => requestLayout(resnet50, facts, asked, undefined, undefined)).toThrow(
      'no sample of benchmark resnet50 fits model net of 10.0.0.2:8001: the model takes in0 FP32 [-1, 224, 224, 3]; ' +
        'a sample of resnet50 is uint8 UINT8 [224, 224, 3], fp32 FP32 [3, 224, 224], jpeg BYTES [1]. ' +
        'fp32 has the same axes in another order (channels last or first), and samples are never converted: ' +
        'serve the model with the order of the benchmark; --data random gives samples of the right shape',
    );
  });

  it('names the encoding that would fit in place of the one that was requested', () => {
    const facts = model(['UINT8 [-1, 48, 48, 3]'], ['INT32 [-1, 1]']);
    expect(() => requestLayout(digits, facts, asked, 'jpeg', undefined)).toThrow(
      /^--encoding jpeg of benchmark digits does not fit.* --encoding raw fits \(in a program: openSamples.* encoding: 'raw'/,
    );
  });

  it('refuses a model of several inputs', () => {
    const facts = model(['UINT8 [-1, 48, 48, 3]', 'INT32 [-1]'], ['INT32 [-1, 1]']);
    expect(() => requestLayout(digits, facts, asked, undefined, undefined)).toThrow(
      /a sample is one tensor, and the model has 2 inputs/,
    );
  });

  it('gives a free axis of bytes the length of the payloads', () => {
    const echo = benchmarkRules('echo');
    const layout = requestLayout(
      echo,
      model(['UINT8 [-1, -1]'], ['UINT8 [-1, -1]']),
      asked,
      undefined,
      16,
    );
    expect(layout.inputs).toMatchObject([{ shape: [16], sampleBytes: 16 }]);
    expect(layout.responseClass).toBeUndefined();
  });

  it('refuses --oip-batch where the only free axis is the sample’s own', () => {
    const facts = model(['UINT8 [-1]'], ['UINT8 [-1]']);
    const batch = { ...asked, samplesPerRequest: 2 };
    expect(() => requestLayout(benchmarkRules('echo'), facts, batch, undefined, 16)).toThrow(
      '--oip-batch 2: a request to model net has one sample, as no axis of its inputs (in0 UINT8 [-1]) is left to count samples',
    );
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
    const layout = requestLayout(rules, model([input], outputs), asked, undefined, undefined);
    expect(layout.responseClass).toMatchObject(expected);
    expect(layout.outputs).toHaveLength(1);
  });

  it.each([
    ['none', ['FP16 [-1, 10]'], 'no output is one'],
    ['two', ['FP32 [-1, 10]', 'FP32 [-1, 20]'], 'more than one output could be one'],
  ])('refuses a model with %s that could be the class', (_what, outputs, why) => {
    const facts = model(['UINT8 [-1, 48, 48, 3]'], outputs);
    expect(() => requestLayout(digits, facts, asked, undefined, undefined)).toThrow(why);
  });
});

describe('requestLayout of a benchmark whose response is many numbers', () => {
  const bert = benchmarkRules('bert');
  const layoutOf = (outputs: readonly string[]) =>
    requestLayout(bert, model(['INT32 [-1, 384]'], outputs), asked, 'ids', undefined);

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
  const layoutOf = (facts: OipModelFacts, own: Partial<OipAsked> = {}) =>
    requestLayout(custom, facts, { ...asked, ...own }, undefined, undefined);

  it.each([
    ['the server does not say', undefined, true],
    ['the server says 8', 8, true],
    ['the server says that there is none', 0, false],
  ])('takes a free first axis for that of samples where %s', (_what, batchSizeMax, expected) => {
    const facts = model(['FP32 [-1, 4]', 'INT64 [-1]'], ['FP32 [-1]'], { batchSizeMax });
    expect(layoutOf(facts).hasBatchAxis).toBe(expected);
  });

  it.each([
    ['where nothing is said', undefined, {}, [[], []]],
    ['where a shape has all axes', undefined, { in0: [-1], in1: [8] }, [[-1], [8]]],
    ['where one of them has', undefined, { in1: [8] }, [[-1], [8]]],
  ])(
    'takes the only axis %s, of a server that does not tell',
    (_what, batchSizeMax, shapes, found) => {
      const facts = model(['BOOL [-1]', 'INT64 [-1]'], ['FP32 [-1, 1]'], { batchSizeMax });
      const layout = layoutOf(facts, { inputShapes: new Map(Object.entries(shapes)) });
      expect(layout.inputs.map(({ shape }) => shape)).toEqual(found);
      expect(layout.hasBatchAxis).toBe(found[0]?.length === 0);
    },
  );

  it('has a hint only where it is not known what the first axis is', () => {
    const hintOf = (batchSizeMax?: number) =>
      layoutOf(model(['INT64 [-1, -1]'], ['FP32 [-1]'], { batchSizeMax })).inputs[0]?.shapeHint;
    expect(hintOf()).toMatch(
      /is an axis of a sample, --input-shape in0:-1x-1 \(-1: of any length\)$/,
    );
    expect([hintOf(0), hintOf(8)]).toEqual([undefined, undefined]);
  });

  it('takes the shapes that were requested', () => {
    const facts = model(['FP32 [-1, -1, 4]'], ['FP32 [-1]']);
    const { inputs } = layoutOf(facts, { inputShapes: new Map([['in0', [7, 4]]]) });
    expect(inputs).toMatchObject([{ shape: [7, 4], sampleBytes: 112 }]);
  });

  it.each([
    [9, { batchSizeMax: 8 }, 'takes 8 samples in a request at most'],
    [2, { batchSizeMax: 0 }, 'its server says that no axis counts samples'],
  ])('refuses --oip-batch %i where the model does not take it', (samplesPerRequest, facts, why) => {
    const one = model(['FP32 [-1, 4]'], ['FP32 [-1]'], facts);
    expect(() => layoutOf(one, { samplesPerRequest })).toThrow(why);
  });

  it('refuses --oip-batch where an output has no axis of samples', () => {
    const facts = model(['FP32 [-1, 4]'], ['FP32 [10]']);
    expect(() => layoutOf(facts, { samplesPerRequest: 2 })).toThrow(
      '--oip-batch 2: a request to model net has one sample, as the first axis of out0 FP32 [10] is not free',
    );
  });
});

describe('requestPlan', () => {
  const facts = model(['FP32 [-1, 4]'], ['FP32 [-1]']);
  const layout = requestLayout(benchmarkRules('custom'), facts, asked, undefined, undefined);
  const choice = {
    model: { name: 'net', version: '' },
    method: 'unary',
    contents: 'raw',
    samplesPerRequest: 1,
    isUniform: true,
  } as const;

  it('sends raw contents of one size as they are, all else as encoded fields', () => {
    expect(requestPlan(layout, { ...choice, samplesPerRequest: 8 })).toMatchObject({
      payloadForm: 'tensors',
      inputs: [{ name: 'in0', sampleShape: [4], sampleBytes: 16 }],
      samplesPerRequest: 8,
    });
    expect(requestPlan(layout, { ...choice, contents: 'typed' }).payloadForm).toBe('fields');
    expect(requestPlan(layout, { ...choice, isUniform: false })).toMatchObject({
      payloadForm: 'fields',
      inputs: [],
    });
  });

  it('refuses several samples in a request of encoded fields', () => {
    const several = { ...choice, isUniform: false, samplesPerRequest: 8 };
    expect(() => requestPlan(layout, several)).toThrow(/^--oip-batch 8: samples differ/);
  });
});

/** @param inputs Such as `FP32 [-1, 3]`. */
function model(
  inputs: readonly string[],
  outputs: readonly string[],
  more: Partial<OipModelFacts> = {},
): OipModelFacts {
  return {
    address: '10.0.0.2:8001',
    server: { name: 'triton', version: '2', extensions: [] },
    name: 'net',
    versions: ['1'],
    platform: '',
    inputs: inputs.map((text, i) => tensor(`in${i}`, text)),
    outputs: outputs.map((text, i) => tensor(`out${i}`, text)),
    batchSizeMax: undefined,
    isDecoupled: undefined,
    hasStream: undefined,
    hasStatistics: false,
    ...more,
  };
}

function tensor(name: string, text: string): OipTensor {
  const [datatype, shape] = text.split(' [');
  return {
    name,
    datatype: datatype as OipTensor['datatype'],
    shape: JSON.parse(`[${shape}`) as number[],
  };
}
