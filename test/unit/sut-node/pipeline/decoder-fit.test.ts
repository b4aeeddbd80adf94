import { describe, expect, it } from 'vitest';
import type { DecoderLayout } from '../../../../sut-node/model/model-facts.ts';
import { sequenceBytes, sequencesThatFit } from '../../../../sut-node/pipeline/decoder-fit.ts';

// Goal: the keys and values of all sequences under way never exceed their share of the memory.
// Method: sizes of a model, by hand.

const LAYOUT: DecoderLayout = {
  ...{ layers: 4, heads: 8, headWidth: 64, vocabulary: 1000, hasPositions: true },
  ...{ cacheType: 'float16', logitsType: 'float' },
};
const LIMITS = { promptTokensMax: 900, newTokensMin: 1, newTokensMax: 100, endToken: 2 };

describe('sequenceBytes', () => {
  it('counts keys and values of all layers at the longest, of each beam', () => {
    // 1,000 tokens, 2 x 4 tensors, 8 x 64 numbers of 2 bytes.
    expect(sequenceBytes(LAYOUT, LIMITS)).toBe(1000 * 8 * 512 * 2);
    expect(sequenceBytes({ ...LAYOUT, cacheType: 'float' }, LIMITS)).toBe(1000 * 8 * 512 * 4);
    expect(sequenceBytes(LAYOUT, { ...LIMITS, beams: 4 })).toBe(4 * 1000 * 8 * 512 * 2);
  });
});

describe('sequencesThatFit', () => {
  const ROW_BYTES = sequenceBytes(LAYOUT, LIMITS);
  const places = (rows: number, most: number, asked?: number): number =>
    sequencesThatFit(LAYOUT, LIMITS, { bytesMax: rows * ROW_BYTES, most, asked });

  it('gives as many as fit, up to the most', () => {
    expect(places(10.5, 32)).toBe(10);
    expect(places(10.5, 8)).toBe(8);
    expect(places(10.5, 8, 8)).toBe(8);
  });

  it.each([
    [0.9, undefined, /room for 0 sequences, not 1; set a smaller --batch-size-max/],
    [10.5, 11, /takes up to 8 MiB, and a worker has 83 MiB .* room for 10 sequences, not 11/],
  ])('refuses room for %d sequences for %s', (rows, asked, message) => {
    expect(() => places(rows, 32, asked)).toThrow(message);
  });
});
