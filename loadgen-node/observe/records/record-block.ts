import type { SampleRecords, ServiceColumn } from './sample-records.ts';

/** Which columns a table has beside those that every one has. */
export interface TokenColumns {
  readonly hasTokens: boolean;
  readonly hasFirstTokens: boolean;
}

/** Takes the memory of a table: 76 bytes per row, 4 more with tokens and 8 with first tokens. */
export function allocateRecords(rowCount: number, tokens: TokenColumns): SampleRecords {
  const lengths = (): Float32Array => new Float32Array(rowCount);
  return {
    rowCount,
    part: new Uint16Array(rowCount),
    query: new Uint32Array(rowCount),
    sampleIndex: new Uint32Array(rowCount),
    scheduledNs: new Float64Array(rowCount),
    issuedNs: new Float64Array(rowCount),
    handedNs: new Float64Array(rowCount),
    completedNs: new Float64Array(rowCount),
    node: new Int16Array(rowCount),
    service: {
      receiveNs: lengths(),
      queueNs: lengths(),
      batchWaitNs: lengths(),
      preprocessNs: lengths(),
      computeNs: lengths(),
      postprocessNs: lengths(),
      sendNs: lengths(),
    },
    decodeNs: lengths(),
    tokenCount: tokens.hasTokens ? new Uint32Array(rowCount) : null,
    firstTokenNs: tokens.hasFirstTokens ? new Float64Array(rowCount) : null,
  };
}

/** Rows `begin` to before `end` of a table, as views: no byte is copied. */
export function sliceRecords(records: SampleRecords, begin: number, end: number): SampleRecords {
  const { service } = records;
  const lengths = (column: ServiceColumn): Float32Array => service[column].subarray(begin, end);
  return {
    rowCount: Math.max(0, Math.min(end, records.rowCount) - begin),
    part: records.part.subarray(begin, end),
    query: records.query.subarray(begin, end),
    sampleIndex: records.sampleIndex.subarray(begin, end),
    scheduledNs: records.scheduledNs.subarray(begin, end),
    issuedNs: records.issuedNs.subarray(begin, end),
    handedNs: records.handedNs.subarray(begin, end),
    completedNs: records.completedNs.subarray(begin, end),
    node: records.node.subarray(begin, end),
    service: {
      receiveNs: lengths('receiveNs'),
      queueNs: lengths('queueNs'),
      batchWaitNs: lengths('batchWaitNs'),
      preprocessNs: lengths('preprocessNs'),
      computeNs: lengths('computeNs'),
      postprocessNs: lengths('postprocessNs'),
      sendNs: lengths('sendNs'),
    },
    decodeNs: records.decodeNs.subarray(begin, end),
    tokenCount: records.tokenCount?.subarray(begin, end) ?? null,
    firstTokenNs: records.firstTokenNs?.subarray(begin, end) ?? null,
  };
}

/** Writes all rows of `source` into `target`, from row `at` on. Both have the same columns. */
export function copyRecords(target: SampleRecords, at: number, source: SampleRecords): void {
  target.part.set(source.part, at);
  target.query.set(source.query, at);
  target.sampleIndex.set(source.sampleIndex, at);
  target.scheduledNs.set(source.scheduledNs, at);
  target.issuedNs.set(source.issuedNs, at);
  target.handedNs.set(source.handedNs, at);
  target.completedNs.set(source.completedNs, at);
  target.node.set(source.node, at);
  for (const column of Object.keys(source.service) as ServiceColumn[]) {
    target.service[column].set(source.service[column], at);
  }
  target.decodeNs.set(source.decodeNs, at);
  if (source.tokenCount !== null) target.tokenCount?.set(source.tokenCount, at);
  if (source.firstTokenNs !== null) target.firstTokenNs?.set(source.firstTokenNs, at);
}
