import { describe, expect, it } from 'vitest';
import {
  accuracyInWords,
  isMet,
  neededCount,
  qualityOfRun,
  targetInWords,
} from '../../../../../loadgen-node/samples/benchmarks/score-each.ts';
import type {
  AccuracyReport,
  DataSet,
} from '../../../../../loadgen-node/samples/data-set/data-set.ts';
import { benchmarkRules } from '../../../../../shared/rules/benchmark-rules.ts';

// Goal: the gate is the round's, and decided by counts. Method: counts on either side of each
// target.
const DATA = {} as DataSet;

function reportOf(correctCount: number, sampleCount: number): AccuracyReport {
  return { metric: 'top-1', value: correctCount / sampleCount, correctCount, sampleCount };
}

describe('the quality of a run', () => {
  it.each([
    // 0.99 x 0.7646 x 50000 = 37847.7; 0.99 x 0.76456 = 0.7569144; 0.98 x 0.71676 = 0.7024248.
    ['resnet50', 'v4.1', 37_848],
    ['resnet50', 'v0.5', 37_846],
    ['mobilenet', 'v0.5', 35_122],
    // Not of this round: its own target holds.
    ['mobilenet', 'v4.1', 35_122],
  ] as const)('of %s in %s is met by %s of 50,000 and by no fewer', (key, round, count) => {
    const quality = qualityOfRun(benchmarkRules(key), round, DATA);
    expect(isMet(reportOf(count, 50_000), quality)).toBe(true);
    expect(isMet(reportOf(count - 1, 50_000), quality)).toBe(false);
  });

  it('is told with five significant figures', () => {
    const quality = qualityOfRun(benchmarkRules('resnet50'), 'v4.1', DATA);
    expect(accuracyInWords(reportOf(38_230, 50_000))).toBe('top-1 76.460 % (38230 of 50000)');
    expect(targetInWords(quality)).toBe(
      '75.695 % (99 % of 76.460 %, FP32 reference of round v4.1)',
    );
    const mobilenet = qualityOfRun(benchmarkRules('mobilenet'), 'v4.1', DATA);
    expect(mobilenet.source).toBe('FP32 reference of round v0.5');
    const digits = qualityOfRun(benchmarkRules('digits'), 'v4.1', DATA);
    expect(targetInWords(digits)).toBe('93.000 %');
  });

  it('is that of the data set where it has one', () => {
    const own = {
      ...{ metric: 'top-1', target: 0.9 * 0.99, source: 'the FP32 stand-in' },
      reference: { value: 0.9, share: 0.99 },
    };
    const quality = qualityOfRun(benchmarkRules('resnet50'), 'v4.1', { ...DATA, quality: own });
    expect(targetInWords(quality)).toBe('89.100 % (99 % of 90.000 %, the FP32 stand-in)');
    // 0.9 x 0.99 x 1000 is 891 exactly, whatever binary fractions make of it.
    expect(neededCount(quality, 1000)).toBe(891);
  });

  it('is met by no answer to nothing', () => {
    const quality = qualityOfRun(benchmarkRules('digits'), 'v4.1', DATA);
    expect(isMet({ ...reportOf(0, 1), sampleCount: 0 }, quality)).toBe(false);
  });
});
