import type { LedgerResponse__Output } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { PayloadEncoding } from '../../../shared/domain/query-sample-library.ts';
import type { LedgerCounts, NodeLedger } from '../../../shared/evidence/network-evidence.ts';

/** A node's ledger as plain values. */
export function toNodeLedger(ledger: LedgerResponse__Output): NodeLedger {
  return {
    queryCount: ledger.queryCount,
    partCount: ledger.partCount,
    sampleCount: ledger.sampleCount,
    payloadBytes: ledger.payloadBytes,
    completedCount: ledger.completedCount,
    failedCount: ledger.failedCount,
    responseBytes: ledger.responseBytes,
    digestedSampleCount: ledger.digestedSampleCount,
    payloadDigest: Buffer.from(ledger.payloadDigest).toString('hex'),
    encodings: ledger.encodings.map(({ form, compression }) => ({
      form,
      compression: compression || 'identity',
    })),
    streamCount: ledger.streamCount,
    repeatedStreamCount: ledger.repeatedStreamCount,
    replacedWorkerCount: ledger.replacedWorkerCount,
  };
}

const FIELDS = [
  ['queryCount', 'queries'],
  ['partCount', 'parts'],
  ['sampleCount', 'samples'],
  ['payloadBytes', 'payload bytes'],
  ['completedCount', 'completed samples'],
  ['failedCount', 'failed samples'],
  ['responseBytes', 'response bytes'],
  ['digestedSampleCount', 'digested samples'],
  ['payloadDigest', 'payload digest'],
] as const satisfies readonly (readonly [keyof LedgerCounts, string])[];

/** How the samples of a run went to a node. */
export interface SentAs {
  /** Of every sample; a node that saw another one counted something else. */
  readonly encoding: PayloadEncoding;
  /** Streams that the node opened. */
  readonly streamCount: number;
}

/** Differences between the two ends' counts in words; empty when they agree. */
export function compareLedgers(
  node: string,
  ours: LedgerCounts,
  theirs: NodeLedger,
  { encoding, streamCount }: SentAs,
): string[] {
  const differences = FIELDS.filter(([field]) => ours[field] !== theirs[field]).map(
    ([field, words]) =>
      `${words}: the LoadGen node counted ${shown(ours[field])}, SUT node ${node} ${shown(theirs[field])}`,
  );
  // A node of other make need not tell how many there were: 0 is what it leaves out.
  if (theirs.streamCount !== 0 && theirs.streamCount !== streamCount) {
    const repeated =
      theirs.repeatedStreamCount > 0
        ? ` (${theirs.repeatedStreamCount} with the number of another one: something between repeated an Open)`
        : '';
    differences.push(
      `streams: the LoadGen node opened ${streamCount}, SUT node ${node} counted ${theirs.streamCount}${repeated}`,
    );
  }
  const others = theirs.encodings.filter(
    ({ form, compression }) => form !== encoding.form || compression !== encoding.compression,
  );
  for (const { form, compression } of others) {
    differences.push(
      `encodings: the LoadGen node sent ${encoding.form}/${encoding.compression}, ` +
        `SUT node ${node} saw ${form}/${compression}`,
    );
  }
  return differences;
}

/** Of a digest enough to see that it differs; the audit has it whole. */
function shown(value: number | string): string {
  return typeof value === 'number' ? String(value) : value.slice(0, 16) || 'none';
}

/** What is looked at of a node. */
interface NodeIdentities {
  readonly address: string;
  /** Identities that the node gave in Describe and on its streams. */
  readonly identities: ReadonlySet<string>;
}

/**
 * Why a node's ledger says nothing about what went to its address; undefined where it does. The Network
 * division refuses both cases before the run; the open division allows and marks them.
 */
export function ledgerObstacle(
  node: NodeIdentities,
  nodes: readonly NodeIdentities[],
): string | undefined {
  if (node.identities.size > 1) return 'its address leads to several SUT nodes';
  const twin = nodes.find(
    (other) => other !== node && [...other.identities].some((one) => node.identities.has(one)),
  );
  return twin === undefined ? undefined : `${twin.address} leads to the same SUT node`;
}
