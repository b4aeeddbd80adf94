import { figuresOf } from '../../../loadgen-node/observe/figures/figures-of-records.ts';
import type { SampleRecords } from '../../../loadgen-node/observe/records/sample-records.ts';
import { LATENCY_PARTS } from '../../../loadgen-node/observe/split/latency-parts.ts';
import type { RunSummary } from '../../../loadgen-node/observe/summary/run-summary.ts';
import type { Scenario } from '../../../shared/domain/scenario.ts';

/** A whole summary, with figures of these records where there are any. */
export function reportSummary(
  records: SampleRecords | null,
  scenario: Scenario = 'Server',
  changes: Partial<RunSummary> = {},
): RunSummary {
  const latencyBoundNs = scenario === 'Server' ? 100e6 : null;
  return {
    schemaVersion: 1,
    longhaul: '0.1.0',
    runId: 'a1b2c3',
    startedAt: '2026-11-21T21:00:00.000Z',
    benchmark: 'delay',
    scenario,
    mode: 'PerformanceOnly',
    round: 'v4.1',
    division: 'network',
    sutName: 'Network SUT: sut-a',
    result: 'VALID',
    verdict: { isValid: true, reasons: [] },
    loadgenVerdict: { isValid: true, reasons: [] },
    figures: records === null ? {} : figuresOf(records, { scenario, latencyBoundNs }),
    contractErrors: 0,
    peakTargetQps: null,
    thresholds: [],
    targetPercentile: 0.99,
    latencyBoundNs,
    isGeneratorBound: false,
    generatorBoundReason: '',
    split: {
      sampleCount: records?.rowCount ?? 0,
      parts: LATENCY_PARTS.map((part, i) => ({
        part,
        meanNs: 100_000 * (i + 1),
        typicalNs: 80_000 * (i + 1),
        tailNs: part === 'queue' ? 30e6 : 90_000 * (i + 1),
      })),
      growsMost: 'queue',
      text: 'The queue of the SUT grows most at the tail: the SUT is the limit.',
    },
    health: {
      cpuShare: 0.31,
      eventLoopDelay: { p50Ns: 20_000, p99Ns: 400_000, maxNs: 3_100_000 },
      gc: { count: 12, totalNs: 21_000_000, maxNs: 3_000_000 },
      stealShare: 0.001,
      backPressure: { socketNs: 0, creditNs: 2_000_000 },
      seconds: Array.from({ length: 30 }, (_, i) => ({
        atNs: (i + 1) * 1e9,
        cpuShare: 0.3 + 0.05 * Math.sin(i),
        eventLoopDelayMaxNs: 400_000 + 250_000 * Math.cos(i * 1.7),
        gcNs: 700_000,
      })),
    },
    ceiling: {
      measuredAt: '2026-11-20T09:00:00.000Z',
      measuredOn: 'longhaul 0.1.0, Node 20.20.2, Linux 6.1, 2 cores',
      inProcessQps: 412_000,
      loopbackQps: 71_300,
    },
    accuracy: null,
    nodes: [
      {
        address: '10.0.0.2:50051',
        name: 'sut-a',
        model: 'delay model exponential:8ms',
        issuedSamples: records?.rowCount ?? 0,
        completedSamples: records?.rowCount ?? 0,
        failedSamples: 0,
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
    records:
      records === null
        ? null
        : { file: 'longhaul_records.arrow', rows: records.rowCount, parts: [0] },
    ...changes,
  };
}
