import { describe, expect, it } from 'vitest';
import { answersNote } from '../../../../loadgen-node/search/curve/measure-curve.ts';
import { searchNs } from '../../../../loadgen-node/search/peak/pace.ts';
import type { LoadSearch, PeakProbe } from '../../../../loadgen-node/search/peak/peak-search.ts';
import { leftText, timeLeft } from '../../../../loadgen-node/search/time-left.ts';

// Goal: whoever waits for a sweep or a comparison knows about how long. Method: times by hand.

const full = {
  runs: 1,
  minDurationNs: 10e9,
  minQueryCount: 100,
  hasEarlyStopping: true,
  loadsMax: 3,
};
const SEARCH = { screeningNsMax: 50e9, full } as LoadSearch;

describe('the time that is left', () => {
  it.each([
    [42.4, 'about 42 s left'],
    [130, 'about 2 min left'],
    [9000, 'about 2.5 h left'],
  ])('is told in the unit that suits it: %d s', (seconds, text) => {
    expect(leftText(seconds)).toBe(text);
  });

  it('is that of the settings before the first piece of work, and of those that are done from then on', () => {
    expect(timeLeft([], 4, searchNs(SEARCH))).toBe('about 4 min left');
    expect(timeLeft([20, 40], 2, searchNs(SEARCH))).toBe('about 60 s left');
  });

  it('of a token model follows from the answers that were seen', () => {
    const bounds = { kind: 'rate', boundNs: 450e6, tpotNs: 40e6 } as const;
    const search = { ...SEARCH, ...bounds } as LoadSearch;
    // 300 tokens of 20 ms: 12 s at the bound.
    const figures = (valueNs: number) => [{ percentile: 0.5, valueNs, lowNs: 0, highNs: null }];
    const tokens = { perSecond: 50, ttft: figures(50e6), tpot: figures(20e6) };
    const unloaded = { kind: 'unloaded', queries: 2, meanNs: 6.05e9, durationNs: 12e9, tokens };
    const probe = unloaded as PeakProbe;
    // 120 and 30 answers.
    expect(searchNs(search, [probe])).toBe((1440 + 360) * 1e9);
  });

  it('of a curve is told anew after its first look where answers are long', () => {
    const base = {
      unit: 'queries/s',
      percentile: 0.99,
      durationNs: 10e9,
      minQueries: 100,
    } as const;
    const quest = { ...base, boundNs: 450e6, rateMax: 1e6, lagShareMax: 0.1, loads: null };
    expect(answersNote({ ...quest, tpotNs: 40e6 }, 6.03e9)).toBe(
      'an answer takes about 6.03 s without load, longer beside others: a point lasts 20 answers, 121 s or more, and all of them 20:06 min or more',
    );
    expect(answersNote({ ...quest, tpotNs: 40e6 }, 0.4e9)).toBeUndefined();
    expect(answersNote(quest, 6e9)).toBeUndefined();
  });
});
