import { describe, expect, it, vi } from 'vitest';
import type { EndCause } from '../../../../../../loadgen-node/loadgen/engine/issue/issue-threads.ts';
import type { TestOutcome } from '../../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { OtherArrivals } from '../../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { NullSut } from '../../../../../../loadgen-node/operate/doctor/generator-ceiling.ts';
import { MemoryQsl } from '../../../../../scenes/simulated-run/memory-qsl.ts';
import { errorTexts, readDetailLog } from '../../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../../scenes/simulated-run/simulated-run.ts';

function issuedAndEnd(outcome: TestOutcome): [number, EndCause] {
  const phase = outcome.performance;
  return [phase?.counts.issuedQueries ?? 0, phase?.endCause ?? 'interrupted'];
}

/**
 * Hundreds of thousands of queries take seconds, on a machine that does other things perhaps more.
 */
vi.setConfig({ testTimeout: 30_000 });

// Goal: every scenario issues what LoadGen issues and ends by the rule by which LoadGen ends.
// Method: whole tests under simulated time against a SUT with a fixed service time.
describe('performance run', () => {
  it.each<[string, Partial<TestSettings>, number, number, EndCause]>([
    [
      'SingleStream until the least duration',
      { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 1e6, minDurationMs: 6_000 },
      1e6,
      6_001,
      'natural',
    ],
    [
      'SingleStream until the least count',
      { scenario: 'SingleStream', minDurationMs: 10, minQueryCount: 1000 },
      1e6,
      1000,
      'natural',
    ],
    [
      'SingleStream until the list is empty when the SUT is faster than expected',
      { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 1e6, minDurationMs: 1000 },
      100_000,
      2001,
      'ran-out',
    ],
    [
      'SingleStream until the largest count',
      { scenario: 'SingleStream', minDurationMs: 1000, maxQueryCount: 150 },
      1e6,
      150,
      'max-query-count',
    ],
    [
      'SingleStream until the longest duration',
      { scenario: 'SingleStream', minDurationMs: 1000, maxDurationMs: 120 },
      1e6,
      122,
      'max-duration',
    ],
    [
      'MultiStream until the least count',
      { scenario: 'MultiStream', minDurationMs: 100, minQueryCount: 700 },
      8e6,
      700,
      'natural',
    ],
    [
      'Server all there is, whatever the least count',
      { scenario: 'Server', serverTargetQps: 1000, minDurationMs: 1000, minQueryCount: 100 },
      1e6,
      944,
      'all-issued',
    ],
    [
      'Server until the longest duration',
      { scenario: 'Server', serverTargetQps: 1000, minDurationMs: 1000, maxDurationMs: 200 },
      1e6,
      192,
      'max-duration',
    ],
    [
      'Server until too many queries are outstanding',
      { scenario: 'Server', serverTargetQps: 1000, minDurationMs: 1000, serverMaxAsyncQueries: 5 },
      20e6,
      6,
      'max-async',
    ],
    ['Offline one query', { scenario: 'Offline', minDurationMs: 1000 }, 2e9, 1, 'natural'],
  ])('issues in %s', async (_case, settings, serviceNs, queryCount, cause) => {
    const test = simulatedTest(settings, { serviceNs: () => serviceNs });
    const outcome = await test.run();
    expect(issuedAndEnd(outcome)).toEqual([queryCount, cause]);
    expect(test.sut.queries).toHaveLength(queryCount);
    expect(test.sut.complaints).toEqual([]);
    expect(test.sut.calls).toEqual(['name', 'start', 'flush', 'name', 'stop']);
    expect(outcome.performance?.counts.lostSamples).toBe(0);
  });

  const slow: Partial<TestSettings> = {
    ...{ scenario: 'Server', serverTargetQps: 0.01, minDurationMs: 1000 },
    ...{ maxDurationMs: 3000, minQueryCount: 20 },
  };
  const pause = [
    { fromQps: 1000, toQps: 1000, durationNs: 1e6 },
    { fromQps: 0, toQps: 0, durationNs: 50e9 },
    { fromQps: 10, toQps: 10, durationNs: 1e9 },
  ];

  it.each<[string, Partial<TestSettings>, OtherArrivals | undefined]>([
    ['Poisson', slow, undefined],
    ['of two issue threads', { ...slow, serverNumIssueQueryThreads: 2 }, undefined],
    ['even', slow, { kind: 'constant', text: '' }],
    ['in bursts', slow, { kind: 'burst', size: 3, periodNs: null, text: '' }],
    ['with a pause', slow, { kind: 'step', steps: pause, isConstant: true, text: '' }],
    ['of a trace', slow, { kind: 'trace', dueNs: Float64Array.of(0, 1e9, 60e9), text: '' }],
  ])(
    'ends at the longest duration where the next query is far: arrivals %s',
    async (_case, settings, arrivals) => {
      const test = simulatedTest(settings, { serviceNs: () => 1e6 });
      const startNs = test.clock.nowNs();
      const outcome = await test.run({ arrivals });
      expect(outcome.performance?.endCause).toBe('max-duration');
      expect(test.clock.nowNs() - startNs).toBeLessThan(3.1e9);
      const [text] = errorTexts(outcome.logFiles.detail).filter((one) => one.includes('Ending'));
      expect(text).toMatch(/Ending early: Max test duration reached. duration_ns 300\d{7}$/);
    },
  );

  it('waits for a query that is due soon behind the longest duration, as LoadGen does', async () => {
    const test = simulatedTest({ ...slow, maxDurationMs: 2500, serverTargetQps: 1 });
    const outcome = await test.run({ arrivals: { kind: 'constant', text: '' } });
    expect(issuedAndEnd(outcome)).toEqual([4, 'max-duration']);
  });

  it('issues 10 s of Server at 1000 queries per second by the Poisson schedule', async () => {
    const test = simulatedTest(
      { scenario: 'Server', serverTargetQps: 1000, minDurationMs: 10_000 },
      { serviceNs: () => 5e6 },
      new MemoryQsl(50_000, 1024),
    );
    const outcome = await test.run();
    const summary = outcome.performance?.summary;
    expect(summary?.sampleLatency.minNs).toBe(5e6);
    expect(summary?.sampleLatency.maxNs).toBe(5e6);
    expect(outcome.performance?.dispatchLag.maxNs).toBe(0);
    expect(summary?.rates.scheduled).toBeCloseTo(1000, -1);
    expect(outcome.performance?.counts.issuedSamples).toBe(test.sut.queries.length);
    expect(outcome.verdicts.loadgen.isValid).toBe(true);
    expect(outcome.verdicts.longhaul.isValid).toBe(true);
  });

  it('counts latency from the schedule when the thread was blocked', async () => {
    const test = simulatedTest(
      { scenario: 'Server', serverTargetQps: 1000, minDurationMs: 1000, minQueryCount: 1 },
      { serviceNs: () => 2e6, blocks: true },
    );
    const outcome = await test.run();
    // Twice the load that a SUT with 2 ms per sample can take: the queue grows, nothing is left
    // out.
    expect(outcome.performance?.counts.issuedQueries).toBe(944);
    expect(outcome.performance?.summary.sampleLatency.maxNs).toBeGreaterThan(800e6);
    expect(outcome.performance?.dispatchLag.maxNs).toBeGreaterThan(800e6);
    expect(outcome.performance?.isGeneratorBound).toBe(true);
    expect(outcome.performance?.generatorBoundReason).toMatch(/late|issue/);
  });

  it('does not recurse when the SUT completes inside issueQuery', async () => {
    const test = simulatedTest(
      { scenario: 'SingleStream', minDurationMs: 0, minQueryCount: 100_000 },
      { serviceNs: () => 0 },
    );
    const outcome = await test.run();
    expect(issuedAndEnd(outcome)).toEqual([100_000, 'natural']);
    expect(test.sut.depthMax).toBe(1);
  });

  it('keeps its own work small: a million samples of a SUT that does nothing', async () => {
    const test = simulatedTest({ scenario: 'SingleStream', minDurationMs: 0, minQueryCount: 1e6 });
    const outcome = await test.run({ sut: new NullSut() });
    expect(issuedAndEnd(outcome)).toEqual([1_000_000, 'natural']);
    expect(outcome.verdicts.longhaul.isValid).toBe(true);
  });

  it('does not recurse when completions come in a burst from outside', async () => {
    const test = simulatedTest({ scenario: 'MultiStream', minDurationMs: 0, minQueryCount: 700 });
    await test.run();
    expect(test.sut.depthMax).toBe(1);
    expect(test.sut.outstandingMax).toBe(8);
  });

  it('lets I/O through at least every millisecond of a SUT that blocks', async () => {
    const test = simulatedTest(
      {
        scenario: 'SingleStream',
        singleStreamExpectedLatencyNs: 100_000,
        minDurationMs: 10,
        minQueryCount: 1,
      },
      { serviceNs: () => 100_000, blocks: true },
    );
    let turns = 0;
    let isOver = false;
    const look = (): void => {
      turns += 1;
      if (!isOver) test.clock.callAt(test.clock.nowNs(), look);
    };
    look();
    await test.run();
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('writes in the log why it ended', async () => {
    const test = simulatedTest(
      { scenario: 'Server', serverTargetQps: 1000, minDurationMs: 1000, serverMaxAsyncQueries: 5 },
      { serviceNs: () => 20e6 },
    );
    const { logFiles } = await test.run();
    expect(errorTexts(logFiles.detail)).toEqual([
      'IssueQueryThread 0 Ending early: Too many outstanding queries. issued 6 outstanding 6',
    ]);
  });

  it('reports progress about once a second, and at the end', async () => {
    const seen: number[] = [];
    const test = simulatedTest({ scenario: 'SingleStream', minDurationMs: 3500 });
    await test.run({
      observer: { onProgress: (progress) => seen.push(progress.completedSamples) },
    });
    expect(seen).toEqual([999, 1999, 2999, 3501]);
  });
});

// Goal: an accuracy run takes every sample of the library exactly once, set by set.
// Method: a library of several sets with a short last one, in all scenarios.
describe('accuracy run', () => {
  it.each<[Partial<TestSettings>, number]>([
    [{ scenario: 'SingleStream' }, 100],
    [{ scenario: 'Server', serverTargetQps: 1000 }, 100],
    [{ scenario: 'Offline' }, 100],
    // Padding repeats samples, as LoadGen does: 13 queries of 8.
    [{ scenario: 'MultiStream' }, 104],
  ])('takes every sample once in %o', async (settings, issuedSamples) => {
    const test = simulatedTest({ ...settings, mode: 'AccuracyOnly' }, {}, new MemoryQsl(100, 8));
    const outcome = await test.run();
    const indices = test.sut.queries.flatMap((query) => query.sampleIndices);
    expect(indices).toHaveLength(issuedSamples);
    expect(new Set(indices).size).toBe(100);
    expect(test.sut.complaints).toEqual([]);
    expect(test.sut.flushCount).toBe(13);
    expect(test.qsl.loads).toHaveLength(13);
    expect(test.qsl.unloads).toEqual(test.qsl.loads);
    expect(outcome.accuracy).toMatchObject({ setsRun: 13, setCount: 13, endCause: 'all-issued' });
    expect(outcome.performance).toBeNull();
    expect(outcome.verdicts.longhaul.isValid).toBe(true);
    // One name only: LoadGen asks again after performance runs alone.
    expect(test.sut.calls.filter((call) => call === 'name')).toHaveLength(1);
  });

  it('runs accuracy and then performance with ids that go on', async () => {
    const test = simulatedTest(
      { scenario: 'Server', mode: 'SubmissionRun', serverTargetQps: 1000, minDurationMs: 200 },
      {},
      new MemoryQsl(300, 7),
    );
    const outcome = await test.run();
    expect(test.sut.queries).toHaveLength(492);
    expect(test.sut.queries.at(-1)?.firstResponseId).toBe(491);
    expect(outcome.accuracy?.counts.issuedSamples).toBe(300);
    expect(outcome.performance?.counts.issuedSamples).toBe(192);
    const modes = readDetailLog(outcome.logFiles.detail).filter(
      (line) => line.key === 'generic_message',
    );
    expect(modes.map((line) => line.value)).toEqual([
      'Starting accuracy mode',
      'Starting performance mode',
    ]);
  });
});
