import { describe, expect, it } from 'vitest';
import { benchmark } from '../../../../sut-node/benchmarks/digits/benchmark.ts';
import type { ModelTensor, PipelineInput } from '../../../../sut-node/model/model-facts.ts';
import {
  batchShapeOf,
  checkBatchSize,
  checkFreeAxes,
} from '../../../../sut-node/pipeline/model-fit.ts';
import { DIGITS_MODEL, digitsPipeline } from '../../../scenes/simulated-run/sut-parts.ts';

const [input] = digitsPipeline().inputs as [PipelineInput];
const INPUT: ModelTensor = {
  name: input.name,
  elementType: 'float',
  shape: [-1, ...input.sampleShape],
};
const OUTPUTS = DIGITS_MODEL.outputs;

function check(inputs: readonly ModelTensor[], outputs = OUTPUTS, batchSize = 8): void {
  const model = { file: 'my.onnx', inputs, outputs };
  benchmark.openPipeline(model, {});
  checkBatchSize(model, batchShapeOf(model, {}), batchSize);
}

// Goal: a model that the node cannot serve is refused before the run, in words that help.
// Method: the benchmark's own tensors, changed in one place each.
describe('checkModelFits', () => {
  it('accepts the benchmark’s own tensors', () => {
    expect(() => check([INPUT])).not.toThrow();
  });

  it('accepts a batch axis of 1 when batches have one sample', () => {
    const fixed = { ...INPUT, shape: [1, ...input.sampleShape] };
    expect(() => check([fixed], OUTPUTS, 1)).not.toThrow();
  });

  it.each([
    ['another name', [{ ...INPUT, name: 'pixels' }], 'found pixels: float'],
    ['another type', [{ ...INPUT, elementType: 'uint8' }], `found ${input.name}: uint8`],
    ['another shape', [{ ...INPUT, shape: [-1, 3, 224, 224] }], '[free, 3, 224, 224]'],
    ['another rank', [{ ...INPUT, shape: [-1, 9] }], '[free, 9]'],
    ['no input', [], 'found none'],
    ['a second input', [INPUT, { ...INPUT, name: 'mask' }], 'mask: float'],
  ])('refuses %s of the input and shows both', (_case, inputs, found) => {
    const expected = `expected input ${input.name}: float [batch, ${input.sampleShape.join(', ')}]`;
    expect(() => check(inputs)).toThrow(expected);
    expect(() => check(inputs)).toThrow(found);
  });

  it('refuses a description that the benchmark would not follow', () => {
    const usage = { postprocess: 'class' } as const;
    expect(() => benchmark.openPipeline(DIGITS_MODEL, usage)).toThrow(
      `the description's "postprocess" has no effect, because the benchmark digits decides`,
    );
  });

  it('refuses a model without the outputs that are read', () => {
    const other = [{ name: 'y', elementType: 'float', shape: [-1, 10] }];
    expect(() => check([INPUT], other)).toThrow('found y: float [free, 10]');
  });

  it.each([
    [1, 8],
    [7, 8],
  ])('refuses a batch axis of %i when batches of %i are requested', (axis, asked) => {
    const fixed = { ...INPUT, shape: [axis, ...input.sampleShape] };
    expect(() => check([fixed], OUTPUTS, asked)).toThrow(
      /takes batches of \d, not --batch-size-max 8, because the model has no free batch axis/,
    );
  });

  it('accepts a batch axis of 8 when batches of 8 are requested', () => {
    expect(() => check([{ ...INPUT, shape: [8, ...input.sampleShape] }])).not.toThrow();
  });
});

// Goal: a description that has no effect is refused, and says what the model has.
describe('checkFreeAxes', () => {
  const inputs = [{ name: 'x', elementType: 'float', sampleShape: [3, 4] }];

  it('refuses padding where every sample has the same shape', () => {
    expect(() => checkFreeAxes({ inputs }, { freeAxes: 'pad' })).toThrow(
      /"freeAxes: pad" has no effect: no axis of a sample is free \(.*float \[3, 4\]\); remove it from the description/,
    );
  });

  it('takes it where there is something to pad, and leaves other descriptions alone', () => {
    checkFreeAxes({ inputs, lengthOf: () => 1 }, { freeAxes: 'pad' });
    checkFreeAxes({ inputs }, { freeAxes: 'group' });
    checkFreeAxes({ inputs }, {});
  });
});
