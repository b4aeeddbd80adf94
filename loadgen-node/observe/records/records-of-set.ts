import type { RecordedSet } from '../../loadgen/engine/test-context.ts';
import type { RecordedColumns } from '../../loadgen/recorder/recording.ts';
import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import { allocateRecords, type TokenColumns } from './record-block.ts';
import type { SampleRecords } from './sample-records.ts';

/** The rows of one set, handed out block by block, so that nobody has to hold a second copy of all of them. */
export class SetRows {
  /** Issued samples. */
  readonly rowCount: number;
  readonly tokens: TokenColumns;
  readonly #part: number;
  readonly #sampleIndices: Uint32Array;
  readonly #columns: RecordedColumns;
  #query = 0;
  #sampleOfQuery = 0;

  constructor({ plan, recorder, part }: RecordedSet) {
    this.#part = part;
    this.#sampleIndices = plan.sampleIndices;
    this.#columns = recorder.columns();
    this.rowCount = recorder.issuedSamples;
    this.tokens = {
      hasTokens: this.#columns.tokenCounts !== null,
      hasFirstTokens: this.#columns.firstTokenNs !== null,
    };
  }

  /**
   * Overwrites a block with the next rows.
   * @param block With the columns that {@link tokens} says.
   * @returns How many rows it has now; 0 after the last one.
   */
  fill(block: SampleRecords): number {
    const { samplesPerQuery, queryEnd, isIssued } = this.#columns;
    let row = 0;
    while (row < block.rowCount && this.#query < queryEnd) {
      if (isIssued(this.#query)) {
        const end = Math.min(samplesPerQuery, this.#sampleOfQuery + block.rowCount - row);
        for (; this.#sampleOfQuery < end; this.#sampleOfQuery += 1) {
          this.#writeRow(block, row, this.#sampleOfQuery);
          row += 1;
        }
        if (this.#sampleOfQuery < samplesPerQuery) break;
      }
      this.#sampleOfQuery = 0;
      this.#query += 1;
    }
    return row;
  }

  #writeRow(block: SampleRecords, row: number, sampleOfQuery: number): void {
    const columns = this.#columns;
    const query = this.#query;
    const sample = query * columns.samplesPerQuery + sampleOfQuery;
    const scheduledNs = columns.scheduledNs[query] as number; // In range: the query was issued.
    const handedNs = columns.sampleHandedNs[sample] as number;
    block.part[row] = this.#part;
    block.query[row] = query;
    block.sampleIndex[row] = this.#sampleIndices[sample] as number;
    block.scheduledNs[row] = scheduledNs;
    block.issuedNs[row] = columns.issuedNs[query] as number;
    block.handedNs[row] = handedNs === 0 ? Number.NaN : handedNs;
    block.completedNs[row] = columns.isCompleted(sample)
      ? scheduledNs + (columns.latencyNs[sample] as number)
      : Number.NaN;
    this.#writeService(block, row, sample);
    if (block.tokenCount !== null) block.tokenCount[row] = columns.tokenCounts?.[sample] ?? 0;
    if (block.firstTokenNs !== null) {
      block.firstTokenNs[row] = scheduledNs + (columns.firstTokenNs?.[sample] ?? Number.NaN);
    }
  }

  #writeService({ node, service, decodeNs }: SampleRecords, row: number, sample: number): void {
    const seen = this.#columns.service;
    node[row] = seen?.nodeOf(sample) ?? -1;
    decodeNs[row] = seen?.decodeOf(sample) ?? Number.NaN;
    for (let i = 0; i < SERVICE_TIMES.length; i += 1) {
      const column = SERVICE_TIMES[i] as (typeof SERVICE_TIMES)[number];
      service[column][row] = seen?.timeOf(sample, i) ?? Number.NaN;
    }
  }
}

/** The records of one set as a table, after its end. It holds all of them a second time: 76 bytes or more per sample. */
export function recordsOfSet(set: RecordedSet): SampleRecords {
  const rows = new SetRows(set);
  const records = allocateRecords(rows.rowCount, rows.tokens);
  rows.fill(records);
  return records;
}
