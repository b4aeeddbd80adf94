import { SERVICE_TIMES } from '../../loadgen/recorder/service-times.ts';
import { forEachStretch } from '../records/record-block.ts';
import type { SampleRecords } from '../records/sample-records.ts';
import { closeParts, DECODE, FIRST_OF_SERVICE } from './split-sums.ts';

/** The samples of one part, as a split reads them: where they lie, without a copy. */
export type SplitRows = ReturnType<typeof rowsOfPart>;

/** The rows of each part of a run. */
export function rowsOfRecords(records: SampleRecords): SplitRows[] {
  const { rowCount, part } = records;
  const pieces: SplitRows[] = [];
  forEachStretch(part, { begin: 0, end: rowCount }, (begin, end) => {
    pieces.push(rowsOfPart(records, begin, end));
  });
  return pieces;
}

function rowsOfPart(records: SampleRecords, partBegin: number, partEnd: number) {
  const { query, scheduledNs, issuedNs, handedNs, completedNs, decodeNs, node } = records;
  const service = SERVICE_TIMES.map((column) => records.service[column]);
  /** Rows of each issued query, in order: from `begin` up to, but not including, `end`. */
  const forEachQuery = (visit: (begin: number, end: number) => void): void =>
    forEachStretch(query, { begin: partBegin, end: partEnd }, visit);
  let queryCount = 0;
  forEachQuery(() => {
    queryCount += 1;
  });
  /** Completed - scheduled in ns; NaN: the sample was lost. Of one query the largest is that which came last. */
  const latencyNs = (row: number): number =>
    (completedNs[row] as number) - (scheduledNs[row] as number);
  /**
   * Takes the latency of a row apart. Instants are LoadGen's own, lengths of time the SUT node's: no clocks are compared.
   * A SUT without a transport has no `send`. Fills `parts` as {@link closeParts} says, in ns, in the order of
   * `LATENCY_PARTS`; returns the latency, NaN where the sample was lost or a part is not known.
   */
  const readParts = (row: number, parts: Float64Array): number => {
    const handed = handedNs[row] as number;
    const issued = issuedNs[row] as number;
    parts[0] = issued - (scheduledNs[row] as number);
    parts[1] = Number.isNaN(handed) ? 0 : handed - issued;
    for (let i = 0; i < service.length; i += 1) {
      parts[FIRST_OF_SERVICE + i] = (service[i] as Float32Array)[row] as number;
    }
    parts[DECODE] = decodeNs[row] as number;
    return closeParts(parts, latencyNs(row));
  };
  /** -1 where nobody said. */
  const nodeOf = (row: number): number => node[row] as number;
  const rowCount = partEnd - partBegin;
  return { rowCount, queryCount, forEachQuery, latencyNs, readParts, nodeOf };
}
