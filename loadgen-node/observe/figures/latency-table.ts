import type { Scenario } from '../../../shared/domain/scenario.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { hasQueryLatency } from './figures.ts';

/**
 * What the latencies of the figures are of, a row each: samples, or whole queries ({@link hasQueryLatency}). In the order of the
 * records. Times are ns since the start of the first part; parts follow one another.
 */
export interface LatencyTable {
  readonly count: number;
  readonly scheduledNs: Float64Array;
  /** Completed - scheduled; NaN: a sample of it was lost. */
  readonly latencyNs: Float64Array;
  /** Issued - scheduled. */
  readonly lagNs: Float64Array;
  /** Samples of the row that completed. */
  readonly completedSamples: Uint32Array;
  /** Node that answered its first sample; -1 where nobody said. */
  readonly node: Int16Array;
  /** End of the last part: the last completion or issue. */
  readonly endNs: number;
}

/**
 * Makes the table.
 * @param parts Those that count; null: all of them.
 */
export function latencyTable(
  records: SampleRecords,
  scenario: Scenario,
  parts: readonly number[] | null,
): LatencyTable {
  const { rowCount, part, query } = records;
  const wanted = parts === null ? null : new Set(parts);
  const isOfQueries = hasQueryLatency(scenario);
  const rows = new TableRows(records);
  let before = -1;
  for (let row = 0; row < rowCount; row += 1) {
    if (wanted !== null && !wanted.has(part[row] as number)) continue;
    const isOfPart = before >= 0 && part[row] === part[before];
    if (!isOfPart) rows.beginPart();
    if (isOfPart && isOfQueries && query[row] === query[before]) rows.join(row);
    else rows.add(row);
    before = row;
  }
  return rows.table();
}

/** A table that grows by rows of the records. */
class TableRows {
  readonly #records: SampleRecords;
  readonly #scheduledNs: Float64Array;
  readonly #latencyNs: Float64Array;
  readonly #lagNs: Float64Array;
  readonly #completedSamples: Uint32Array;
  readonly #node: Int16Array;
  #count = 0;
  /** Where the part at hand begins. */
  #offsetNs = 0;
  #endNs = 0;

  constructor(records: SampleRecords) {
    const length = records.rowCount;
    this.#records = records;
    this.#scheduledNs = new Float64Array(length);
    this.#latencyNs = new Float64Array(length);
    this.#lagNs = new Float64Array(length);
    this.#completedSamples = new Uint32Array(length);
    this.#node = new Int16Array(length);
  }

  beginPart(): void {
    this.#offsetNs = this.#endNs;
  }

  add(row: number): void {
    const { scheduledNs, issuedNs, node } = this.#records;
    const own = this.#count;
    const scheduled = scheduledNs[row] as number;
    this.#scheduledNs[own] = this.#offsetNs + scheduled;
    this.#lagNs[own] = (issuedNs[row] as number) - scheduled;
    this.#latencyNs[own] = this.#complete(row, own);
    this.#node[own] = node[row] as number;
    this.#count += 1;
  }

  /** One more sample of the query that was added last. */
  join(row: number): void {
    const own = this.#count - 1;
    // Math.max gives NaN where one of them is: a query with a lost sample has no latency.
    this.#latencyNs[own] = Math.max(this.#latencyNs[own] as number, this.#complete(row, own));
  }

  table(): LatencyTable {
    const count = this.#count;
    return {
      count,
      scheduledNs: this.#scheduledNs.subarray(0, count),
      latencyNs: this.#latencyNs.subarray(0, count),
      lagNs: this.#lagNs.subarray(0, count),
      completedSamples: this.#completedSamples.subarray(0, count),
      node: this.#node.subarray(0, count),
      endNs: this.#endNs,
    };
  }

  /** Counts a sample; its latency. */
  #complete(row: number, own: number): number {
    const { scheduledNs, issuedNs, completedNs } = this.#records;
    const completed = completedNs[row] as number;
    const isLost = Number.isNaN(completed);
    const lastNs = this.#offsetNs + (isLost ? (issuedNs[row] as number) : completed);
    this.#endNs = Math.max(this.#endNs, lastNs);
    if (!isLost) this.#completedSamples[own] = (this.#completedSamples[own] as number) + 1;
    return completed - (scheduledNs[row] as number);
  }
}

/** The values that are numbers, sorted, as a copy. */
export function sortedNumbers(values: Float64Array): Float64Array {
  const sorted = values.slice().sort(); // NaN is sorted to the end.
  let count = sorted.length;
  while (count > 0 && Number.isNaN(sorted[count - 1])) count -= 1;
  return sorted.subarray(0, count);
}
