import { describe, expect, it } from 'vitest';
import { toSmallFloat } from '../../../../loadgen-node/samples/tensors/small-float.ts';
import { asFloats, floatSession, halvesOf } from '../../../../sut-node/model/onnx/half-session.ts';
import type { ModelSession } from '../../../../sut-node/model/onnx/ort-session.ts';

// Goal: a pipeline that counts in float runs a model of float16, each number rounded once and to
// the nearest. Method: all float16 there and back; random floats against the writer of .jsonl
// samples; a session that answers with its input.

const ALL = Uint16Array.from({ length: 65_536 }, (_, half) => half);

/** Answers with its input, as float16. */
const mirror: ModelSession = {
  tensors: {
    inputs: [
      { name: 'x', elementType: 'float16', shape: [-1] },
      { name: 'ids', elementType: 'int64', shape: [-1] },
    ],
    outputs: [
      { name: 'y', elementType: 'float16', shape: [-1] },
      { name: 'types', elementType: 'float', shape: [-1] },
    ],
  },
  run: async (inputs) => {
    const [{ data, dims }] = inputs as [(typeof inputs)[number]];
    const types = inputs.map(({ elementType }) => (elementType === 'float16' ? 16 : 0));
    return new Map([
      ['y', { data, dims }],
      ['types', { data: Float32Array.from(types), dims: [types.length] }],
    ]);
  },
};

async function roundTrip(values: Float32Array): Promise<Float32Array> {
  const x = { name: 'x', elementType: 'float', data: values, dims: [values.length] };
  const ids = { name: 'ids', elementType: 'int64', data: BigInt64Array.of(1n), dims: [1] };
  const outputs = await floatSession(mirror).run([x, ids], ['y', 'types']);
  expect([...(outputs.get('types')?.data ?? [])]).toEqual([16, 0]);
  return outputs.get('y')?.data as Float32Array;
}

describe('floatSession', () => {
  it('gives each float16 back as it was', async () => {
    const floats = await roundTrip(new Float32Array(0)).then(async () => {
      const source: ModelSession = {
        ...mirror,
        run: async () => new Map([['y', { data: ALL, dims: [ALL.length] }]]),
      };
      return (await floatSession(source).run([], ['y'])).get('y')?.data as Float32Array;
    });
    const isNumber = (half: number) => (half & 0x7c00) !== 0x7c00 || (half & 0x3ff) === 0;
    const back = halvesOf(floats);
    expect(ALL.filter((half) => isNumber(half) && back[half] !== half)).toHaveLength(0);
    expect(floats.filter((value) => Number.isNaN(value))).toHaveLength(2 * 1023);
    expect([floats[0x3c00], floats[0x8001], floats[0x7bff]]).toEqual([1, -(2 ** -24), 65_504]);
  });

  it('rounds to the nearest, a tie to the even one, and overflows to infinity', () => {
    const cases = [1 + 2 ** -11, 1 + 3 * 2 ** -11, 2 ** -25, 3 * 2 ** -25, 65_519, 65_520, -1e9];
    expect([...halvesOf(Float32Array.from(cases))]).toEqual([
      0x3c00, 0x3c02, 0, 2, 0x7bff, 0x7c00, 0xfc00,
    ]);
    let seed = 1;
    const words = Uint32Array.from({ length: 20_000 }, () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed;
    });
    const values = new Float32Array(words.buffer);
    const halves = halvesOf(values);
    const expected = Array.from(values, (value) =>
      Number.isNaN(value)
        ? undefined
        : (toSmallFloat(value, 'FP16') ?? (value < 0 ? 0xfc00 : 0x7c00)),
    );
    expect(expected.findIndex((half, i) => half !== undefined && half !== halves[i])).toBe(-1);
  });

  it('leaves other tensors and other models alone', () => {
    expect(asFloats(mirror.tensors).inputs.map(({ elementType }) => elementType)).toEqual([
      'float',
      'int64',
    ]);
    const plain: ModelSession = { ...mirror, tensors: { inputs: [], outputs: [] } };
    expect(floatSession(plain)).toBe(plain);
  });
});
