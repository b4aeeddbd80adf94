import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monotonicClock } from '../../loadgen-node/loadgen/engine/monotonic-clock.ts';
import { runTest } from '../../loadgen-node/loadgen/engine/start-test.ts';
import type { TestObserver } from '../../loadgen-node/loadgen/engine/test-context.ts';
import type { LatencyStatistics } from '../../loadgen-node/loadgen/results/latency-statistics.ts';
import {
  defaultTestSettings,
  type TestSettings,
} from '../../loadgen-node/loadgen/settings/test-settings.ts';
import { LiveRun } from '../../loadgen-node/observe/live/live-run.ts';
import type { Clock } from '../../shared/base/clock.ts';
import type { Scenario } from '../../shared/domain/scenario.ts';
import type { ServiceTimes } from '../../shared/domain/system-under-test.ts';
import { SimulatedClock } from '../scenes/clock.ts';
import { MemoryQsl } from '../scenes/simulated-run/memory-qsl.ts';
import { BenchSut } from './bench-sut.ts';

/** A job for a child process. */
export type BenchJob =
  | {
      readonly kind: 'flat-out';
      readonly scenario: Scenario;
      readonly count: number;
      /** Whether somebody looks on; then, or if nobody does, the SUT reports its own times. */
      readonly isWatched?: boolean;
    }
  | { readonly kind: 'delay'; readonly qps: number; readonly seconds: number }
  | { readonly kind: 'simulated'; readonly scenario: Scenario; readonly rule: SimulatedRule };

/** Rules that may end a simulated run. */
export const SIMULATED_RULES = ['least', 'max-query-count', 'max-duration'] as const;

/** `least`: the scenario's own end. */
type SimulatedRule = (typeof SIMULATED_RULES)[number];

/** Result of a job. Times in s, memory in bytes. */
export interface BenchResult {
  readonly endCause: string;
  /** From the first query to the last response. */
  readonly issueS: number;
  /** From the last response to the end of the test: statistics, verdicts, logs. */
  readonly summaryS: number;
  /** The whole test, with the generation of its queries. */
  readonly wholeS: number;
  readonly issuedSamples: number;
  readonly issuedQueries: number;
  readonly rssMaxBytes: number;
  /** Issued - scheduled, in µs: p50, p99, p99.9, max. */
  readonly delayUs: readonly number[];
}

/** Runs one job in this process. */
export async function runJob(job: BenchJob): Promise<BenchResult> {
  switch (job.kind) {
    case 'flat-out':
      return await measure(flatOut(job.scenario, job.count), monotonicClock, 0, job.isWatched);
    case 'delay': {
      const minDurationMs = job.seconds * 1000;
      const settings = { scenario: 'Server', serverTargetQps: job.qps, minDurationMs } as const;
      return await measure({ ...settings, minQueryCount: 1 }, monotonicClock);
    }
    case 'simulated': {
      const clock = new SimulatedClock(0, 1);
      return await clock.drive(measure(tenMinutes(job.scenario, job.rule), clock, 1e6));
    }
  }
}

/** The engine issues as fast as it can, and ends after just `count` queries (Offline: samples). */
function flatOut(scenario: Scenario, count: number): Partial<TestSettings> {
  // Server: all arrivals fall into the first moments, so that each query is late and goes out at
  // once.
  return { scenario, minDurationMs: 0, minQueryCount: count, serverTargetQps: 1e8 };
}

/** 600 s at 1 k QPS, whatever ends them: the scenario asks for more where a limit shall. */
function tenMinutes(scenario: Scenario, rule: SimulatedRule): Partial<TestSettings> {
  return {
    scenario,
    minDurationMs: rule === 'least' ? 600_000 : 660_000,
    minQueryCount: 1,
    maxQueryCount: rule === 'max-query-count' ? 600_000 : 0,
    maxDurationMs: rule === 'max-duration' ? 600_000 : 0,
    serverTargetQps: 1000,
    offlineExpectedQps: 1000,
    singleStreamExpectedLatencyNs: 1e6,
    multiStreamExpectedLatencyNs: 1e6,
  };
}

async function measure(
  settings: Partial<TestSettings>,
  clock: Clock,
  delayNs = 0,
  isWatched?: boolean,
): Promise<BenchResult> {
  const outdir = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  const sut = new BenchSut(clock, delayNs, isWatched === undefined ? null : SERVED);
  const beginMs = performance.now();
  try {
    const { performance: phase } = await runTest({
      sut,
      qsl: new MemoryQsl(1024),
      settings: { ...defaultTestSettings(), ...settings },
      clock,
      log: { outdir },
      stallTimeoutNs: 60e9,
      drainTimeoutNs: 1e9,
      observer: isWatched === true ? watched() : {},
    });
    const endMs = performance.now();
    if (phase === null || phase.counts.lostSamples > 0) throw new Error('the run broke');
    return {
      endCause: phase.endCause,
      issueS: phase.durationNs / 1e9,
      summaryS: (endMs - sut.flushedMs) / 1e3,
      wholeS: (endMs - beginMs) / 1e3,
      issuedSamples: phase.counts.issuedSamples,
      issuedQueries: phase.counts.issuedQueries,
      rssMaxBytes: process.resourceUsage().maxRSS * 1024,
      delayUs: delaysOf(phase.dispatchLag),
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** A node's own times, in ns. */
const SERVED: ServiceTimes = {
  receiveNs: 1e4,
  queueNs: 2e4,
  batchWaitNs: 3e4,
  preprocessNs: 4e4,
  computeNs: 5e6,
  postprocessNs: 5e4,
  sendNs: 6e4,
};

/** Observers of a status line or a live page, whose cost on the timed path is measured. */
function watched(): Pick<TestObserver, 'onProgress' | 'sampleWatch'> {
  const run = new LiveRun(1);
  return {
    sampleWatch: run.statistics,
    onProgress: (progress) => {
      run.look(progress, [], performance.now() / 1e3);
    },
  };
}

function delaysOf({ percentiles, maxNs }: LatencyStatistics): number[] {
  const shown = percentiles.filter(({ percentile }) => [0.5, 0.99, 0.999].includes(percentile));
  return [...shown.map(({ valueNs }) => valueNs / 1e3), maxNs / 1e3];
}
