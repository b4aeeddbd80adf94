import { describe, expect, it } from 'vitest';
import type {
  RunProgress,
  SetGoal,
} from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { estimateProgress } from '../../../../../loadgen-node/observe/live/live-run.ts';

// Goal: how far a run is follows from what ends it. Method: one moment of each kind of run.

const GOAL: SetGoal = {
  scenario: 'Server',
  targetQps: 0,
  latencyBoundNs: 0,
  lagNsMax: 0,
  hasOneRate: true,
  percentile: 0.99,
  samplesPerQuery: 1,
  lastDueNs: 0,
  minDurationNs: 0,
  minQueryCount: 0,
  maxDurationNs: 0,
  maxQueryCount: 0,
};

function at(goal: Partial<SetGoal>, progress: Partial<RunProgress> = {}): RunProgress {
  return {
    phase: 'performance',
    goal: { ...GOAL, ...goal },
    setIndex: 0,
    setCount: 1,
    samplesBefore: 0,
    samplesOfAll: 1000,
    elapsedNs: 10e9,
    dueQps: 0,
    generatedQueries: 1000,
    issuedQueries: 250,
    issuedSamples: 250,
    completedSamples: 200,
    lostSamples: 0,
    hasEnded: false,
    ...progress,
  };
}

describe('estimateProgress', () => {
  it.each([
    ['a schedule', at({ lastDueNs: 40e9 }), 0.25, 30],
    ['time, which comes last', at({ minDurationNs: 100e9, minQueryCount: 300 }), 0.1, 90],
    ['a count, which comes last', at({ minDurationNs: 10e9, minQueryCount: 500 }), 0.5, 10],
    ['a limit, which comes first', at({ lastDueNs: 40e9, maxDurationNs: 20e9 }), 0.5, 10],
    ['a limit of queries', at({ lastDueNs: 40e9, maxQueryCount: 500 }), 0.5, 10],
    ['its samples', at({}), 0.2, 40],
    ['samples of which some are lost', at({}, { lostSamples: 300 }), 0.5, 10],
    [
      'sets, of which the last is short',
      at({}, { phase: 'accuracy', setCount: 2, samplesOfAll: 1200, completedSamples: 600 }),
      0.5,
      10,
    ],
    [
      'the sets before',
      at(
        {},
        {
          ...({ phase: 'accuracy', setIndex: 1, setCount: 2 } as const),
          ...{ samplesBefore: 1000, samplesOfAll: 1200, completedSamples: 100 },
        },
      ),
      1100 / 1200,
      10,
    ],
    ['nothing more', at({}, { hasEnded: true }), 1, 0],
  ])('follows %s', (_case, progress, share, remainingS) => {
    const told = estimateProgress(progress);
    expect(told.share).toBeCloseTo(share);
    expect(told.remainingS).toBeCloseTo(remainingS);
  });

  it('has no time left to tell before anything is done', () => {
    const told = estimateProgress(at({}, { completedSamples: 0 }));
    expect(told).toEqual({ share: 0, remainingS: null });
  });
});
