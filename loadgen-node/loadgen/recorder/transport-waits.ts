import type { RecordedColumns } from './recording.ts';

/** Taken by the transport - issued, by issued query, a query being taken with its last sample; empty for a SUT that has no transport. */
export function transportWaitsNs(columns: RecordedColumns): Float64Array {
  const { queryEnd, samplesPerQuery, sampleHandedNs, issuedNs, isIssued } = columns;
  const waits = new Float64Array(queryEnd);
  let count = 0;
  for (let query = 0; query < queryEnd; query += 1) {
    const first = query * samplesPerQuery;
    let handedNs = 0;
    for (let sample = first; sample < first + samplesPerQuery; sample += 1) {
      handedNs = Math.max(handedNs, sampleHandedNs[sample] as number);
    }
    if (handedNs === 0 || !isIssued(query)) continue;
    waits[count] = Math.max(0, handedNs - (issuedNs[query] as number));
    count += 1;
  }
  return waits.subarray(0, count);
}
