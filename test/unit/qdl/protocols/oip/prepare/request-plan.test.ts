import { describe, expect, it } from 'vitest';
import {
  batchLayout,
  requestPlan,
} from '../../../../../../qdl/protocols/oip/prepare/request-plan.ts';
import { benchmarkRules } from '../../../../../../shared/rules/benchmark-rules.ts';
import type { OipModelFacts } from '../../../../../../shared/wire/oip/request-plan.ts';
import { modelOf } from '../../../../../scenes/oip-server/model-of.ts';

// Goal: a request holds several samples only where the model has an axis for them and each has the
// same size. Method: models with and without such an axis.

function layoutOf(facts: OipModelFacts, samplesPerRequest: number, key = 'custom') {
  const asked = { inputShapes: new Map(), samplesPerRequest };
  return batchLayout(benchmarkRules(key), facts, asked, undefined, 16);
}

describe('batchLayout', () => {
  it('refuses --oip-batch where the only free axis is the sample’s own', () => {
    const facts = modelOf(['UINT8 [-1]'], ['UINT8 [-1]']);
    expect(() => layoutOf(facts, 2, 'echo')).toThrow(
      '--oip-batch 2: a request to model net can hold only one sample, because no axis of its inputs (in0 UINT8 [-1]) is left to count samples',
    );
  });

  it.each([
    [9, { batchSizeMax: 8 }, 'takes at most 8 samples per request'],
    [2, { batchSizeMax: 0 }, 'its server reports that no axis counts samples'],
  ])('refuses --oip-batch %i where the model does not take it', (samplesPerRequest, facts, why) => {
    const one = modelOf(['FP32 [-1, 4]'], ['FP32 [-1]'], facts);
    expect(() => layoutOf(one, samplesPerRequest)).toThrow(why);
  });

  it('refuses --oip-batch where an output has no axis of samples', () => {
    const facts = modelOf(['FP32 [-1, 4]'], ['FP32 [10]']);
    expect(() => layoutOf(facts, 2)).toThrow(
      '--oip-batch 2: a request to model net can hold only one sample, because the first axis of out0 FP32 [10] is not free',
    );
  });
});

describe('requestPlan', () => {
  const facts = modelOf(['FP32 [-1, 4]'], ['FP32 [-1]']);
  const layout = layoutOf(facts, 1);
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
