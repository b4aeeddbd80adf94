import type { LedgerResponse__Output } from '../../proto/gen/mlperf/network/v1/LedgerResponse.ts';

/** What the QDL sent to one node in a run and got back. */
export interface RunLedger {
  readonly queryCount: number;
  readonly partCount: number;
  readonly sampleCount: number;
  readonly payloadBytes: number;
  readonly completedCount: number;
  readonly failedCount: number;
  readonly responseBytes: number;
}

/** The QDL's count for one node. Hot path: numbers only. */
export class RunLedgerCounter implements RunLedger {
  queryCount = 0;
  partCount = 0;
  sampleCount = 0;
  payloadBytes = 0;
  completedCount = 0;
  failedCount = 0;
  responseBytes = 0;
  /** Parts of a query leave one after another, so the last query number is all that is needed. */
  #lastQuery = -1;

  countPart(query: number, wholeSamples: number, bytes: number): void {
    if (query !== this.#lastQuery) {
      this.#lastQuery = query;
      this.queryCount += 1;
    }
    this.partCount += 1;
    this.sampleCount += wholeSamples;
    this.payloadBytes += bytes;
  }
}

const FIELDS = [
  ['queryCount', 'queries'],
  ['partCount', 'parts'],
  ['sampleCount', 'samples'],
  ['payloadBytes', 'payload bytes'],
  ['completedCount', 'completed samples'],
  ['failedCount', 'failed samples'],
  ['responseBytes', 'response bytes'],
] as const satisfies readonly (readonly [keyof RunLedger & keyof LedgerResponse__Output, string])[];

/** Differences between the two ends' counts in words; empty when they agree. */
export function compareLedgers(
  node: string,
  ours: RunLedger,
  theirs: LedgerResponse__Output,
): string[] {
  if (!theirs.known) {
    return ours.partCount === 0 ? [] : [`SUT node ${node} knows nothing of this run`];
  }
  return FIELDS.filter(([field]) => ours[field] !== theirs[field]).map(
    ([field, words]) =>
      `${words}: the LoadGen node counted ${ours[field]}, SUT node ${node} ${theirs[field]}`,
  );
}
