import type {
  GeneratorHealth,
  GeneratorMonitor,
} from '../../../loadgen-node/loadgen/results/generator-health.ts';
import { figuresOf } from '../../../loadgen-node/observe/figures/figures-of-records.ts';
import type { LiveSnapshot } from '../../../loadgen-node/observe/live/live-snapshot.ts';
import type { SampleRecords } from '../../../loadgen-node/observe/records/sample-records.ts';
import { LATENCY_PARTS } from '../../../loadgen-node/observe/split/latency-parts.ts';
import {
  lanesOfRun,
  type NodeUsagePoint,
  type RunSummary,
} from '../../../loadgen-node/observe/summary/run-summary.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';

/** A LoadGen process that had a core for itself and little to do, for 10 s; with what differs. */
export function generatorHealth(other: Partial<GeneratorHealth> = {}): GeneratorHealth {
  return {
    cpuShare: 0.3,
    cpuWaitShare: 0.001,
    eventLoopDelay: { p50Ns: 0.6e6, p99Ns: 1.2e6, maxNs: 3e6 },
    gc: { count: 12, totalNs: 10e6, maxNs: 2e6 },
    stealShare: 0,
    backPressure: { socketNs: 0, creditNs: 0 },
    seconds: [
      { atNs: 10e9, cpuShare: 0.3, cpuWaitShare: 0.001, eventLoopDelayMaxNs: 3e6, gcNs: 10e6 },
    ],
    ...other,
  };
}

/** A monitor that tells this of every set. */
export function monitorThatTells(health: GeneratorHealth): GeneratorMonitor {
  return () => () => health;
}

/** What a node told of its machine in 30 s, in waves. */
export function nodeUsage(node: number): NodeUsagePoint[] {
  return Array.from({ length: 30 }, (_, i) => ({
    ...{ atNs: (i + 0.7) * 1e9, cores: 1.3 + 0.4 * Math.sin(node + i / 2) },
    residentBytes: (300 + 25 * node + i) * 2 ** 20,
    machineCores: 1.6 + 0.3 * Math.sin(node + i / 2),
  }));
}

/** A whole summary of a VALID run, with figures of these records where there are any. */
export function reportSummary(
  records: SampleRecords | null,
  scenario: Scenario = 'Server',
  changes: Partial<RunSummary> = {},
): RunSummary {
  const { tokenBounds = null } = changes;
  const latencyBoundNs = scenario === 'Server' && tokenBounds === null ? 100e6 : null;
  const lanes = lanesOfRun({ latencyBoundNs, tokenBounds, targetPercentile: 0.99 });
  const rows = records?.rowCount ?? 0;
  const second = (i: number) => ({
    ...{ atNs: (i + 1) * 1e9, cpuShare: 0.3 + 0.05 * Math.sin(i), gcNs: 700_000 },
    eventLoopDelayMaxNs: 400_000 + 250_000 * Math.cos(i * 1.7),
    process: { cores: 0.5 + 0.05 * Math.sin(i), residentBytes: (160 + i / 3) * 2 ** 20 },
  });
  return {
    ...{ schemaVersion: 1, longhaul: '0.1.0', runId: 'a1b2c3', benchmark: 'delay', scenario },
    ...{ startedAt: '2026-11-21T21:00:00.000Z', mode: 'PerformanceOnly', round: 'v4.1' },
    ...{ division: 'network', sutName: 'Network SUT: sut-a', result: 'VALID' },
    ...{ protocol: 'longhaul', labels: {}, keyNotes: [], loadTest: null },
    rows: [['VALID', `delay, ${scenario} (network division)`]],
    verdict: { isValid: true, cause: null, reasons: [] },
    loadgenVerdict: { isValid: true, reasons: [] },
    figures: records === null ? {} : figuresOf(records, { scenario, lanes }),
    ...{ contractErrors: 0, peakTargetQps: null, thresholds: [], targetPercentile: 0.99 },
    ...{
      latencyBoundNs,
      tokenBounds,
      isGeneratorBound: false,
      generatorBoundReason: '',
      accuracy: null,
    },
    split: {
      sampleCount: rows,
      parts: LATENCY_PARTS.map((part, i) => ({
        ...{ part, meanNs: 100_000 * (i + 1), typicalNs: 80_000 * (i + 1) },
        tailNs: part === 'queue' ? 30e6 : 90_000 * (i + 1),
      })),
      growsMost: 'queue',
      text: 'The queue of the SUT grows most at the tail: the SUT is the limit.',
    },
    health: generatorHealth({
      backPressure: { socketNs: 0, creditNs: 2_000_000 },
      seconds: Array.from({ length: 30 }, (_, i) => second(i)),
    }),
    ceiling: {
      measuredAt: '2026-11-20T09:00:00.000Z',
      measuredOn: 'longhaul 0.1.0, Node 20.20.2, Linux 6.1, 2 cores',
      ...{ inProcessQps: 412_000, loopbackQps: 71_300 },
    },
    nodes: [
      {
        ...{ address: '10.0.0.2:50051', name: 'sut-a', model: 'delay model exponential:8ms' },
        ...{ issuedSamples: rows, completedSamples: rows, failedSamples: 0 },
        usage: nodeUsage(0),
      },
    ],
    settings: [
      { key: 'scenario', value: 'Server', source: '--scenario' },
      { key: 'targetQps', value: '90', source: 'longhaul.yaml:4' },
      { key: 'minDuration', value: '30s', source: 'default' },
    ],
    audit: [
      { rule: 'name-asked', verdict: 'holds', text: 'Name was asked of every node, twice.' },
      {
        rule: 'two-machines',
        verdict: 'not provable',
        text: 'No addresses of the hosts are known.',
      },
    ],
    notes: [
      'LoadGen of this run is longhaul, not the C++ LoadGen of an approved revision: not an MLPerf result',
    ],
    records: records === null ? null : { file: 'longhaul_records.arrow', rows, parts: [0] },
    ...changes,
  };
}

