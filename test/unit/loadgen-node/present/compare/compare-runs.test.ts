import { describe, expect, it } from 'vitest';
import type { CauseKind } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { percentileOf } from '../../../../../loadgen-node/loadgen/results/latency-statistics.ts';
import { parseCondition } from '../../../../../loadgen-node/observe/figures/condition.ts';
import type { RunSummary } from '../../../../../loadgen-node/observe/summary/run-summary.ts';
import { BlockHistogram } from '../../../../../loadgen-node/present/compare/block-histogram.ts';
import { checkComparable } from '../../../../../loadgen-node/present/compare/comparability.ts';
import {
  compareRuns,
  IDLE_KEYS,
  type RunComparison,
  TLS_KEYS,
} from '../../../../../loadgen-node/present/compare/compare-runs.ts';
import { judgeConditions } from '../../../../../loadgen-node/present/compare/print-comparison.ts';
import {
  type ComparedRun,
  spread,
  spreadFactor,
} from '../../../../../loadgen-node/present/compare/resampled-run.ts';
import { RUN_SETTINGS } from '../../../../../loadgen-node/run/plan/run-settings.ts';
import { queueRecords } from '../../../../scenes/simulated-run/records.ts';
import { reportSummary } from '../../../../scenes/simulated-run/summary.ts';

// Goal: differences are what they are, with intervals that neither hide nor invent them. Method:
// simulated M/M/1 queues, seeded. How often intervals hold the truth: npm run test:outside
// statistics.

const REPLICATES = 100;

function run(
  folder: string,
  seed: number,
  serviceNs: number,
  changes: Partial<RunSummary> = {},
): ComparedRun {
  const records = queueRecords({ seed, rowCount: 4000, arrivalQps: 100, serviceNs });
  return { folder, summary: reportSummary(records, changes.scenario, changes), records };
}

const rowOf = (comparison: RunComparison, name: string) =>
  comparison.rows.find(({ figure }) => figure === name)?.runs[1];

describe('BlockHistogram', () => {
  it('gives the percentiles of a run drawn whole to the last digit while values are few', () => {
    const values = Float64Array.from({ length: 400 }, (_, i) => (i * 7919) % 1009);
    const histogram = new BlockHistogram(values, 40);
    const out = new Float64Array(3);
    histogram.resample(Uint32Array.from([0, 8, 16, 24, 32]), 8, [0.5, 0.99], out);
    const sorted = values.slice().sort();
    const mean = values.reduce((a, b) => a + b, 0) / 400;
    expect(Array.from(out)).toEqual([mean, percentileOf(sorted, 0.5), percentileOf(sorted, 0.99)]);
  });

  it('draws around the end, leaves out what was lost, and comes close with many values', () => {
    const values = Float64Array.from({ length: 50_000 }, (_, i) => (i % 10 === 3 ? Number.NaN : i));
    const out = new Float64Array(2);
    const histogram = new BlockHistogram(values, 100);
    histogram.resample(Uint32Array.from([90]), 20, [0.5], out);
    const drawn = Float64Array.from([...values.subarray(45_000), ...values.subarray(0, 5000)])
      .filter((value) => !Number.isNaN(value))
      .sort();
    expect(histogram.count).toBe(45_000);
    expect(Math.abs((out[1] as number) - percentileOf(drawn, 0.5))).toBeLessThan(100);
  });
});

describe('spreadFactor', () => {
  it('widens where neighbouring blocks are alike, and narrows nothing', () => {
    const swing = Array.from({ length: 50 }, (_, i) => Math.sin(i / 8));
    const zigzag = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? 1 : -1));
    expect(spreadFactor(swing)).toBeGreaterThan(2.5);
    expect(spreadFactor(zigzag)).toBeCloseTo(1.036, 3);
    expect(spreadFactor([1, 1, 1])).toBeLessThan(1.5);
    expect(Array.from(spread(Float64Array.of(1, 4, 5), 2))).toEqual([0, 4, 6]);
  });
});

