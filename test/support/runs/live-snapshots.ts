import type {
  LatencyFigures,
  LiveSnapshot,
} from '../../../loadgen-node/observe/live/live-snapshot.ts';
import { LATENCY_PARTS } from '../../../loadgen-node/observe/split/latency-parts.ts';

/** What differs between the seconds of a made-up run. */
export interface SecondOptions {
  readonly nodeCount?: number;
  readonly targetPerS?: number | null;
}

/** Second `second` of a made-up Server run that slows down and recovers in waves. */
export function liveSecond(second: number, options: SecondOptions = {}): LiveSnapshot {
  const { nodeCount = 2, targetPerS = 100 } = options;
  const wave = 1 + 0.5 * Math.sin(second / 20) + 0.2 * Math.sin(second / 3);
  const p50Ns = 5e6 * wave;
  const completed = second * 100;
  const outstanding = Array.from({ length: nodeCount }, (_, i) => Math.round(4 * wave) + (i % 5));
  const latency = latencyOf(p50Ns);
  return {
    atS: second,
    windowS: 1,
    phase: 'performance',
    set: { index: 0, count: 1 },
    elapsedS: second,
    share: Math.min(1, second / 600),
    remainingS: Math.max(0, 600 - second),
    plannedQueries: 60_000,
    issuedQueriesOfSet: completed + 4,
    completedSamplesOfSet: completed,
    totals: {
      issuedQueries: completed + 4,
      issuedSamples: completed + 4,
      completedSamples: completed,
      lostSamples: 0,
    },
    outstanding: outstanding.reduce((sum, count) => sum + count, 0),
    rateUnit: 'queries',
    issuedPerS: 100,
    completedPerS: 100 - wave,
    targetPerS,
    bound: { latencyNs: 15e6, percentile: 0.99 },
    latency,
    overall: latency,
    lag: { p50Ns: 8e3, p99Ns: 50e3 * wave, maxNs: 2e6 },
    split: LATENCY_PARTS.map((_, i) => (p50Ns * (i + 1)) / 66),
    nodes: {
      outstanding,
      completedPerS: Array.from({ length: nodeCount }, () => 100 / nodeCount),
      meanNs: Array.from({ length: nodeCount }, (_, i) => p50Ns * (1 + i / 100)),
      failed: Array.from({ length: nodeCount }, () => 0),
      lost: [],
    },
    hasEnded: false,
  };
}

function latencyOf(p50Ns: number): LatencyFigures {
  return {
    count: 100,
    p50Ns,
    p90Ns: p50Ns * 2,
    p99Ns: p50Ns * 3,
    p999Ns: p50Ns * 5,
    maxNs: p50Ns * 5.5,
  };
}
