import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CLASS_COUNT,
  RAW_IMAGE_BYTES,
} from '../../../../../shared/benchmarks/digits/digit-sets.ts';
import { renderDigit } from '../../../../../shared/benchmarks/digits/draw-digit.ts';
import { EVALUATION_SET, TRAINING_SET } from '../../../../../shared/rules/cards/digits.ts';
import { IS_THOROUGH } from '../../../../scenes/host/thorough.ts';

// Goal: every machine draws the same data set, and the evaluation set is unseen by the fit.
// Method: a pinned checksum over pixels, and comparison of the sets by checksum of each image.
function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('renderDigit', () => {
  it('draws the same pixels on every machine', () => {
    // A change of this value is a new data set: raise DRAWING_REVISION with it.
    const hash = createHash('sha256');
    for (let index = 0; index < 200; index += 1) {
      const { label, rgb } = renderDigit(EVALUATION_SET, index);
      hash.update(Uint8Array.of(label)).update(rgb);
    }
    expect(hash.digest('hex')).toBe(
      'd4c52a4eddf5351e9016ef8b9761feb62074946c7781ab2bbe1a8d2e6bddd8f9',
    );
  });

  it('draws an image again without having drawn others before', () => {
    renderDigit(EVALUATION_SET, 0);
    const later = renderDigit(EVALUATION_SET, 7);
    expect(hashOf(later.rgb)).toBe(hashOf(renderDigit(EVALUATION_SET, 7).rgb));
  });

  it('fills the raw form of an image', () => {
    expect(renderDigit(TRAINING_SET, 0).rgb).toHaveLength(RAW_IMAGE_BYTES);
  });

  it.runIf(IS_THOROUGH)('draws each digit about equally often', () => {
    const counts = new Array<number>(CLASS_COUNT).fill(0);
    for (let index = 0; index < EVALUATION_SET.sampleCount; index += 1) {
      const { label } = renderDigit(EVALUATION_SET, index);
      counts[label] = (counts[label] ?? 0) + 1;
    }
    expect(Math.min(...counts)).toBeGreaterThan(90);
    expect(Math.max(...counts)).toBeLessThan(150);
  });

  it.runIf(IS_THOROUGH)('draws no image of the evaluation set for the training set', () => {
    const training = new Set<string>();
    for (let index = 0; index < TRAINING_SET.sampleCount; index += 1) {
      training.add(hashOf(renderDigit(TRAINING_SET, index).rgb));
    }
    expect(training.size).toBe(TRAINING_SET.sampleCount);
    for (let index = 0; index < EVALUATION_SET.sampleCount; index += 1) {
      expect(training.has(hashOf(renderDigit(EVALUATION_SET, index).rgb))).toBe(false);
    }
  });
});
