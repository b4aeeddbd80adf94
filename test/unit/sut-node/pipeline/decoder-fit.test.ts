import { describe, expect, it } from 'vitest';
import type { DecoderLayout } from '../../../../sut-node/model/model-facts.ts';
import { sequenceBytes, sequencesThatFit } from '../../../../sut-node/pipeline/decoder-fit.ts';

// Goal: the keys and values of all sequences under way never exceed their share of the memory. Method: sizes of a model, by hand.

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
  it('gives as many as fit, up to the most', () => {
    expect(sequencesThatFit(100, 1050, 32, undefined)).toBe(10);
    expect(sequencesThatFit(100, 1050, 8, undefined)).toBe(8);
    expect(sequencesThatFit(100, 1050, 8, 8)).toBe(8);
  });

  it.each([
    [99, undefined, /room for 0 sequences, not 1; set a smaller --batch-size-max/],
    [1050, 11, /takes up to 1 MiB, and a worker has 1 MiB .* room for 10 sequences, not 11/],
  ])('refuses %d bytes for %s sequences of 100', (bytesMax, asked, message) => {
    expect(() => sequencesThatFit(100, bytesMax, 32, asked)).toThrow(message);
  });
});
