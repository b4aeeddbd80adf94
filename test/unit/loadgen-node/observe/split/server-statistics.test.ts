import { describe, expect, it } from 'vitest';
import {
  serverStatistics,
  serverStatisticsText,
} from '../../../../../loadgen-node/observe/split/server-statistics.ts';
import { oipStatistics } from '../../../../scenes/oip-server/oip-audit-facts.ts';

// Goal: means are of what was counted, and nothing is divided by nothing. Method: statistics by
// hand.

const NONE = { count: 0, ns: 0 };
const nothing = oipStatistics({
  ...{ inferenceCount: 0, executionCount: 0, success: NONE, queue: NONE },
  ...{ computeInput: NONE, computeInfer: NONE, computeOutput: NONE },
});

describe('serverStatistics', () => {
  it('gives means per request and the mean batch', () => {
    expect(serverStatistics(oipStatistics({ fail: { count: 3, ns: 9 } }))).toEqual({
      ...{ successCount: 100, failCount: 3, inferenceCount: 100, batchCount: 25, meanBatchSize: 4 },
      meanNs: 6.6e6,
      parts: [
        { part: 'queue', meanNs: 2e6 },
        { part: 'computeInput', meanNs: 0.4e6 },
        { part: 'computeInfer', meanNs: 4e6 },
        { part: 'computeOutput', meanNs: 0.2e6 },
      ],
    });
  });

  it('has no means where nothing grew, or a server began to count again', () => {
    for (const grown of [nothing, oipStatistics({ success: { count: -5, ns: -10 } })]) {
      expect(serverStatistics(grown).meanNs).toBeNull();
    }
    expect(serverStatistics(nothing).meanBatchSize).toBeNull();
  });
});

describe('serverStatisticsText', () => {
  it.each([
    [
      oipStatistics(),
      '6.6 ms per request: queue 2 ms, input 400 µs, inference 4 ms, output 200 µs; 100 requests; 100 inferences in 25 batches, 4 on average',
    ],
    [
      oipStatistics({ fail: { count: 2, ns: 1 }, queue: NONE, executionCount: 0 }),
      '6.6 ms per request: input 400 µs, inference 4 ms, output 200 µs; 100 requests, 2 failed',
    ],
    [nothing, 'no request was answered'],
  ])('says what is known', (grown, text) => {
    expect(serverStatisticsText(serverStatistics(grown))).toBe(text);
  });
});
