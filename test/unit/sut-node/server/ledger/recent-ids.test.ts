import { describe, expect, it } from 'vitest';
import { RecentIds } from '../../../../../sut-node/server/ledger/recent-ids.ts';

// Goal: a repeated id is noticed, and memory stays bounded over a long run.
// Method: dense, sparse and huge ids; more of them than are remembered.
describe('RecentIds', () => {
  it.each([
    ['dense', (i: number) => i],
    ['far apart', (i: number) => i * 65_536],
    ['different in the high half only', (i: number) => (i + 1) * 2 ** 32],
    ['up to 2^53 - 1', (i: number) => Number.MAX_SAFE_INTEGER - 1 - i],
  ])('notices repeated ids that are %s', (_case, idOf) => {
    const ids = new RecentIds(10_000);
    for (let i = 0; i < 5_000; i += 1) expect(ids.add(idOf(i))).toBe(true);
    for (let i = 0; i < 5_000; i += 1) expect(ids.add(idOf(i))).toBe(false);
  });

  it('remembers at least as many as asked for, and forgets in the end', () => {
    const ids = new RecentIds(100);
    for (let i = 0; i < 1_000; i += 1) ids.add(i);
    for (let i = 900; i < 1_000; i += 1) expect(ids.add(i)).toBe(false);
    expect(ids.add(0)).toBe(true);
  });
});
