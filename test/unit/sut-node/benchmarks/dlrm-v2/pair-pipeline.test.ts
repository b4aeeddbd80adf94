import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../../shared/benchmarks/digits/seeded-random.ts';
import {
  DENSE_COUNT,
  MULTI_HOT_SIZES,
  PAIR_BYTES,
  SPARSE_COUNT,
  TABLE_ROWS,
} from '../../../../../shared/rules/cards/dlrm-v2.ts';
import { openPairPipeline } from '../../../../../sut-node/benchmarks/dlrm-v2/pair-pipeline.ts';
import type { InputTensor, RunModel } from '../../../../../sut-node/model/model-facts.ts';

// Goal: the pairs of several samples go through the model as rows of one inference, each row with
// its own features, and every sample gets its own probabilities. Method: a model that tells of each
// row a sum of all its features, in all forms of its inputs.

const sparseInputs = (elementType: string) =>
  MULTI_HOT_SIZES.map((size, i) => ({ name: `sparse_${i}`, elementType, shape: [-1, size] }));
const DENSE = { name: 'dense', elementType: 'float', shape: [-1, DENSE_COUNT] };
const OUTPUTS = [{ name: 'probability', elementType: 'float', shape: [-1] }];
const FORMS = {
  int32: [DENSE, ...sparseInputs('int32')],
  int64: [...sparseInputs('int64'), DENSE],
  joined: [DENSE, { name: 'sparse', elementType: 'int64', shape: [-1, SPARSE_COUNT] }],
};

const open = (inputs: typeof FORMS.int32, outputs = OUTPUTS) =>
  openPairPipeline({ file: 'net.onnx', inputs, outputs });

function add(sums: Float32Array, at: number, value: number): void {
  sums[at] = (sums[at] as number) + value;
}

/** A pair's features, drawn, and their weighted sum as the model makes it. */
function drawSample(random: SeededRandom, pairs: number) {
  const payload = new Uint8Array(pairs * PAIR_BYTES);
  const sums = new Float32Array(pairs);
  const dense = new Float32Array(payload.buffer, 0, pairs * DENSE_COUNT);
  for (let i = 0; i < dense.length; i += 1) {
    dense[i] = random.integerBelow(9) - 4;
    add(sums, Math.floor(i / DENSE_COUNT), (dense[i] as number) * ((i % DENSE_COUNT) + 1));
  }
  let [at, column] = [dense.byteLength, 0];
  for (const [table, size] of MULTI_HOT_SIZES.entries()) {
    const indices = new Int32Array(payload.buffer, at, pairs * size);
    for (let i = 0; i < indices.length; i += 1) {
      indices[i] = random.integerBelow(Math.min(TABLE_ROWS[table] as number, 50));
      add(sums, Math.floor(i / size), (indices[i] as number) * (column + (i % size)));
    }
    at += indices.byteLength;
    column += size;
  }
  return { payload, sums };
}

function fakeModel() {
  const calls: number[] = [];
  const run: RunModel = async (inputs) => {
    const pairs = inputs[0]?.dims[0] ?? 0;
    calls.push(pairs);
    const data = new Float32Array(pairs);
    const addAll = (
      { data: values, dims: [, width = 0] }: InputTensor,
      weight: (i: number) => number,
    ) => {
      expect(values).toHaveLength(pairs * width);
      for (let i = 0; i < values.length; i += 1) {
        add(data, Math.floor(i / width), Number(values[i]) * weight(i % width));
      }
    };
    let column = 0;
    for (const input of inputs) {
      const first = column;
      if (input.name === 'dense') addAll(input, (i) => i + 1);
      else addAll(input, (i) => first + i);
      if (input.name !== 'dense') column += input.dims[1] ?? 0;
    }
    return new Map([['probability', { data, dims: [pairs] }]]);
  };
  return { calls, run };
}

const sample = (payload: Uint8Array) => ({ payload, form: 'raw' });
const floats = (bytes: Uint8Array | Error | undefined) =>
  bytes instanceof Uint8Array ? new Float32Array(Uint8Array.from(bytes).buffer) : bytes;

