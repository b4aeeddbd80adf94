import { percentileOf } from '../../../loadgen/results/latency-statistics.ts';
import { type LatencyTable, sortedNumbers } from './latency-table.ts';

/** What one SUT node answered. */
export interface NodeLatencies {
  /** From 0, in the order of the summary's nodes. */
  readonly node: number;
  /** Rows of the table that it answered. */
  readonly count: number;
  readonly p50Ns: number;
  readonly p99Ns: number;
}

/** Latencies by the node that answered, in the order of their numbers; rows that nobody answered are in none. */
export function nodeLatencies(table: LatencyTable): NodeLatencies[] {
  const counts = new Map<number, number>();
  for (const node of table.node) counts.set(node, (counts.get(node) ?? 0) + 1);
  counts.delete(-1);
  return [...counts.keys()]
    .sort((a, b) => a - b)
    .map((node) => {
      const values = new Float64Array(counts.get(node) as number);
      let next = 0;
      for (let row = 0; row < table.count; row += 1) {
        if (table.node[row] !== node) continue;
        values[next] = table.latencyNs[row] as number;
        next += 1;
      }
      const sorted = sortedNumbers(values);
      return {
        node,
        count: sorted.length,
        p50Ns: percentileOf(sorted, 0.5),
        p99Ns: percentileOf(sorted, 0.99),
      };
    });
}
