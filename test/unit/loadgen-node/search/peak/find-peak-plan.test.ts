import { describe, expect, it } from 'vitest';
import {
  FIND_PEAK_SETTINGS,
  type FindPeakPlan,
  type FindPeakValues,
  planFindPeak,
} from '../../../../../loadgen-node/search/peak/find-peak-plan.ts';
import { resolveSettings } from '../../../../../shared/config/resolve-settings.ts';

// Goal: what is searched, and how it is confirmed, follows from the flags and the round; what
// cannot be searched is refused.

function planOf(flags: Readonly<Record<string, string>>): FindPeakPlan {
  const all = { sut: '10.0.1.1:50051', benchmark: 'delay', ...flags };
  const { values, settings } = resolveSettings(FIND_PEAK_SETTINGS, {
    section: 'run',
    file: undefined,
    flags: all,
  });
  return planFindPeak(values as FindPeakValues, settings);
}

describe('a planned search', () => {
  it('needs no starting value, and takes a scenario in any case', () => {
    const { search, run } = planOf({ scenario: 'server', latency: '15ms', percentile: '99' });
    expect(search).toMatchObject({
      kind: 'rate',
      boundNs: 15e6,
      percentile: 0.99,
      precision: 0.02,
    });
    expect(search?.startLoad).toBeUndefined();
    expect(search?.full).toMatchObject({ runs: 1, hasEarlyStopping: true, minDurationNs: 10e9 });
    // Early stopping decides nothing of the 100 queries that a run makes at least.
    expect(search?.full.minQueryCount).toBe(662);
    expect(run.settings.minQueryCount).toBe(662);
  });

  it('is confirmed by five runs without early stopping in v0.5', () => {
    const { search } = planOf({ benchmark: 'resnet50', round: 'v0.5', scenario: 'Server' });
    expect(search?.full).toMatchObject({
      runs: 5,
      hasEarlyStopping: false,
      minQueryCount: 270_336,
    });
    expect(search?.boundNs).toBe(15e6);
  });

  it('searches streams in fixed intervals, which --latency sets', () => {
    const flags = { benchmark: 'resnet50', round: 'v0.5', scenario: 'multi-stream' };
    expect(planOf(flags).search).toMatchObject({ kind: 'streams', boundNs: 50e6 });
    expect(planOf({ ...flags, latency: '66ms' }).search?.boundNs).toBe(66e6);
  });

  it.each(['SingleStream', 'offline', 'multistream'])('searches nothing in %s', (scenario) => {
    expect(planOf({ scenario }).search).toBeNull();
  });

  it('lasts as long as its bound needs, and says so', () => {
    const { search, run, note, recordOf } = planOf({
      ...{ scenario: 'server', latency: '2s', minDuration: '5s', searchTime: '60s' },
    });
    expect(search).toMatchObject({ screeningNsMax: 400e9, full: { minDurationNs: 100e9 } });
    expect(search?.loadMax).toBe(2 ** 25 / 100);
    expect(run.settings.minDurationMs).toBe(100_000);
    expect(recordOf(50)).toMatch(/^ {2}minDuration: 100000ms +# find-peak$/m);
    expect(note).toBe(
      'full runs last 100 s and screenings may take 400 s together, longer than requested: under a bound of 2 s a shorter run can end before a queue that grows shows',
    );
    expect(planOf({ scenario: 'server', latency: '200ms' }).note).toBeUndefined();
  });

  it("holds tokens to the flags, or to the benchmark's round", () => {
    const flags = { scenario: 'server', ttft: '450ms', tpot: '40ms', percentile: '90' };
    const { search, run, recordOf } = planOf(flags);
    expect(search).toMatchObject({ boundNs: 450e6, tpotNs: 40e6, percentile: 0.9 });
    expect(run.settings).toMatchObject({
      ...{ useTokenLatencies: true, serverTtftLatencyNs: 450e6, serverTpotLatencyNs: 40e6 },
      serverTargetLatencyPercentile: 0.9,
    });
    expect(recordOf(12)).toMatch(/^ {2}ttft: 450ms +# flag --ttft$/m);
    expect(recordOf(12)).toMatch(/^ {2}targetLatencyPercentile: 90 +# find-peak$/m);
    const ofRound = planOf({ benchmark: 'llama2-70b' });
    expect(ofRound.search).toMatchObject({ boundNs: 2e9, tpotNs: 200e6, percentile: 0.99 });
    // Fifty bounds on the first token.
    expect(ofRound.search?.full.minDurationNs).toBe(100e9);
    expect(planOf({ latency: '15ms' }).search?.tpotNs).toBeUndefined();
  });

  it('can be made again at its load as an ordinary run', () => {
    const record = planOf({ latency: '15ms', percentile: '97', minDuration: '60s' }).recordOf(
      123.5,
    );
    expect(record).toMatch(/^ {2}targetQps: 123\.5 +# find-peak$/m);
    expect(record).toMatch(/^ {2}targetLatency: 15ms +# find-peak$/m);
    expect(record).toMatch(/^ {2}targetLatencyPercentile: 97 +# find-peak$/m);
    expect(record).toMatch(/^ {2}minDuration: 60s +# flag --min-duration$/m);
    expect(record).not.toContain('precision');
  });

  it.each<[string, Record<string, string>, string]>([
    ['an unknown scenario', { scenario: 'serverless' }, 'must be one of'],
    ['percentile 100', { percentile: '100' }, 'must be below 100'],
    ['latency 0', { latency: '0s' }, 'must be longer than 0'],
    ['target latency 0', { targetLatency: '0s' }, '--latency must be longer than 0'],
    [
      'two kinds of bounds',
      { latency: '1s', ttft: '1s', tpot: '9ms' },
      '--latency 1 s beside --ttft 1 s: LoadGen',
    ],
    [
      'a latency that tokens ignore',
      { benchmark: 'llama2-70b', latency: '2s' },
      '--latency 2 s has no effect: the bounds are on tokens, TTFT 2 s and TPOT 200 ms',
    ],
    [
      'tokens of no token model',
      { benchmark: 'digits', tpot: '40ms' },
      'benchmark digits has none: use --latency',
    ],
    ['half of the bounds', { ttft: '450ms' }, '--ttft 450 ms needs --tpot as well'],
    ['no time per token', { ttft: '450ms', tpot: '0ms' }, 'must be longer than 0'],
    ['two latencies', { latency: '15ms', targetLatency: '20ms' }, 'say different things'],
    ['two percentiles', { percentile: '99', targetLatencyPercentile: '90' }, 'different things'],
    [
      "the C++ LoadGen's metric",
      { engine: 'cpp', scenario: 'offline' },
      '--engine cpp: Offline has no load to search',
    ],
    ['spans', { otel: 'true', division: 'open' }, '--otel is for run'],
    ['a threshold', { thresholds: 'p99 < 5ms' }, '--threshold is for run'],
    ['a limit below the run', { latency: '2s', maxDuration: '60s' }, 'bound of 2 s lasts 100 s'],
    ['another mode', { mode: 'find-peak' }, 'performance runs only'],
    ['an unknown benchmark', { benchmark: 'resnet51' }, 'resnet51'],
  ])('refuses %s', (_case, flags, message) => {
    expect(() => planOf(flags)).toThrow(message);
  });
});