describe('compareRuns', () => {
  it('finds no difference between equal runs, and the same interval again', () => {
    const runs = [run('a', 11, 6e6), run('b', 12, 6e6)];
    const p50 = rowOf(compareRuns(runs, REPLICATES), 'p50');
    expect(p50?.judgement).toBe('same');
    expect(rowOf(compareRuns(runs, REPLICATES), 'p50')).toEqual(p50);
  });

  it('finds a SUT that became slower worse, with an interval that holds the difference', () => {
    const seen = rowOf(compareRuns([run('a', 11, 4e6), run('b', 12, 8e6)], REPLICATES), 'mean');
    const [low, high] = seen?.differenceInterval ?? [Number.NaN, Number.NaN];
    // M/M/1: the mean is 1/(1/service - arrivals), 6.67 ms and 40 ms, and 0.11 ms more.
    expect(low).toBeLessThan(33.3e6);
    expect(high).toBeGreaterThan(33.3e6);
    expect(low).toBeGreaterThan(0);
    expect(seen?.judgement).toBe('worse');
  });

  it('gives no interval to counts, extremes, and percentiles with few values beyond them', () => {
    const comparison = compareRuns([run('a', 1, 6e6), run('b', 2, 6e6)], REPLICATES);
    const without = comparison.rows.filter(({ runs }) => runs[1]?.interval === null);
    expect(without.map(({ figure }) => figure)).toEqual([
      'min',
      'p99.9',
      'max',
      'lag_max',
      'queries',
      'samples',
      'lost',
      'errors',
    ]);
  });

  it('names settings that differ, but those that move no figure', () => {
    const of = (folder: string, values: Readonly<Record<string, string>>): ComparedRun => ({
      ...run(folder, 1, 6e6, {
        settings: Object.entries(values).map(([key, value]) => ({ key, value, source: 'flag' })),
      }),
    });
    const plain = { tls: 'false', streams: '1', minDuration: '3s', thresholds: 'p99 < 1ms' };
    const other = { tls: 'false', streams: '2', minDuration: '5s', generatorLagMax: '50' };
    const names = (...runs: ComparedRun[]) =>
      compareRuns(runs, REPLICATES).settings.map(({ name }) => name);
    expect(names(of('a', plain), of('b', other))).toEqual(['streams', 'minDuration']);
    // Which certificate it is matters as little as in which flag it stands; whether there is one
    // does.
    const secure = { ...plain, tlsCa: 'ca.pem' };
    expect(names(of('a', secure), of('b', { ...plain, tls: 'true' }))).toEqual([]);
    expect(names(of('a', secure), of('b', plain))).toEqual(['tls']);
    const known = Object.keys(RUN_SETTINGS);
    expect(known).toEqual(expect.arrayContaining([...TLS_KEYS, ...IDLE_KEYS]));
  });

  it('compares Offline by its throughput only', () => {
    const offline = (folder: string, seed: number): ComparedRun => {
      const records = queueRecords({ seed, rowCount: 3000, arrivalQps: 0, serviceNs: 1e6 });
      return { folder, summary: reportSummary(records, 'Offline'), records };
    };
    const comparison = compareRuns([offline('a', 1), offline('b', 2)], REPLICATES);
    const having = comparison.rows.filter(({ runs }) => runs[1]?.interval !== null);
    expect(having.map(({ figure }) => figure)).toEqual(['completed_qps']);
    const [low, high] = having[0]?.runs[1]?.interval ?? [0, 0];
    expect(low).toBeLessThan(1000);
    expect(high).toBeGreaterThan(1000);
  });
});

describe('checkComparable', () => {
  const other = (changes: Partial<RunSummary>) => [run('a', 1, 1e6), run('b', 2, 1e6, changes)];
  const nodes = [
    { ...(reportSummary(null).nodes[0] as RunSummary['nodes'][number]), model: 'other' },
  ];

  it.each([
    [
      'scenario',
      { scenario: 'SingleStream' as const },
      /scenario is Server in a and SingleStream in b/,
    ],
    ['bound', { latencyBoundNs: 15e6 }, /latency bound is 100 ms in a and 15 ms in b/],
  ])('refuses runs of another %s, also with force', (_, changes, message) => {
    expect(() => checkComparable(other(changes), true)).toThrow(message);
  });

  it.each([
    ['benchmark', { benchmark: 'echo' }, /benchmark is delay in a and echo in b/],
    ['model', { nodes }, /model is .* in a and other in b/],
  ])('refuses runs of another %s unless it is forced', (_, changes, message) => {
    expect(() => checkComparable(other(changes), false)).toThrow(message);
    expect(checkComparable(other(changes), true)).toEqual([
      expect.stringMatching(message),
      'machines and link are unknown for a, b: there is no network_audit.json',
    ]);
  });
});

describe('checkComparable of runs that are INVALID', () => {
  it.each<[CauseKind | null, RegExp]>([
    ['queue', /^b is INVALID \(as its cause says\): its latencies grow with the length of the run/],
    ['loadgen', /: LoadGen's lateness is in its latencies/],
    ['load', /: its figures are those of a load at which the bound is not kept$/],
    [null, /^b is INVALID \(too short\): its figures are no result$/],
  ])('says what a reader may conclude: %s', (kind, expected) => {
    const cause = kind && { kind, text: 'as its cause says' };
    const { verdict } = reportSummary(null);
    const reason = { rule: 'min-duration', text: 'too short.', needed: '', seen: '', key: null };
    const reasons = [{ ...reason, advice: '' }];
    const changes = { result: 'INVALID' as const, verdict: { ...verdict, cause, reasons } };
    const runs = [run('a', 1, 1e6), run('b', 2, 1e6, changes)];
    expect(checkComparable(runs, false)[0]).toMatch(expected);
  });
});

describe('judgeConditions', () => {
  const comparison = compareRuns([run('a', 11, 4e6), run('b', 12, 8e6)], REPLICATES);

  it.each([
    ['p50 > +5%', false, true],
    ['p50 > +5%', true, true],
    ['p50 < +5%', false, false],
    ['mean > +390%', false, true],
    ['mean > +390%', true, false],
    ['p50 > 100ms', false, false],
    ['p50 > 1ms', true, true],
    ['errors > 0', true, false],
    ['queries == 4000', true, true],
    ['p50 != 1ms', true, true],
    ['p99.9 > +1%', false, true],
    ['p99.9 > +1%', true, false],
  ])('%s (sure: %s): %s', (text, isSure, holds) => {
    const condition = parseCondition(text, '--fail-if');
    const [result] = judgeConditions(comparison, [{ condition, isSure }]);
    expect(result).toMatchObject({ text, isSure, folder: 'b', holds });
  });

  it('refuses a condition on a figure that a run does not have', () => {
    const condition = parseCondition('ttft_p99 > 1ms', '--fail-if');
    expect(() => judgeConditions(comparison, [{ condition, isSure: false }])).toThrow(
      /b has no ttft_p99 \(time to the first token/,
    );
  });
});
