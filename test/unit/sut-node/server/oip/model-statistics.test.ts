import { describe, expect, it } from 'vitest';
import type { BatchTimes } from '../../../../../sut-node/inference/batcher/sut-model.ts';
import { ModelStatistics } from '../../../../../sut-node/server/oip/model-statistics.ts';

// Goal: samples and batches are counted once. Method: answers in the order in which requests of
// several samples end.

function batch(takenAtNs: number): BatchTimes {
  const lengths = { preprocessNs: 1, computeNs: 1, postprocessNs: 1 };
  return { takenAtNs, beganAtNs: takenAtNs, ...lengths, endedAtNs: takenAtNs + 3 };
}

describe('ModelStatistics', () => {
  it('counts a batch once, whatever order its samples are told in', () => {
    const statistics = new ModelStatistics();
    // Alike in all they hold, and yet two.
    const [first, second, third] = [batch(1), batch(1), batch(2)];
    for (const times of [first, first, second, first, third, second, third]) {
      statistics.addSample(times);
    }
    expect(statistics.toWire('net')).toMatchObject({ inferenceCount: 7, executionCount: 3 });
  });
});
