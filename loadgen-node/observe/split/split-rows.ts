import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import { forEachStretch } from '../records/record-block.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { closeParts, DECODE, FIRST_OF_SERVICE } from './split-sums.ts';

/** The samples of one set, as a split reads them: where they lie, without a copy. */
export interface SplitRows {
  /** Issued samples, or more. */
  readonly rowCount: number;
  readonly queryCount: number;
  /** Rows of each issued query, in order: from `begin` up to, but not including, `end`. */
  readonly forEachQuery: (visit: (begin: number, end: number) => void) => void;
  /** Completed - scheduled in ns; NaN: the sample was lost. Of one query the largest is that which came last. */
  readonly latencyNs: (row: number) => number;
  /**
   * Takes the latency of a row apart. Instants are LoadGen's own, lengths of time the SUT node's: no clocks are compared. A SUT
   * without a transport has no `send`.
   * @param parts Is filled as {@link closeParts} says: ns, in the order of `LATENCY_PARTS`.
   * @returns The latency in ns; NaN where the sample was lost or a part is not known.
   */
  readonly readParts: (row: number, parts: Float64Array) => number;
  /** -1 where nobody said. */
  readonly nodeOf: (row: number) => number;
}

/** The rows of each part of a run. */
export function rowsOfRecords(records: SampleRecords): SplitRows[] {
  const { rowCount, part } = records;
  const pieces: SplitRows[] = [];
  forEachStretch(part, { begin: 0, end: rowCount }, (begin, end) => {
    pieces.push(rowsOfPart(records, begin, end));
  });
  return pieces;
}

function rowsOfPart(records: SampleRecords, partBegin: number, partEnd: number): SplitRows {
  const { query, scheduledNs, issuedNs, handedNs, completedNs, decodeNs, node } = records;
  const service = SERVICE_TIMES.map((column) => records.service[column]);
  const forEachQuery = (visit: (begin: number, end: number) => void): void =>
    forEachStretch(query, { begin: partBegin, end: partEnd }, visit);
  let queryCount = 0;
  forEachQuery(() => {
    queryCount += 1;
  });
  const latencyNs = (row: number): number =>
    (completedNs[row] as number) - (scheduledNs[row] as number);
  return {
    rowCount: partEnd - partBegin,
    queryCount,
    forEachQuery,
    latencyNs,
    readParts: (row, parts) => {
      const handed = handedNs[row] as number;
      const issued = issuedNs[row] as number;
      parts[0] = issued - (scheduledNs[row] as number);
      parts[1] = Number.isNaN(handed) ? 0 : handed - issued;
      for (let i = 0; i < service.length; i += 1) {
        parts[FIRST_OF_SERVICE + i] = (service[i] as Float32Array)[row] as number;
      }
      parts[DECODE] = decodeNs[row] as number;
      return closeParts(parts, latencyNs(row));
    },
    nodeOf: (row) => node[row] as number,
  };
}
