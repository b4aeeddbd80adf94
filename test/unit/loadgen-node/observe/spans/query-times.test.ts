import { describe, expect, it } from 'vitest';
import { allocateRecords } from '../../../../../loadgen-node/observe/records/sample-records.ts';
import {
  later,
  type QueryTimes,
  sampledQueries,
} from '../../../../../loadgen-node/observe/spans/query-times.ts';
import { QuerySpanIds } from '../../../../../loadgen-node/observe/spans/span-ids.ts';
import { recordedSet } from '../../../../scenes/simulated-run/records.ts';

// Goal: a span has the times of its query's record, also where the response never came, at the
// right time of the day. Method: a set of two queries, of which one is lost.

function timesOf(firstQueryId: number): QueryTimes[] {
  const records = allocateRecords(2, { hasTokens: false, hasFirstTokens: false });
  for (const [row, atNs] of [1_000, 5_000].entries()) {
    records.query[row] = row;
    records.sampleIndex[row] = row + 40;
    records.scheduledNs[row] = atNs;
    records.issuedNs[row] = atNs + 10;
    records.handedNs[row] = atNs + 20;
    records.completedNs[row] = row === 0 ? atNs + 900 : Number.NaN;
  }
  return [...sampledQueries({ ...recordedSet(records), firstQueryId }, new QuerySpanIds(1))];
}

describe('sampledQueries', () => {
  it('tells the times of a query, and of one whose response never came', () => {
    const [answered, lost] = timesOf(0);
    expect(answered).toMatchObject({
      ...{ part: 0, query: 0, sampleIndices: [40], lostSamples: 0 },
      ...{ scheduledNs: 1_000, issuedNs: 1_010, sentNs: 1_020, completedNs: 1_900 },
    });
    expect(lost).toMatchObject({
      query: 1,
      sentNs: 5_020,
      completedNs: Number.NaN,
      lostSamples: 1,
    });
  });

  it('counts from the wall clock at the start of the set', () => {
    const [{ beganAt } = { beganAt: [0, 0] as const }] = timesOf(0);
    // The set of this test began at 0 of the clock: when the process began.
    const beganMs = beganAt[0] * 1e3 + beganAt[1] / 1e6;
    expect(Math.abs(beganMs - performance.timeOrigin)).toBeLessThan(1_000);
    expect(later([7, 999_999_999], 2)).toEqual([8, 1]);
    expect(later([7, 1], -2)).toEqual([6, 999_999_999]);
  });
});
