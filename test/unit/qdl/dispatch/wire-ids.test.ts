import { describe, expect, it } from 'vitest';
import { WireIds } from '../../../../qdl/dispatch/wire-ids.ts';

// Goal: an id leads to its slot, is used once, and tells nothing of the next one.
// Method: all ids where they are few, and thousands where they are many.

const ALONE = { streamIndex: 0, streamCount: 1 };

describe('WireIds', () => {
  it('gives each use of a slot an id of its own, and uses all that there are', () => {
    // So many slots leave 2^12 ids to each.
    const ids = new WireIds(2 ** 40, ALONE);
    expect(ids.usesMax).toBe(2 ** 12);
    for (const slot of [0, 1, 2 ** 40 - 1]) {
      const seen = new Set(Array.from({ length: 2 ** 12 }, (_, use) => ids.idOf(slot, use)));
      expect(seen.size).toBe(2 ** 12);
      expect([...seen].every((id) => ids.slotOf(id) === slot)).toBe(true);
    }
  });

  it.each([1, 2, 3, 7, 64, 1_000])('leads from an id to its slot on one of %i streams', (count) => {
    for (const streamIndex of [0, count - 1]) {
      const ids = new WireIds(65_536, { streamIndex, streamCount: count });
      for (const slot of [0, 1, 32_767, 65_535]) {
        for (let use = 0; use < 500; use += 1) {
          const id = ids.idOf(slot, use);
          expect([ids.slotOf(id), id % count]).toEqual([slot, streamIndex]);
          expect(id < 2 ** 52 && Number.isInteger(id)).toBe(true);
        }
      }
    }
  });

  it('makes other ids with another key', () => {
    const [a, b] = [new WireIds(65_536, ALONE), new WireIds(65_536, ALONE)];
    const same = Array.from({ length: 1_000 }, (_, use) => a.idOf(0, use) === b.idOf(0, use));
    expect(same.filter(Boolean)).toEqual([]);
  });

  it('gives no hint of the next one: half of the bits change, whatever the step', () => {
    const keys = Uint32Array.from({ length: 16 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
    const ids = new WireIds(65_536, ALONE, keys);
    const tagOf = (slot: number, use: number): number => Math.floor(ids.idOf(slot, use) / 65_536);
    const changed = new Float64Array(36);
    const differences = new Set<number>();
    const count = 20_000;
    for (let i = 0; i < count; i += 1) {
      // One slot after its own last use, and two slots with as many uses.
      const [before, after] =
        i % 2 === 0 ? [tagOf(0, i), tagOf(0, i + 1)] : [tagOf(i, 0), tagOf(i + 1, 0)];
      differences.add(after - before);
      for (let bit = 0; bit < changed.length; bit += 1) {
        const isOther = Math.floor(before / 2 ** bit) % 2 !== Math.floor(after / 2 ** bit) % 2;
        if (isOther) changed[bit] = (changed[bit] as number) + 1;
      }
    }
    // Ten standard deviations: half of them, give or take 700.
    for (const times of changed) expect(Math.abs(times - count / 2)).toBeLessThan(707);
    expect(differences.size).toBeGreaterThan(count - 10);
  });
});
