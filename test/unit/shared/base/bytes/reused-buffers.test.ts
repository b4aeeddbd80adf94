import { describe, expect, it } from 'vitest';
import { ReusedBuffers } from '../../../../../shared/base/bytes/borrowed-bytes.ts';

// Goal: memory is used again, and a small message does not hold a large message's memory where a
// smaller one is free. Method: buffers of several sizes, taken and given back.

const KIB = 1024;

function withFree(buffers: ReusedBuffers, sizes: readonly number[]): ArrayBuffer[] {
  const taken = sizes.map((bytes) => buffers.take(bytes));
  for (const buffer of taken) buffers.giveBack(buffer);
  return taken;
}

describe('reused buffers', () => {
  it('gives the smallest that is large enough, whatever came back first', () => {
    const buffers = new ReusedBuffers(8);
    const [large, small, medium] = withFree(buffers, [8192 * KIB, 64 * KIB, 1024 * KIB]);
    expect(buffers.take(17 * KIB)).toBe(small);
    expect(buffers.take(17 * KIB)).toBe(medium);
    expect(buffers.take(17 * KIB)).toBe(large);
    expect([large, small, medium]).not.toContain(buffers.take(17 * KIB));
  });

  it('lets one go where all are too small', () => {
    const buffers = new ReusedBuffers(2);
    const [first, second] = withFree(buffers, [64 * KIB, 64 * KIB]);
    expect(buffers.take(1024 * KIB).byteLength).toBeGreaterThanOrEqual(1024 * KIB);
    expect(buffers.take(KIB)).toBe(second);
    expect(buffers.take(KIB)).not.toBe(first);
  });

  it('keeps none that is larger than its limit, and no more than its count', () => {
    const buffers = new ReusedBuffers(1, 100 * KIB);
    const [large, kept] = withFree(buffers, [8192 * KIB, 64 * KIB, 64 * KIB]);
    expect(buffers.take(KIB)).toBe(kept);
    expect(buffers.take(KIB)).not.toBe(large);
  });
});
