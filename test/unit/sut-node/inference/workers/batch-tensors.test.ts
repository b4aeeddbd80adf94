import { describe, expect, it } from 'vitest';
import { BatchTensors } from '../../../../../sut-node/inference/workers/batch-tensors.ts';

// Goal: memory is used again, but that of an unusually large batch is not held for good.
describe('BatchTensors.layOut', () => {
  const inputs = [{ name: 'x', elementType: 'float', sampleShape: [-1] }];
  const bytesOf = (tensors: BatchTensors) => tensors.tensors[0]?.data.buffer.byteLength;

  it('keeps memory up to a bound, and gives more than that back', () => {
    const tensors = new BatchTensors(inputs, true, 100);
    const sizes = [
      [1, 20],
      [1, 1],
      [4, 20],
      [4, 20],
      [4, 19],
      [1, 1],
    ].map(([rows, length]) => {
      tensors.layOut(rows as number, length as number);
      return bytesOf(tensors);
    });
    expect(sizes).toEqual([80, 80, 320, 320, 304, 4]);
  });
});
