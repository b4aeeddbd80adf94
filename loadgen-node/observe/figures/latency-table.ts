import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { hasQueryLatency } from './figures.ts';

/**
 * One row per latency that the figures use: samples, or whole queries ({@link hasQueryLatency}), in
 * record order. Times are ns since the start of the first part; parts follow each other.
 */
export function latencyTable(records: SampleRecords, scenario: Scenario): LatencyTable {
  const { rowCount, part, query } = records;
  const isOfQueries = hasQueryLatency(scenario);
  const scheduledNs = new Float64Array(rowCount);
  const latencyNs = new Float64Array(rowCount);
  const lagNs = new Float64Array(rowCount);
  const completedSamples = new Uint32Array(rowCount);
  const node = new Int16Array(rowCount);
  let count = 0;
  /** Start of the current part. */
  let offsetNs = 0;
  let endNs = 0;
  let before = -1;
  for (let row = 0; row < rowCount; row += 1) {
    const isOfPart = before >= 0 && part[row] === part[before];
    if (!isOfPart) offsetNs = endNs;
    const joins = isOfPart && isOfQueries && query[row] === query[before];
    before = row;
    const dueNs = records.scheduledNs[row] as number;
    const issuedNs = records.issuedNs[row] as number;
    const completedNs = records.completedNs[row] as number;
    const isLost = Number.isNaN(completedNs);
    endNs = Math.max(endNs, offsetNs + (isLost ? issuedNs : completedNs));
    if (!joins) {
      scheduledNs[count] = offsetNs + dueNs;
      lagNs[count] = issuedNs - dueNs;
      latencyNs[count] = completedNs - dueNs;
      node[count] = records.node[row] as number;
      count += 1;
    }
    const own = count - 1;
    // Math.max gives NaN if either is NaN: a query with a lost sample has no latency.
    latencyNs[own] = Math.max(latencyNs[own] as number, completedNs - dueNs);
    if (!isLost) completedSamples[own] = (completedSamples[own] as number) + 1;
  }
  return {
    count,
    scheduledNs: scheduledNs.subarray(0, count),
    latencyNs: latencyNs.subarray(0, count),
    lagNs: lagNs.subarray(0, count),
    completedSamples: completedSamples.subarray(0, count),
    node: node.subarray(0, count),
    endNs,
  };
}

/** One row per latency of the scenario: of a query or of a sample. */
export interface LatencyTable {
  readonly count: number;
  readonly scheduledNs: Float64Array;
  /** Completed - scheduled; NaN if a sample was lost. */
  readonly latencyNs: Float64Array;
  /** Issued - scheduled. */
  readonly lagNs: Float64Array;
  /** Completed samples of the row. */
  readonly completedSamples: Uint32Array;
  /** Node that answered its first sample; -1 if unknown. */
  readonly node: Int16Array;
  /** End of the last part: its last completion or issue. */
  readonly endNs: number;
}

/** A sorted copy without NaN values. */
export function sortedNumbers(values: Float64Array): Float64Array {
  const sorted = values.slice().sort(); // NaN is sorted to the end.
  let count = sorted.length;
  while (count > 0 && Number.isNaN(sorted[count - 1])) count -= 1;
  return sorted.subarray(0, count);
}
