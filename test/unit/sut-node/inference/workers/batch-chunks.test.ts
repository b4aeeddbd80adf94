import { describe, expect, it } from 'vitest';
import { cutIntoChunks } from '../../../../../sut-node/inference/workers/batch-tensors.ts';

// Goal: one long sample does not make a batch of any size as long as it is.
describe('cutIntoChunks with padding', () => {
  function cut(lengths: readonly number[], paddedBytesMax: number) {
    const rows = [...lengths.keys()];
    const limits = { sizeMax: 8, freeAxes: 'pad', paddedBytesMax } as const;
    return cutIntoChunks(rows, (row) => lengths[row] as number, {
      ...limits,
      bytesOf: (length) => 4 * length,
    });
  }

  it('leaves a batch whole that is within the bytes', () => {
    expect(cut([1, 10, 2], 120)).toEqual([{ rows: [0, 1, 2], freeLength: 10 }]);
  });

  it('takes long samples apart from short ones, each in its order', () => {
    expect(cut([9, 1, 30, 3, 1, 30, 2], 250)).toEqual([
      { rows: [0, 1, 3, 4, 6], freeLength: 9 },
      { rows: [2, 5], freeLength: 30 },
    ]);
  });

  it('lets a sample through that is larger by itself', () => {
    expect(cut([1_000, 1, 1_000], 100)).toEqual([
      { rows: [1], freeLength: 1 },
      { rows: [0], freeLength: 1_000 },
      { rows: [2], freeLength: 1_000 },
    ]);
  });
});