describe('openPairPipeline', () => {
  it.each(Object.entries(FORMS))('joins and splits pairs: %s', async (_form, inputs) => {
    const random = new SeededRandom(3, 0);
    const pipeline = open(inputs);
    const samples = [3, 1, 700, 20].map((pairs) => drawSample(random, pairs));
    const { calls, run } = fakeModel();
    const answers = await pipeline.answer(
      samples.map(({ payload }) => sample(payload)),
      run,
    );
    expect(answers.map(floats)).toEqual(samples.map(({ sums }) => sums));
    expect(calls).toEqual([724]);
  });

  it('takes no more pairs at once than memory has room for, and payloads at any address', async () => {
    const random = new SeededRandom(4, 0);
    const samples = Array.from({ length: 9 }, () => drawSample(random, 700));
    const moved = samples.map(({ payload }) => {
      const memory = new Uint8Array(payload.length + 1);
      memory.set(payload, 1);
      return sample(memory.subarray(1));
    });
    const { calls, run } = fakeModel();
    const answers = await open(FORMS.int32).answer(moved, run);
    expect(answers.map(floats)).toEqual(samples.map(({ sums }) => sums));
    expect(calls).toEqual([3500, 2800]);
  });

  it('says what is wrong with a sample, and answers the others', async () => {
    const random = new SeededRandom(5, 0);
    const good = drawSample(random, 2);
    const bad = (change: (numbers: { floats: Float32Array; whole: Int32Array }) => void) => {
      const { payload } = drawSample(random, 2);
      change({ floats: new Float32Array(payload.buffer), whole: new Int32Array(payload.buffer) });
      return sample(payload);
    };
    const { calls, run } = fakeModel();
    const answers = await open(FORMS.int32).answer(
      [
        sample(new Uint8Array(0)),
        sample(new Uint8Array(PAIR_BYTES + 4)),
        bad(({ floats: numbers }) => (numbers[25] = Number.NaN)),
        sample(good.payload),
        bad(({ whole }) => (whole[2 * DENSE_COUNT] = -1)),
        bad(({ whole }) => (whole[2 * DENSE_COUNT + 2 * SPARSE_COUNT - 1] = 36)),
      ],
      run,
    );
    expect(calls).toEqual([2]);
    expect(floats(answers[3])).toEqual(good.sums);
    expect(answers.map((answer) => (answer instanceof Error ? answer.message : 'good'))).toEqual([
      expect.stringContaining('908 bytes per pair (13 float32 and 214 int32); this payload has 0'),
      expect.stringContaining('this payload has 912'),
      'element 25 of "dense" is NaN or infinite',
      'good',
      'element 0 of "sparse_0" is -1; the table has the rows 0 to 39,999,999',
      'element 1 of "sparse_25" is 36; the table has the rows 0 to 35',
    ]);
  });

  it('fails a sample of which a probability is NaN, and all where the output has another length', async () => {
    const { payload } = drawSample(new SeededRandom(6, 0), 2);
    const output =
      (...values: number[]): RunModel =>
      async () =>
        new Map([['probability', { data: Float32Array.from(values), dims: [values.length] }]]);
    const { answer } = open(FORMS.int32);
    const two = [sample(payload), sample(payload)];
    const answers = await answer(two, output(0.5, 0.25, 0, Number.NaN));
    expect(floats(answers[0])).toEqual(Float32Array.of(0.5, 0.25));
    expect(answers[1]).toMatchObject({ message: "the model's probability of pair 1 is NaN" });
    await expect(answer(two, output(1, 2, 3))).rejects.toThrow(
      'output "probability" of the model has Float32Array [3] for 4 pairs; a float per pair is needed',
    );
  });

  it('has a payload for warm-up', async () => {
    const pipeline = open(FORMS.int32);
    const [answer] = await pipeline.answer([pipeline.warmUpPayload()], fakeModel().run);
    expect(answer).toEqual(new Uint8Array(400));
  });

  it.each([
    [
      'a table less',
      FORMS.int32.slice(0, -1),
      OUTPUTS,
      /does not fit the benchmark dlrm-v2: expected input dense: float \[batch, 13\]; sparse_0/,
    ],
    ['floats as indices', [DENSE, ...sparseInputs('float')], OUTPUTS, /expected input/],
    [
      'another output',
      FORMS.int32,
      [{ name: 'y', elementType: 'float', shape: [-1] }],
      /expected output probability; found y/,
    ],
    [
      'a fixed number of pairs',
      [{ ...DENSE, shape: [64, 13] }, ...sparseInputs('int32')],
      OUTPUTS,
      /first axis of input dense is fixed at 64; it must be free/,
    ],
  ])('refuses a model with %s', (_what, inputs, outputs, message) => {
    expect(() => open(inputs, outputs)).toThrow(message);
  });
});
