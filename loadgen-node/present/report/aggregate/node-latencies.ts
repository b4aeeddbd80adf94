import { ExactDistribution } from '../../../observe/figures/distribution.ts';
import { latencyFigures } from '../../../observe/figures/figures.ts';
import type { LatencyTable } from '../../../observe/figures/latency-table.ts';

/** What one SUT node answered. */
export interface NodeLatencies {
  /** From 0, in the order of the summary's nodes. */
  readonly node: number;
  /** Rows of the table that it answered. */
  readonly count: number;
  readonly p50Ns: number;
  readonly p99Ns: number;
}

/** Latencies by the node that answered, in the order of their numbers; what was lost is in none. */
export function nodeLatencies({ count, node: nodes, latencyNs }: LatencyTable): NodeLatencies[] {
  const latencies = new Map<number, ExactDistribution>();
  for (let row = 0; row < count; row += 1) {
    const node = nodes[row] as number;
    const latency = latencyNs[row] as number;
    if (node < 0 || Number.isNaN(latency)) continue;
    const ofNode = latencies.get(node) ?? new ExactDistribution();
    latencies.set(node, ofNode);
    ofNode.add(latency);
  }
  return [...latencies]
    .sort(([a], [b]) => a - b)
    .map(([node, ofNode]) => {
      const { p50, p99 } = latencyFigures(ofNode);
      return { node, count: ofNode.count, p50Ns: p50, p99Ns: p99 };
    });
}
