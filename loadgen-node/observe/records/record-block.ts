import { type ColumnArray, presentColumns } from './record-columns.ts';
import type { SampleRecords } from './sample-records.ts';

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

/** Writes all rows of `source` into `target`, from row `at` on. Both have the same columns. */
export function copyRecords(target: SampleRecords, at: number, source: SampleRecords): void {
  for (const { of } of presentColumns(source)) of(target)?.set(of(source) as ColumnArray, at);
}

/** Several parts as one table, in the order given. All have the columns of the first. */
export function joinRecords(parts: readonly SampleRecords[]): SampleRecords {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
  const joined = allocateRecords(rowCount, {
    hasTokens: (first?.tokenCount ?? null) !== null,
    hasFirstTokens: (first?.firstTokenNs ?? null) !== null,
  });
  let at = 0;
  for (const part of parts) {
    copyRecords(joined, at, part);
    at += part.rowCount;
  }
  return joined;
}

/**
 * Calls back with each stretch of neighbouring rows that have one value, from its first row to behind its last one: the rows
 * of a part, or of a query.
 */
export function forEachStretch(
  values: ColumnArray,
  { begin, end }: { readonly begin: number; readonly end: number },
  visit: (begin: number, end: number) => void,
): void {
  for (let first = begin; first < end; ) {
    let next = first + 1;
    while (next < end && values[next] === values[first]) next += 1;
    visit(first, next);
    first = next;
  }
}