/** Second `second` of a made-up Server run that slows down and recovers in waves. */
export function liveSecond(
  second: number,
  { nodeCount = 2, targetPerS = 100 }: { nodeCount?: number; targetPerS?: number | null } = {},
): LiveSnapshot {
  const wave = 1 + 0.5 * Math.sin(second / 20) + 0.2 * Math.sin(second / 3);
  const p50Ns = 5e6 * wave;
  const completed = second * 100;
  const issued = completed + 4;
  const perNode = <T>(of: (node: number) => T) =>
    Array.from({ length: nodeCount }, (_, i) => of(i));
  const outstanding = perNode((node) => Math.round(4 * wave) + (node % 5));
  const latency = {
    ...{ count: 100, p50Ns, p90Ns: p50Ns * 2, p99Ns: p50Ns * 3 },
    ...{ p999Ns: p50Ns * 5, maxNs: p50Ns * 5.5 },
  };
  return {
    ...{ atS: second, windowS: 1, phase: 'performance', set: { index: 0, count: 1 } },
    ...{
      elapsedS: second,
      share: Math.min(1, second / 600),
      remainingS: Math.max(0, 600 - second),
    },
    ...{ plannedQueries: 60_000, issuedQueriesOfSet: issued, completedSamplesOfSet: completed },
    totals: {
      ...{ issuedQueries: issued, issuedSamples: issued },
      ...{ completedSamples: completed, lostSamples: 0 },
    },
    outstanding: outstanding.reduce((sum, count) => sum + count, 0),
    ...{ rateUnit: 'queries', issuedPerS: 100, completedPerS: 100 - wave, targetPerS },
    bound: { latencyNs: 15e6, percentile: 0.99 },
    ...{ latency, overall: latency, overShare: 0.02 },
    ...{ lag: { p50Ns: 8e3, p99Ns: 50e3 * wave, maxNs: 2e6 } },
    ...{ lagSoFar: { p50Ns: 8e3, p99Ns: 70e3, maxNs: 2e6 }, lagNsMax: 1.5e6, growth: null },
    split: LATENCY_PARTS.map((_, i) => (p50Ns * (i + 1)) / 66),
    nodes: {
      outstanding,
      completedPerS: perNode(() => 100 / nodeCount),
      meanNs: perNode((node) => p50Ns * (1 + node / 100)),
      failed: perNode(() => 0),
      lost: [],
      usage: perNode((node) => ({
        ...{ cores: 1.2 * wave + node / 10, residentBytes: (300 + 20 * node) * 2 ** 20 },
      })),
    },
    loadgen: { cores: 0.4 * wave, residentBytes: 180 * 2 ** 20 },
    hasEnded: false,
  };
}
