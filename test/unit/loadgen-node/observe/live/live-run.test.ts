import { describe, expect, it } from 'vitest';
import type { RunProgress } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import type { OtherArrivals } from '../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { LiveRun } from '../../../../../loadgen-node/observe/live/live-run.ts';
import type { LiveSnapshot } from '../../../../../loadgen-node/observe/live/live-snapshot.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';

// Goal: what is shown while a run goes on adds up to what the run says of itself in the end.
// Method: tests of the engine under simulated time, looked at once a second, in all scenarios and
// phases.

async function watch(
  settings: Partial<TestSettings>,
  serviceNs = 1e6,
  isExtended = false,
  arrivals?: OtherArrivals,
): Promise<{
  snapshots: LiveSnapshot[];
  progress: RunProgress[];
  outcome: Awaited<ReturnType<ReturnType<typeof simulatedTest>['run']>>;
}> {
  const live = new LiveRun(1);
  const snapshots: LiveSnapshot[] = [];
  const seen: RunProgress[] = [];
  const test = simulatedTest(settings, { serviceNs: () => serviceNs });
  const outcome = await test.run({
    extendsUntilDecided: isExtended,
    arrivals,
    observer: {
      sampleWatch: live.statistics,
      onProgress: (progress) => {
        seen.push(progress);
        snapshots.push(live.look(progress, [], test.clock.nowNs() / 1e9));
      },
    },
  });
  return { snapshots, progress: seen, outcome };
}

const SHORT = { minDurationMs: 5_000, minQueryCount: 100 } as const;

describe('LiveRun', () => {
  it.each([
    ['Server', { scenario: 'Server', serverTargetQps: 100 }],
    ['SingleStream', { scenario: 'SingleStream', singleStreamExpectedLatencyNs: 1e6 }],
    ['MultiStream', { scenario: 'MultiStream', multiStreamExpectedLatencyNs: 8e6 }],
    ['Offline', { scenario: 'Offline', offlineExpectedQps: 1000 }],
  ] as const)('counts in %s what the run counts', async (_case, settings) => {
    const { snapshots, outcome } = await watch({ ...SHORT, ...settings });
    const counts = outcome.performance?.counts;
    const last = snapshots.at(-1) as LiveSnapshot;
    expect(last.totals).toEqual({
      issuedQueries: counts?.issuedQueries,
      issuedSamples: counts?.issuedSamples,
      completedSamples: counts?.completedSamples,
      lostSamples: 0,
    });
    const completed = snapshots.reduce((sum, { latency }) => sum + (latency?.count ?? 0), 0);
    const { scenario } = settings;
    expect(completed).toBe(
      scenario === 'MultiStream' ? counts?.completedQueries : counts?.completedSamples,
    );
    expect(last).toMatchObject({ hasEnded: true, share: 1, remainingS: 0, outstanding: 0 });
  });

  it('tells rates, target and latencies of each second of a Server run', async () => {
    const { snapshots, outcome } = await watch({
      ...SHORT,
      scenario: 'Server',
      serverTargetQps: 200,
      serverTargetLatencyNs: 15e6,
    });
    expect(snapshots.length).toBeGreaterThanOrEqual(5);
    const whole = snapshots.filter(({ windowS }) => windowS === 1);
    for (const second of whole) {
      expect(second.targetPerS).toBe(200);
      expect(second.bound).toEqual({ latencyNs: 15e6, percentile: 0.99 });
      expect(second.issuedPerS).toBeGreaterThan(100);
    }
    const exactNs = outcome.performance?.summary.sampleLatency.percentiles.find(
      ({ percentile }) => percentile === 0.99,
    )?.valueNs as number;
    const toldNs = snapshots.at(-1)?.overall?.p99Ns as number;
    expect(Math.abs(toldNs / exactNs - 1)).toBeLessThan(0.02);
  });

  it('has the rate of the step as target, and that of the gap in a trace', async () => {
    const server = { scenario: 'Server', serverTargetQps: 100 } as const;
    const step = (fromQps: number, toQps: number) => ({ fromQps, toQps, durationNs: 2e9 });
    const steps = [step(50, 50), step(50, 250), step(0, 0)];
    const stepped = await watch(server, 1e6, false, {
      ...{ kind: 'step', text: 'step:...', steps, isConstant: true },
    });
    const targets = stepped.snapshots.map(({ targetPerS }) => Math.round(targetPerS ?? 0));
    expect(targets).toEqual([50, 50, 100, 200]);
    const dueNs = Float64Array.of(0, 0.1e9, 0.2e9, 0.3e9, 3.5e9);
    const traced = await watch(server, 1e6, false, { kind: 'trace', text: 'trace:...', dueNs });
    expect(traced.snapshots.map(({ targetPerS }) => targetPerS).slice(0, 3)).toEqual([4, 0, 0]);
  });

  it('goes through all sets of an accuracy run, and does not mix its latencies with those of performance', async () => {
    const { snapshots } = await watch({
      ...SHORT,
      mode: 'SubmissionRun',
      scenario: 'Server',
      serverTargetQps: 100,
      performanceSampleCountOverride: 20,
    });
    const accuracy = snapshots.filter(({ phase }) => phase === 'accuracy');
    expect(accuracy.at(-1)).toMatchObject({ set: { index: 4, count: 5 }, share: 1 });
    const shares = accuracy.map(({ share }) => share as number);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(accuracy.at(-1)?.totals.completedSamples).toBe(100);
    const performance = snapshots.filter(({ phase }) => phase === 'performance');
    const counted = performance.reduce((sum, { latency }) => sum + (latency?.count ?? 0), 0);
    expect(performance.at(-1)?.overall?.count).toBe(counted);
  });

  it('shows the parts of a run that is extended as one distribution', async () => {
    const { snapshots, outcome } = await watch(
      { minDurationMs: 0, minQueryCount: 70, scenario: 'SingleStream' },
      1e6,
      true,
    );
    const ends = snapshots.filter(({ hasEnded }) => hasEnded);
    expect(ends.length).toBe(1 + (outcome.performance?.extension?.count ?? 0));
    expect(ends.at(-1)?.overall?.count).toBe(outcome.performance?.counts.completedSamples);
  });

  it('splits the latency of samples whose node reported its times, and the parts sum to it', () => {
    const live = new LiveRun(2);
    const times = {
      receiveNs: 10e3,
      queueNs: 20e3,
      batchWaitNs: 30e3,
      preprocessNs: 40e3,
      computeNs: 5e6,
      postprocessNs: 50e3,
      sendNs: 60e3,
    };
    live.statistics.served(1, times, 7e3, 8e3, 9e3);
    live.statistics.completed(6e6);
    // Told times that cannot be count for the latency only.
    live.statistics.served(1, { ...times, computeNs: 3_600e9 }, 7e3, 8e3, 9e3);
    live.statistics.completed(6e6);
    // One that was refused, and one of which nothing is known.
    live.statistics.served(0, undefined, 0, 0, 0);
    live.statistics.completed(9e6);
    const usage = { atNs: 1e9, cores: 1.5, residentBytes: 4096, machineCores: 2 };
    const nodes = [
      { outstandingSamples: 3, completedSamples: 1, failedSamples: 0, isLost: false, usage },
      { outstandingSamples: 0, completedSamples: 1, failedSamples: 2, isLost: true },
    ];
    const { split, nodes: figures } = live.look(PROGRESS, nodes, 1);
    expect(split?.reduce((sum, ns) => sum + ns, 0)).toBeCloseTo(6e6);
    expect(split?.slice(0, 4)).toEqual([8e3, 9e3, 6e6 - 5.21e6 - 24e3, 10e3]);
    expect(figures).toEqual({
      outstanding: [3, 0],
      completedPerS: [1, 1],
      meanNs: [9e6, 6e6],
      failed: [0, 2],
      lost: [1],
      usage: [{ cores: 1.5, residentBytes: 4096 }, null],
    });
    expect(live.look({ ...PROGRESS, elapsedNs: 2e9 }, nodes, 2)).toMatchObject({
      latency: null,
      split: null,
      nodes: { completedPerS: [0, 0], meanNs: [null, null] },
    });
  });
});

