import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RecordedSet } from '../../../../../loadgen-node/loadgen/engine/test-context.ts';
import type { TestOutcome } from '../../../../../loadgen-node/loadgen/engine/test-outcome.ts';
import {
  closedLoop,
  type OtherArrivals,
} from '../../../../../loadgen-node/loadgen/schedule/arrivals/arrivals.ts';
import type { TestSettings } from '../../../../../loadgen-node/loadgen/settings/test-settings.ts';
import { errorTexts, readDetailLog } from '../../../../scenes/simulated-run/run-logs.ts';
import { simulatedTest } from '../../../../scenes/simulated-run/simulated-run.ts';
import type { SutOptions } from '../../../../scenes/simulated-run/simulated-sut.ts';

const SERVER = { scenario: 'Server', minDurationMs: 0, minQueryCount: 1 } as const;

async function loadTest(
  arrivals: OtherArrivals,
  settings: Partial<TestSettings> = {},
  sut: Partial<SutOptions> = {},
): Promise<{ outcome: TestOutcome; scheduled: number[]; issued: number[]; outdir: string }> {
  const sets: RecordedSet[] = [];
  const keepRecords = async (set: RecordedSet): Promise<void> => void sets.push(set);
  const test = simulatedTest({ ...SERVER, serverTargetQps: 10, ...settings }, sut);
  const departures = [{ mark: 'a mark' }];
  const outcome = await test.run({ arrivals, departures, observer: { keepRecords } });
  const [set] = sets;
  const columns = set?.recorder.columns();
  const count = set?.recorder.issuedQueries ?? 0;
  return {
    outcome,
    scheduled: [...(columns?.scheduledNs.subarray(0, count) ?? [])],
    issued: [...(columns?.issuedNs.subarray(0, count) ?? [])],
    outdir: test.outdir,
  };
}

