import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  repeatTest,
  SERVER_RUNS_V05,
} from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import { loadgenOf } from '../../../../../loadgen-node/loadgen/settings/loadgen-behaviour.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { readDetailLog } from '../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

const loadgen = loadgenOf('v0.5');
const MS = 1_000_000;

const INTERVALS: Partial<TestSettings> = {
  scenario: 'MultiStream',
  multiStreamExpectedLatencyNs: 50 * MS,
  multiStreamSamplesPerQuery: 4,
  minDurationMs: 10_000,
  minQueryCount: 150,
};

/** All samples of a query take the time of the query. */
function queryTest(serviceNs: (query: number) => number) {
  return simulatedTest(INTERVALS, { serviceNs: (sample) => serviceNs(Math.floor(sample / 4)) });
}

// Goal: round v0.5's MultiStream: a query per interval, skipped intervals counted and judged.
// Method: a SUT whose queries take known times, under simulated time.
describe('MultiStream with a fixed arrival interval', () => {
  it('issues one query per interval and counts latency from the tick', async () => {
    const test = queryTest(() => 20 * MS);
    const { performance, verdicts, logFiles } = await test.run({ loadgen });
    const issued = test.sut.queries.map(({ issuedAtNs }) => issuedAtNs);
    expect(new Set(issued.slice(1).map((at, i) => at - (issued[i] ?? 0)))).toEqual(
      new Set([50 * MS]),
    );
    expect(performance?.endCause).toBe('natural');
    expect(performance?.counts.issuedQueries).toBe(200);
    expect(performance?.summary.queryLatency?.maxNs).toBe(20 * MS);
    expect(performance?.summary.arrivals).toMatchObject({
      samplesPerQuery: 4,
      skippedIntervals: 0,
      skippingQueries: 0,
    });
    expect(verdicts.longhaul.isValid).toBe(true);
    expect(readFileSync(logFiles.summary, 'utf8')).toContain('Samples per query : 4');
  });

  it('skips the intervals in which the last query is not done', async () => {
    // 120 ms reach over two further ticks: the query after goes out at the third.
    const test = queryTest((query) => (query === 10 ? 120 * MS : 20 * MS));
    const { performance, verdicts } = await test.run({ loadgen });
    const issued = test.sut.queries.map(({ issuedAtNs }) => issuedAtNs);
    expect((issued[11] ?? 0) - (issued[10] ?? 0)).toBe(150 * MS);
    expect(performance?.summary.arrivals).toMatchObject({
      skippedIntervals: 2,
      skippingQueries: 1,
    });
    expect(verdicts.loadgen.isValid).toBe(true);
  });

  it('is INVALID when more than 1 % of the queries cause a skip', async () => {
    const test = queryTest((query) => (query % 50 === 0 ? 60 * MS : 20 * MS));
    const { performance, verdicts } = await test.run({ loadgen });
    expect(performance?.summary.arrivals?.skippingQueries).toBeGreaterThan(2);
    expect(verdicts.loadgen.reasons.map(({ rule, key }) => [rule, key])).toEqual([
      ['latency-bound', 'multi_stream_samples_per_query'],
    ]);
  });

  it('counts a last query that takes too long by its own latency', async () => {
    const test = simulatedTest(
      { ...INTERVALS, minQueryCount: 1, minDurationMs: 50 },
      { serviceNs: () => 120 * MS },
    );
    const { performance } = await test.run({ loadgen });
    expect(performance?.counts.issuedQueries).toBe(1);
    expect(performance?.summary.arrivals).toMatchObject({
      skippedIntervals: 2,
      targetIntervals: 3,
    });
  });
});

