import { describe, expect, it } from 'vitest';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import {
  checkThresholds,
  judgeThresholds,
  readThreshold,
  type Threshold,
} from '../../../../../loadgen-node/observe/figures/condition.ts';

function threshold(text: string): Threshold {
  const read = readThreshold(text);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

describe('judgeThresholds', () => {
  const figures = { p99: 15e6, errors: 0, completed_qps: 99.25, overlatency: 0.012 };

  it.each([
    ['p99 < 15ms', false],
    ['p99 <= 15ms', true],
    ['p99 > 14.9ms', true],
    ['p99 >= 15.1ms', false],
    ['errors == 0', true],
    ['errors != 0', false],
    ['overlatency <= 1%', false],
    ['completed_qps >= 99', true],
  ])('%s: %s', (text, isMet) => {
    expect(judgeThresholds([threshold(text)], figures)).toMatchObject([{ text, isMet }]);
  });

  it('tells both values, in the unit of the figure and for people', () => {
    const [p99, share] = judgeThresholds(
      [threshold('p99 < 5ms'), threshold('overlatency < 1%')],
      figures,
    );
    expect(p99).toMatchObject({ needed: 5e6, seen: 15e6, seenText: '15 ms' });
    expect(share).toMatchObject({ needed: 0.01, seen: 0.012, seenText: '1.2 %' });
  });

  it.each([{}, { p99: Number.NaN }])('is not met by a figure that is not there (%o)', (absent) => {
    expect(judgeThresholds([threshold('p99 > 0ns')], absent)).toMatchObject([
      { isMet: false, seen: null, seenText: 'missing: the run lacks this figure' },
    ]);
  });
});

describe('checkThresholds', () => {
  const check = (text: string, said: Partial<TestSettings>) => (): void =>
    checkThresholds([threshold(text)], { ...defaultTestSettings(), scenario: 'Server', ...said });

  it.each<[string, Partial<TestSettings>, RegExp]>([
    ['ttft_p99 < 1s', {}, /^--threshold "ttft_p99 < 1s": .*use_token_latencies/],
    ['tokens_per_second > 5', {}, /needs token latencies/],
    ['overlatency < 1%', { scenario: 'Offline' }, /of scenario Server, and this run is Offline/],
    [
      'tpot_p99 < 1s',
      { scenario: 'Offline', useTokenLatencies: true },
      /first token, which Offline does not ask for/,
    ],
    ['lag_p99 < 1ms', { scenario: 'SingleStream' }, /lag_p99 is always 0 in SingleStream/],
    ['p99 < 1s', { mode: 'AccuracyOnly' }, /mode accuracy has no figures of performance/],
    ['accuracy > 90%', {}, /only a run of mode accuracy or submission has an accuracy/],
  ])('refuses %s where the run cannot have it', (text, said, problem) => {
    expect(check(text, said)).toThrow(problem);
  });

  it.each<[string, Partial<TestSettings>]>([
    ['ttft_p99 < 1s', { useTokenLatencies: true }],
    ['tokens_per_second > 5', { scenario: 'Offline', useTokenLatencies: true }],
    ['scheduled_qps > 5', {}],
    ['p99 < 1s', { mode: 'SubmissionRun', scenario: 'Offline' }],
    ['accuracy > 90%', { mode: 'SubmissionRun' }],
    ['accuracy > 90%', { mode: 'AccuracyOnly' }],
  ])('lets %s pass where the run has it', (text, said) => {
    expect(check(text, said)).not.toThrow();
  });
});
