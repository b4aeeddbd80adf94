import { describe, expect, it } from 'vitest';
import type { LatencyStatistics } from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';
import { wholeLane } from '../../../../../loadgen-node/loadgen/settings/lanes.ts';
import { namedBounds } from '../../../../../loadgen-node/loadgen/settings/query-bounds.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import type { RunFigures } from '../../../../../loadgen-node/observe/figures/figure-names.ts';
import { figuresOf } from '../../../../../loadgen-node/observe/figures/figures-of-records.ts';
import { queueRecords } from '../../../../scenes/simulated-run/records.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import type { SutOptions } from '../../../../scenes/simulated-run/simulated-sut.ts';

const BOUND_NS = 4e6;
const boundsAt = (boundNs?: number) =>
  boundNs === undefined ? [] : namedBounds({ boundNs, percentile: 0.99 });
const PERCENTILES = ['p50', 'p90', 'p95', 'p97', 'p99', 'p99.9'] as const;

/** Runs a test and gives what it says beside the records that it handed out. */
function measured(settings: Partial<TestSettings>, sut: SutOptions) {
  return simulatedTest(settings, sut).measure({ extendsUntilDecided: true });
}

function expectLatencies(figures: RunFigures, seen: LatencyStatistics): void {
  expect(figures).toMatchObject({ min: seen.minNs, mean: seen.meanNs, max: seen.maxNs });
  expect(PERCENTILES.map((name) => figures[name])).toEqual(
    seen.percentiles.map(({ valueNs }) => valueNs),
  );
}

const uneven = (sample: number): number => 1_000_000 + ((sample * 7919) % 4001) * 1000;
const SHORT: Partial<TestSettings> = { minDurationMs: 3000, minQueryCount: 100 };

// Goal: what is derived from the records is, to the bit, what the run itself said. Method:
// simulated runs of each scenario; the summary of LoadGen's results beside the figures of the
// records.
describe('figures of a run, from its records', () => {
  it.each<[what: string, settings: Partial<TestSettings>]>([
    ['Server', { scenario: 'Server', serverTargetQps: 300, serverTargetLatencyNs: BOUND_NS }],
    [
      'Server in several parts, until early stopping decides',
      {
        scenario: 'Server',
        serverTargetQps: 300,
        serverTargetLatencyNs: 6e6,
        minDurationMs: 0,
        minQueryCount: 300,
      },
    ],
    ['SingleStream', { scenario: 'SingleStream' }],
    ['MultiStream', { scenario: 'MultiStream', multiStreamSamplesPerQuery: 8 }],
    ['Offline', { scenario: 'Offline', offlineExpectedQps: 500 }],
    [
      'Server with several issue threads',
      { scenario: 'Server', serverTargetQps: 300, serverNumIssueQueryThreads: 3 },
    ],
  ])('are those of the run: %s', async (what, settings) => {
    const { performance: outcome, records } = await measured(
      { ...SHORT, ...settings },
      { serviceNs: uneven },
    );
    const { summary, counts } = outcome;
    const { scenario } = summary;
    const figures = figuresOf(records, {
      scenario,
      lanes: [wholeLane(boundsAt(settings.serverTargetLatencyNs))],
    });
    expectLatencies(figures, summary.queryLatency ?? summary.sampleLatency);
    expect(figures).toMatchObject({
      queries: counts.issuedQueries,
      samples: counts.issuedSamples,
      lost: 0,
      errors: 0,
      lag_max: outcome.dispatchLag.maxNs,
    });
    expect(records.part.at(-1)).toBe(outcome.extension?.count);
    if (what.includes('parts')) expect(outcome.extension?.count).toBeGreaterThan(0);
    if (scenario === 'Server') {
      expect(figures.scheduled_qps).toBe(summary.rates.scheduled);
      expect(figures.overlatency).toBe(
        settings.serverTargetLatencyNs === undefined
          ? undefined
          : summary.overlatencyCount / summary.completedSampleCount,
      );
    }
    const { completed, withOverhead } = summary.rates;
    if (scenario !== 'MultiStream') expect(figures.completed_qps).toBe(completed || withOverhead);
    else expect(figures.completed_qps).toBeGreaterThan(0);
  });

  it('count a lost sample as lost, and its query as no latency', async () => {
    const { performance: outcome, records } = await measured(
      { ...SHORT, scenario: 'Server', serverTargetQps: 300 },
      { serviceNs: (sample) => (sample % 50 === 7 ? Number.NaN : uneven(sample)) },
    );
    const figures = figuresOf(records, {
      scenario: 'Server',
      lanes: [wholeLane([])],
      contractErrors: 2,
    });
    expect(outcome.counts.lostSamples).toBeGreaterThan(0);
    expect(figures.lost).toBe(outcome.counts.lostSamples);
    expect(figures.errors).toBe(outcome.counts.lostSamples + 2);
    expectLatencies(figures, outcome.summary.sampleLatency);
    expect(figures.completed_qps).toBe(outcome.summary.rates.completed);
  });

  it('have the times of tokens as the run has them', async () => {
    const { performance: outcome, records } = await measured(
      { ...SHORT, scenario: 'Server', serverTargetQps: 300, useTokenLatencies: true },
      {
        serviceNs: uneven,
        answer: (sink, id, atNs) => {
          if (id % 10 !== 3) sink.firstToken(id, new Uint8Array(0), atNs);
          sink.complete(id, new Uint8Array(0), 5 + (id % 3), atNs);
        },
      },
    );
    const { tokens } = outcome.summary;
    const figures = figuresOf(records, { scenario: 'Server', lanes: [wholeLane([])] });
    const at = (name: 'firstToken' | 'perOutputToken', percentile: number) =>
      tokens?.[name]?.percentiles.find((seen) => seen.percentile === percentile)?.valueNs;
    expect(figures).toMatchObject({
      ttft_p50: at('firstToken', 0.5),
      ttft_p99: at('firstToken', 0.99),
      tpot_p50: at('perOutputToken', 0.5),
      tpot_p99: at('perOutputToken', 0.99),
      tokens_per_second: tokens?.completed,
    });
  });

  it('of nothing are counts, and no 0 that looks like a latency', () => {
    const figures = figuresOf(queueRecords({ rowCount: 0 }), {
      scenario: 'Server',
      lanes: [wholeLane(boundsAt(BOUND_NS))],
    });
    expect(figures).toEqual({ queries: 0, samples: 0, lost: 0, errors: 0 });
  });
});