// Goal: the lowest of five Server runs counts, and only if all are valid.
// Method: SUTs of known speed, one per run.
describe('five runs of Server', () => {
  async function repeat(serviceNs: (run: number) => number) {
    const settings = {
      scenario: 'Server',
      serverTargetQps: 100,
      serverTargetLatencyNs: 10 * MS,
    } as const;
    return await repeatTest(SERVER_RUNS_V05, (run) =>
      simulatedTest(settings, { serviceNs: () => serviceNs(run) }).run({ loadgen }),
    );
  }

  it('give the lowest rate', async () => {
    const { outcomes, isValid, samplesPerSecond } = await repeat((run) => (run + 1) * MS);
    const rates = outcomes.map(({ performance }) => performance?.summary.rates.completed);
    expect(isValid).toBe(true);
    expect(new Set(rates).size).toBe(5);
    expect(samplesPerSecond).toBe(rates[4]);
  });

  it('give none when one of them is INVALID', async () => {
    const { outcomes, isValid, samplesPerSecond } = await repeat(
      (run) => (run === 2 ? 50 : 1) * MS,
    );
    expect(outcomes).toHaveLength(5);
    expect(isValid).toBe(false);
    expect(samplesPerSecond).toBeNull();
  });
});

// Goal: a run that early stopping leaves undecided goes on by just the missing queries.
// Method: Server runs that are too short, with and without samples above the bound.
describe('a run that extends until it is decided', () => {
  const SHORT: Partial<TestSettings> = {
    scenario: 'Server',
    serverTargetQps: 100,
    serverTargetLatencyNs: 10 * MS,
    minDurationMs: 1000,
  };
  const STREAM: Partial<TestSettings> = {
    scenario: 'SingleStream',
    singleStreamTargetLatencyPercentile: 0.99,
    minDurationMs: 1000,
  };

  it.each([
    ['no sample above the bound', Number.POSITIVE_INFINITY, 459],
    ['one sample above the bound', 50, 662],
  ])('ends at the least count with %s', async (_case, slowSample, expected) => {
    const test = simulatedTest(SHORT, {
      serviceNs: (sample) => (sample === slowSample ? 20 : 1) * MS,
    });
    const { performance, verdicts, logFiles } = await test.run({ extendsUntilDecided: true });
    expect(test.sut.complaints).toEqual([]);
    expect(performance?.summary.queryCount).toBe(expected);
    expect(performance?.counts.issuedQueries).toBe(expected);
    expect(performance?.extension?.isDecided).toBe(true);
    expect(verdicts.longhaul.isValid).toBe(true);
    const texts = readDetailLog(logFiles.detail).map(({ value }) => String(value));
    expect(texts.some((text) => text.includes('Extending the run by'))).toBe(true);
  });

  it('ends without a decision where the bound is missed', async () => {
    const test = simulatedTest(SHORT, { serviceNs: () => 20 * MS });
    const { performance, verdicts } = await test.run({ extendsUntilDecided: true });
    expect(performance?.extension).toEqual({ count: 0, queries: 0, isDecided: false });
    expect(verdicts.loadgen.isValid).toBe(false);
  });

  it.each([
    ['Server, at once where its schedule is too long', SHORT, 0, 2000, 110],
    ['a stream, counted from its first query', STREAM, 1, 4000, 400],
  ])('ends without a decision by max_duration: %s', async (_what, asked, count, maxMs, most) => {
    const settings = { ...asked, maxDurationMs: maxMs };
    const test = simulatedTest(settings, { serviceNs: () => 9 * MS });
    const { performance, verdicts } = await test.run({ extendsUntilDecided: true });
    expect(performance?.extension).toMatchObject({ count, isDecided: false });
    expect(performance?.summary.queryCount).toBeGreaterThan(most / 2);
    expect(performance?.summary.queryCount).toBeLessThan(1.3 * most);
    const rules = verdicts.loadgen.reasons.map(({ rule }) => rule);
    expect(rules).toEqual(['early-stopping']);
  });

  it('is as LoadGen has it unless it is asked for', async () => {
    const { performance } = await simulatedTest(SHORT).run();
    expect(performance?.extension).toBeNull();
    expect(performance?.summary.validity.earlyStopping.isMet).toBe(false);
  });
});
