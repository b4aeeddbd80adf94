import { describe, expect, it } from 'vitest';
import { benchmark as loadgenBenchmark } from '../../../../../loadgen-node/samples/benchmarks/bert/benchmark.ts';
import { benchmark } from '../../../../../sut-node/benchmarks/bert/benchmark.ts';
import type { ModelTensor } from '../../../../../sut-node/model/model-facts.ts';

// Goal: payloads of each form become the same inputs, in the names, types and lengths of the model;
// outputs become the bytes that accuracy-squad.py reads; all else is refused. Method: samples of a
// golden data set, and models that differ from the reference in one thing.

const NAMES = ['input_ids', 'input_mask', 'segment_ids'];
const OUTPUTS = ['output_start_logits', 'output_end_logits'];
const tensors = (
  names: readonly string[],
  elementType: string,
  shape: readonly number[],
): ModelTensor[] => names.map((name) => ({ name, elementType, shape }));

function open({ names = NAMES, type = 'int64', shape = [-1, 384], outputs = OUTPUTS } = {}) {
  const model = {
    file: 'm.onnx',
    inputs: tensors(names, type, shape),
    outputs: tensors(outputs, 'float', shape),
  };
  return benchmark.openPipeline(model, {});
}

const { readPayload } = await loadgenBenchmark.openDataSet({
  ...{ dataFolder: 'test/golden/benchmarks/bert/a', cacheFolder: '/unused', onProgress: () => {} },
});

async function inputsOf(
  pipeline: ReturnType<typeof open>,
  payload: Uint8Array,
  form: string,
  length = 384,
) {
  const Elements = pipeline.inputs[0]?.elementType === 'int64' ? BigInt64Array : Int32Array;
  const targets = NAMES.map(() => new Elements(length));
  await pipeline.preprocess(payload, form, targets);
  return targets.map((target) => Array.from(target as ArrayLike<number | bigint>, Number));
}

describe('the pipeline of bert', () => {
  it.each(['int64', 'int32'])(
    'makes the same inputs of all forms, for a model of %s',
    async (type) => {
      const pipeline = open({ type });
      for (const index of [0, 1, 50]) {
        const whole = new Int32Array((await readPayload(index, 'int32')).buffer as ArrayBuffer);
        const expected = [0, 1, 2].map((i) => [...whole.subarray(384 * i, 384 * (i + 1))]);
        for (const form of ['ids', 'int32', 'int64']) {
          // At a place where no int32 could begin.
          const payload = Buffer.concat([
            Uint8Array.of(7),
            await readPayload(index, form),
          ]).subarray(1);
          expect(await inputsOf(pipeline, payload, form)).toEqual(expected);
        }
      }
    },
  );

  it('keeps the order of the payload whatever the order of the model, and takes the names of the int8 file', () => {
    const pipeline = open({ names: ['token_type_ids', 'attention_mask', 'input_ids'] });
    expect(pipeline.inputs.map(({ name }) => name)).toEqual([
      'input_ids',
      'attention_mask',
      'token_type_ids',
    ]);
    expect(pipeline.lengthOf).toBeUndefined();
  });

  it('cuts padding off where the model takes any length, in steps of 32', async () => {
    const pipeline = open({ shape: [-1, -1] });
    expect(pipeline.inputs[0]?.sampleShape).toEqual([-1]);
    for (const form of ['ids', 'int32', 'int64']) {
      const lengths = await Promise.all(
        [0, 1].map(async (i) => pipeline.lengthOf?.(await readPayload(i, form), form)),
      );
      expect(lengths).toEqual([160, 96]); // 135 and 87 tokens.
    }
    const [ids, mask] = await inputsOf(pipeline, await readPayload(1, 'ids'), 'ids', 96);
    expect([ids?.[86], ids?.[87], mask?.[86], mask?.[87]]).toEqual([12, 0, 1, 0]);
  });

  it('takes a sample of padding alone, with which clients try a server', async () => {
    const pipeline = open({ shape: [-1, -1] });
    const zeros = new Uint8Array(1536);
    expect(pipeline.lengthOf?.(zeros, 'ids')).toBe(32);
    const nothing = Array(32).fill(0);
    expect(await inputsOf(pipeline, zeros, 'ids', 32)).toEqual([nothing, nothing, nothing]);
  });

  it('answers with start and end logit of 384 positions, and -10000 where the model had none', () => {
    const { postprocess } = open({ shape: [-1, -1] });
    const dims = [2, 3];
    const outputs = new Map([
      ['output_start_logits', { data: Float32Array.of(0, 0, 0, 1, 2, 3), dims }],
      ['output_end_logits', { data: Float32Array.of(0, 0, 0, 4, 5, 6), dims }],
    ]);
    const bytes = postprocess(outputs, 1);
    const logits = new Float32Array(bytes.buffer as ArrayBuffer);
    expect([bytes.length, ...logits.subarray(0, 8)]).toEqual([
      3072, 1, 4, 2, 5, 3, 6, -10000, -10000,
    ]);
    expect(() => postprocess(outputs, 2)).toThrow('has the shape [2, 3], not [batch, 384]');
    outputs.set('output_end_logits', { data: Float32Array.of(0, 0, 0, 4, Number.NaN, 6), dims });
    expect(() => postprocess(outputs, 1)).toThrow('logit 1 of output "output_end_logits" is NaN');
    expect(() => postprocess(outputs, 0)).not.toThrow();
  });

  it.each([
    [
      'a payload of another length',
      'ids',
      new Uint8Array(10),
      'in the form ids has 1536 bytes; this payload has 10',
    ],
    [
      'a token below 0',
      'ids',
      new Uint8Array(Int32Array.from({ length: 384 }, () => -1).buffer),
      'token id -1 at position 0 is below 0',
    ],
    [
      'a mask of 2',
      'int32',
      new Uint8Array(Int32Array.from({ length: 1152 }, () => 2).buffer),
      'the mask have 2 at position 0; expected: 0 or 1',
    ],
    [
      'a number beyond int32',
      'int64',
      new Uint8Array(BigInt64Array.from({ length: 1152 }, () => 2n ** 40n).buffer),
      'element 0 of the payload is not from 0 to 2147483647',
    ],
  ])('refuses %s', async (_case, form, payload, message) => {
    await expect(inputsOf(open(), payload, form)).rejects.toThrow(message);
  });

  it.each([
    [
      'inputs of other names',
      { names: ['a', 'b', 'c'] },
      /expected inputs input_ids, input_mask, segment_ids, or input_ids, attention_mask, .*found a: int64/,
    ],
    ['inputs of floats', { type: 'float' }, /all int64 or all int32 .*found input_ids: float/],
    ['another length', { shape: [-1, 128] }, /\[batch, 384 or free\]; found .*\[free, 128\]/],
    [
      'outputs of other names',
      { outputs: ['x', 'y'] },
      /expected outputs output_start_logits, output_end_logits, float; found x: float/,
    ],
  ])('refuses a model with %s', (_case, model, message) => {
    expect(() => open(model)).toThrow(message);
  });

  it('takes its warm-up sample', async () => {
    const pipeline = open();
    const { form, payload } = pipeline.warmUpPayload();
    const [, mask] = await inputsOf(pipeline, payload, form);
    expect(mask).toEqual(Array(384).fill(1));
  });
});