// Goal: queries go out when the arrivals say, latency counts from there, and no log looks like
// MLPerf's. Method: whole tests under simulated time.
describe('load test', () => {
  it('issues the queries of a trace when they are due, and ends with the last', async () => {
    const dueNs = Float64Array.of(0, 100e6, 100e6, 350e6, 2e9);
    const { outcome, scheduled, issued } = await loadTest({
      text: 'trace:a',
      kind: 'trace',
      dueNs,
    });
    expect(scheduled).toEqual([...dueNs]);
    for (const [i, ns] of issued.entries()) {
      const lateNs = ns - (dueNs[i] as number);
      expect(lateNs).toBeGreaterThanOrEqual(0);
      expect(lateNs).toBeLessThan(1e6);
    }
    expect(outcome.performance?.endCause).toBe('all-issued');
    expect(outcome.performance?.counts).toMatchObject({ issuedQueries: 5, completedSamples: 5 });
  });

  it('counts latency from the schedule where a SUT takes a burst one by one', async () => {
    const arrivals = { text: 'burst:4', kind: 'burst', size: 4, periodNs: 1e9 } as const;
    const { outcome } = await loadTest(
      arrivals,
      { minQueryCount: 8 },
      // Each sample waits for those of its burst: 10, 20, 30 and 40 ms.
      { serviceNs: (sample) => 10e6 * (1 + (sample % 4)) },
    );
    const { sampleLatency } = outcome.performance?.summary ?? {};
    expect(outcome.performance?.counts.issuedQueries).toBe(8);
    for (const [ns, atLeast] of [
      [sampleLatency?.minNs, 10e6],
      [sampleLatency?.maxNs, 40e6],
    ] as const) {
      expect(ns).toBeGreaterThanOrEqual(atLeast);
      expect(ns).toBeLessThan(atLeast + 1e6);
    }
  });

  it('ends with the steps, and is not too short by the rules for other runs', async () => {
    const steps = [
      { fromQps: 100, toQps: 100, durationNs: 3e9 },
      { fromQps: 300, toQps: 300, durationNs: 2e9 },
    ];
    const arrivals = { text: 'step:...', kind: 'step', steps, isConstant: true } as const;
    const { outcome, scheduled } = await loadTest(arrivals);
    expect(scheduled).toHaveLength(900);
    expect(scheduled.at(-1)).toBeLessThan(5e9);
    expect(outcome.performance?.durationNs).toBeLessThan(5.1e9);
    expect(outcome.verdicts.longhaul).toMatchObject({ isValid: true, reasons: [] });
  });

  it('stops at the longest duration all the same', async () => {
    const dueNs = Float64Array.from({ length: 1000 }, (_, i) => i * 10e6);
    const arrivals = { text: 'trace:a', kind: 'trace', dueNs } as const;
    const { outcome } = await loadTest(arrivals, { maxDurationMs: 1000 });
    expect(outcome.performance?.endCause).toBe('max-duration');
    expect(outcome.performance?.counts.issuedQueries).toBe(102);
  });

  it('keeps so many queries outstanding in a closed loop, and ends by time', async () => {
    const settings = { serverTargetQps: 1e5, minDurationMs: 1000 };
    // Queries of 10 ms and 20 ms by turns.
    const serviceNs = (sample: number): number => (sample % 2 === 0 ? 10e6 : 20e6);
    const { outcome, issued } = await loadTest(closedLoop(3), settings, { serviceNs });
    const { performance } = outcome;
    expect(performance?.endCause).toBe('natural');
    expect(performance?.counts.lostSamples).toBe(0);
    // Three at a time of 15 ms each in the mean.
    expect(performance?.summary.rates.completed).toBeGreaterThan(190);
    expect(performance?.summary.rates.completed).toBeLessThan(205);
    // Latency counts from the issue.
    expect(performance?.summary.sampleLatency.maxNs).toBeLessThan(21e6);
    expect(performance?.dispatchLag.maxNs).toBe(0);
    expect(issued.filter((ns) => ns < 1e6)).toHaveLength(3);
    const ends = issued.map((ns, i) => ns + serviceNs(i));
    for (const ns of issued.slice(3)) {
      const running = issued.filter((at, i) => at < ns && (ends[i] as number) > ns + 1e5);
      expect(running.length).toBeLessThanOrEqual(2);
    }
  });

  it('goes on in a closed loop after a lost sample, and where answers come at once', async () => {
    const failure = { code: 'internal', text: 'lost' } as const;
    const lost = await loadTest(
      closedLoop(2),
      { serverTargetQps: 1e4, minDurationMs: 100 },
      {
        answer: (sink, id, atNs) =>
          id === 1 ? sink.fail(id, failure) : sink.complete(id, new Uint8Array(0), 0, atNs),
      },
    );
    expect(lost.outcome.performance?.counts).toMatchObject({ lostSamples: 1 });
    expect(lost.outcome.performance?.counts.completedSamples).toBeGreaterThan(50);
    const now = { serviceNs: () => 0 };
    const { outcome } = await loadTest(closedLoop(4), { serverTargetQps: 1e3 }, now);
    expect(outcome.performance?.counts.completedSamples).toBe(1);
  });

  it('writes its arrivals and an error line into the log, which keep it out of submissions', async () => {
    const { outcome, outdir } = await loadTest(
      { text: 'constant', kind: 'constant' },
      { minQueryCount: 500 },
    );
    const { detail, summary } = outcome.logFiles;
    expect(detail).toContain(outdir);
    const line = readDetailLog(detail).find(({ key }) => key === 'longhaul_arrivals');
    expect(line?.value).toBe('constant');
    expect(errorTexts(detail)).toEqual(['a mark. This is not valid for official submission.']);
    expect(readFileSync(summary, 'utf8')).toContain('1 ERROR encountered. See detailed log.');
    // As LoadGen's, the verdict does not look at logged errors.
    expect(outcome.verdicts.loadgen.isValid).toBe(true);
  });

  it("writes neither where the arrivals are LoadGen's", async () => {
    const outcome = await simulatedTest({ ...SERVER, serverTargetQps: 100 }).run();
    const keys = readDetailLog(outcome.logFiles.detail).map(({ key }) => key);
    expect(keys).not.toContain('longhaul_arrivals');
    expect(errorTexts(outcome.logFiles.detail)).toEqual([]);
  });

  it("keeps LoadGen's arrivals in the accuracy phase, whose times nobody measures", async () => {
    const plain = await simulatedTest({ ...SERVER, mode: 'AccuracyOnly' }).run();
    const dueNs = Float64Array.of(0);
    const test = simulatedTest({ ...SERVER, mode: 'AccuracyOnly' });
    const outcome = await test.run({ arrivals: { text: 'trace:a', kind: 'trace', dueNs } });
    expect(outcome.accuracy?.counts).toEqual(plain.accuracy?.counts);
  });
});