describe('a run that goes on until early stopping decides', () => {
  const decision = { neededQueries: 20, earlierQueries: 0 };
  it.each([
    ['a schedule that ends in time', { lastDueNs: 10e9, maxDurationNs: 11e9 }, true],
    [
      'a schedule that is longer than the run may be',
      { lastDueNs: 10e9, maxDurationNs: 9e9 },
      false,
    ],
    ['answers that come in time', { lastDueNs: 0, maxDurationNs: 11e9 }, true],
    ['answers that come too slowly', { lastDueNs: 0, maxDurationNs: 9e9 }, false],
    ['no limit', { lastDueNs: 10e9, maxDurationNs: 0 }, true],
  ])('tells whether it will be decided: %s', (_case, goal, isInTime) => {
    const progress = { ...PROGRESS, goal: { ...PROGRESS.goal, decision, ...goal } };
    expect(new LiveRun(0).look(progress, [], 1).decision).toEqual({
      ...{ neededQueries: 20, queries: 2, isInTime },
    });
  });

  it.each([0, 9e9])(
    'tells nothing of its end before the first answer: max_duration of %d ns',
    (maxDurationNs) => {
      const goal = { ...PROGRESS.goal, decision, lastDueNs: 0, maxDurationNs };
      const progress = { ...PROGRESS, completedSamples: 0, goal };
      expect(new LiveRun(0).look(progress, [], 1).decision).toEqual({
        ...{ neededQueries: 20, queries: 0, isInTime: null },
      });
    },
  );

  it('tells its planned queries only where a schedule, or samples, end it', () => {
    const planned = (goal: Partial<RunProgress['goal']>) =>
      new LiveRun(0).look({ ...PROGRESS, goal: { ...PROGRESS.goal, ...goal } }, [], 1)
        .plannedQueries;
    expect(planned({})).toBe(100);
    expect(planned({ lastDueNs: 0, minDurationNs: 10e9, minQueryCount: 100 })).toBeNull();
  });
});

const PROGRESS: RunProgress = {
  phase: 'performance',
  goal: {
    scenario: 'Server',
    targetQps: 10,
    latencyBoundNs: 0,
    lagNsMax: 0,
    hasOneRate: true,
    percentile: 0.99,
    samplesPerQuery: 1,
    lastDueNs: 10e9,
    minDurationNs: 0,
    minQueryCount: 0,
    maxDurationNs: 0,
    maxQueryCount: 0,
  },
  setIndex: 0,
  setCount: 1,
  samplesBefore: 0,
  samplesOfAll: 1000,
  elapsedNs: 1e9,
  dueQps: 10,
  generatedQueries: 100,
  issuedQueries: 10,
  issuedSamples: 10,
  completedSamples: 2,
  lostSamples: 0,
  hasEnded: false,
};
