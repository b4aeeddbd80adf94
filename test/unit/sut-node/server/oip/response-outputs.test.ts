import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { OipTensor } from '../../../../../shared/domain/tensors.ts';
import { StreamRefusal } from '../../../../../sut-node/server/limits/call-end.ts';
import { responseOutputs } from '../../../../../sut-node/server/oip/response-encoder.ts';
import { oipTestModel } from '../../../../scenes/oip-server/oip-scene.ts';

// Goal: the responses of a request's samples become tensors of the right shapes, or nothing.
// Method: small outputs.

const Y: OipTensor = { name: 'y', datatype: 'UINT8', shape: [2] };
const FREE: OipTensor = { name: 'free', datatype: 'INT16', shape: [2, -1] };
const Z: OipTensor = { name: 'z', datatype: 'UINT8', shape: [1] };
const MODEL = oipTestModel({ outputs: [Y, FREE, Z] });

function cut(model: typeof MODEL, asked: readonly OipTensor[], payloads: readonly number[][]) {
  const outputs = responseOutputs(
    model,
    asked,
    payloads.map((one) => Uint8Array.from(one)),
  );
  return outputs.map(({ name, shape, rows }) => [name, shape, rows.flatMap((row) => [...row])]);
}

describe('the outputs of a response', () => {
  it('are cut out of every sample, with the length of the one free axis', () => {
    const payloads = [
      [1, 2, 10, 0, 11, 0, 3],
      [4, 5, 12, 0, 13, 0, 6],
    ];
    expect(cut(MODEL, [Z, FREE, Y], payloads)).toEqual([
      ['z', [2, 1], [3, 6]],
      ['free', [2, 2, 1], [10, 0, 11, 0, 12, 0, 13, 0]],
      ['y', [2, 2], [1, 2, 4, 5]],
    ]);
  });

  it('may be empty', () => {
    expect(cut(MODEL, [FREE], [[1, 2, 3]])).toEqual([['free', [1, 2, 0], []]]);
  });

  it('have no axis of samples where the model has none', () => {
    const model = oipTestModel({ outputs: [Y], hasBatchAxis: false });
    expect(cut(model, [Y], [[1, 2]])).toEqual([['y', [2], [1, 2]]]);
  });

  it.each<[string, readonly OipTensor[], number[][], status, RegExp]>([
    [
      'samples differ in length',
      [Y, FREE, Z],
      [
        [1, 2, 3],
        [1, 2, 0, 0, 0, 0, 3],
      ],
      status.FAILED_PRECONDITION,
      /differ in length \(3 and 7 bytes\)/,
    ],
    ['bytes are missing', [Y, Z], [[1, 2]], status.INTERNAL, /has 2 bytes, .* "y" of UINT8 \[2\]/],
    ['there are too many', [Y], [[1, 2, 3]], status.INTERNAL, /has 3 bytes/],
    ['a free axis would be broken', [FREE], [[1, 2, 3]], status.INTERNAL, /"free" of INT16/],
  ])('are none where %s', (_case, outputs, payloads, code, text) => {
    let refusal: unknown;
    try {
      cut(oipTestModel({ outputs }), outputs, payloads);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(StreamRefusal);
    const { end } = refusal as StreamRefusal;
    expect(end.code).toBe(code);
    expect(end.details).toMatch(text);
  });
});
