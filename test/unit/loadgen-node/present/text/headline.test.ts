import { describe, expect, it } from 'vitest';
import {
  type HeadOfRun,
  headFigures,
  metricText,
} from '../../../../../loadgen-node/present/text/headline.ts';

// Goal: the figures at the head of a report are those of its scenario, and none stands for what was
// not measured. Method: figures by hand.

const figures = { samples: 1000, lost: 0, errors: 0, p50: 2e6, p90: 3e6, p99: 5e6, 'p99.9': 8e6 };
const seen = (run: HeadOfRun) =>
  headFigures(run).map(({ figure, value, isBad }) => [figure, value, isBad]);

describe('headFigures', () => {
  it.each([
    ['SingleStream', ['p90', '3 ms'], ['p99', '5 ms'], '3 ms at p90'],
    ['MultiStream', ['p99', '5 ms'], ['p99.9', '8 ms'], '5 ms at p99'],
    ['Offline', ['completed_qps', '380 /s'], ['p99', '5 ms'], '380 /s'],
    ['Server', ['answered_qps', '370 /s'], ['p99', '5 ms'], '370 /s'],
  ] as const)('of %s', (scenario, metric, tail, text) => {
    const run = {
      scenario,
      figures: { ...figures, answered_qps: 370, completed_qps: 380, scheduled_qps: 94.1 },
    };
    const counts = ['samples', '1,000', false];
    expect(seen(run)).toEqual([[...metric, false], [...tail, false], counts]);
    expect(metricText(run)).toBe(text);
  });

  const closedLoop = { arrivals: 'closed-loop:4', steps: null };
  it.each([
    ['Server in v4.1', 'v4.1', null, 'the metric of the scenario; 94.1 /s scheduled'],
    ['Server in v0.5', 'v0.5', null, '94.1 /s scheduled, the metric of round v0.5'],
    [
      ...(['a load test', 'v4.1', closedLoop] as const),
      'a load test, not a scenario of MLPerf; 94.1 /s scheduled',
    ],
  ] as const)('call the right rate the metric: %s', (_case, round, loadTest, note) => {
    const rates = { answered_qps: 93, scheduled_qps: 94.1 };
    const run = { scenario: 'Server', round, loadTest, figures: rates } as const;
    expect(headFigures(run)).toMatchObject([{ value: '93 /s', note }]);
  });

  it('hold the tail of Server against its bound, at its own percentile', () => {
    const bound = { latencyBoundNs: 4e6, overlatency: 0.03 };
    const run = {
      scenario: 'Server',
      figures: { ...figures, overlatency: 0.03 },
      ...bound,
    } as const;
    const [tail] = headFigures({ ...run, targetPercentile: 0.99 });
    expect(tail).toMatchObject({ value: '5 ms', isBad: true });
    expect(tail?.note).toBe('bound 4 ms, 3 % of the queries above it');
    expect(headFigures({ ...run, targetPercentile: 0.9 })[0]).toMatchObject({
      ...{ figure: 'p90', value: '3 ms', isBad: false },
    });
  });

  it('name the percentile of a bound that the run has no figure at', () => {
    const run = { scenario: 'Server', figures, latencyBoundNs: 4e6 } as const;
    const [tail] = headFigures({ ...run, targetPercentile: 0.975 });
    expect(tail).toMatchObject({
      title: 'Latency, p99',
      isBad: false,
      note: 'bound 4 ms at p97.5',
    });
  });

  it('hold the times of tokens against their bounds at the percentile of the bounds', () => {
    const tokens = { ttft_p90: 6e7, ttft_p99: 1.33e8, tpot_p90: 3e7, tpot_p99: 4e7 };
    const bounds = { ttftNs: 1e8, tpotNs: 2e7 };
    const run = { scenario: 'Server', figures: tokens, tokenBounds: bounds } as const;
    const [first, each] = headFigures({ ...run, targetPercentile: 0.9 });
    expect(first).toMatchObject({
      ...{ figure: 'ttft_p90', title: 'Time to the first token, p90', value: '60 ms' },
      ...{ note: 'bound 100 ms', isBad: false },
    });
    expect(each).toMatchObject({ figure: 'tpot_p90', value: '30 ms', isBad: true });
    expect(headFigures({ ...run, targetPercentile: 0.95 })[0]).toMatchObject({
      ...{ title: 'Time to the first token, p99', note: 'bound 100 ms at p95', isBad: false },
    });
  });

  it('are the times of tokens for a token model, and what is missing for a run that lost samples', () => {
    const tokens = { ...figures, lost: 3, errors: 5, ttft_p99: 1e8, tpot_p99: 2e7 };
    const [first, each, answered] = headFigures({ scenario: 'Server', figures: tokens });
    expect(first).toMatchObject({ figure: 'ttft_p99', value: '100 ms', note: 'bound not known' });
    expect(each).toMatchObject({ figure: 'tpot_p99', value: '20 ms', isBad: false });
    expect(answered).toMatchObject({
      ...{ value: '997', isBad: true, note: '3 lost, 2 answers broke the contract' },
    });
    const metric = { tokens_per_second: 2048, goodput: 0.5, goodput_qps: 4 };
    const judged: HeadOfRun = {
      scenario: 'Server',
      figures: { ...tokens, ...metric, scheduled_qps: 8 },
      targetPercentile: 0.99,
      tokenBounds: { ttftNs: 99e6, tpotNs: 20e6 },
    };
    expect(seen(judged)).toEqual([
      ['tokens_per_second', '2,050 /s', false],
      ['ttft_p99', '100 ms', true],
      ['tpot_p99', '20 ms', false],
      ['goodput', '50 %', false],
      ['samples', '997', true],
    ]);
    expect(metricText(judged)).toBe('2,050 tokens/s');
    expect(metricText({ scenario: 'Offline', figures: metric })).toBe('2,050 tokens/s');
    expect(metricText({ scenario: 'SingleStream', figures: { ...metric, p90: 1e6 } })).toBe(
      '1 ms at p90',
    );
    expect(headFigures({ scenario: 'Server', figures: {} })).toEqual([]);
    expect(metricText({ scenario: 'Server', figures: {} })).toBe('-');
  });
});
