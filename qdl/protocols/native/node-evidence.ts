import type { DescribeResponse__Output } from '../../../proto/gen/mlperf/network/v1/DescribeResponse.ts';
import type { LedgerResponse__Output } from '../../../proto/gen/mlperf/network/v1/LedgerResponse.ts';
import type { Opened__Output } from '../../../proto/gen/mlperf/network/v1/Opened.ts';
import { sutNameError, sutRefused } from '../../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../../shared/base/text.ts';
import { NODE_NAME_LENGTH_MAX } from '../../../shared/domain/node-address.ts';
import type { PayloadEncoding, SamplePayloads } from '../../../shared/domain/system-under-test.ts';
import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import {
  fieldsOf,
  type LedgerCounts,
  type NodeDescription,
  type NodeLedger,
  nodeDescription,
  nodeLedger,
  type StreamEvidence,
  streamEvidence,
} from '../../../shared/evidence/evidence-schema.ts';
import { callPathOf } from '../../connect/call-path.ts';
import type { NetworkName } from '../../dispatch/network-name.ts';
import type { PartLimits } from '../../dispatch/part-cutter.ts';
import type { DispatchSettings, Division } from '../../settings/dispatch-settings.ts';
import type { SutChannel } from './channel/sut-channel.ts';

/**
 * Describe's answer in the form of the evidence. @param benchmark The run's benchmark: only its
 * model is kept.
 */
export function toDescription(
  description: DescribeResponse__Output,
  benchmark: string,
): NodeDescription {
  const model = description.models.find((one) => one.benchmark === benchmark);
  return fieldsOf(nodeDescription, {
    ...description,
    model: model ? { name: model.model, sha256: model.sha256, isStandIn: model.isStandIn } : null,
    settings: settingsOf(description.settings),
  });
}

/** JSON parsers drop an own key `__proto__`: remove such a setting at once. */
function settingsOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => key !== '__proto__'));
}

/** Opened in the form of the evidence. @param own This end's view of the stream's call. */
export function toStream(
  opened: Opened__Output,
  compressionCheck: StreamEvidence['compressionCheck'],
  own: OwnSide,
): StreamEvidence {
  return fieldsOf(streamEvidence, {
    ...opened,
    compressionCheck,
    path: callPathOf(own, opened.seen),
  });
}

/** A node's ledger in the form of the evidence. */
export function toNodeLedger(ledger: LedgerResponse__Output): NodeLedger {
  return fieldsOf(nodeLedger, {
    ...ledger,
    payloadDigest: Buffer.from(ledger.payloadDigest).toString('hex'),
    encodings: ledger.encodings.map(({ form, compression }) => ({
      form,
      compression: compression || 'identity',
    })),
  });
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

/** How a run's samples were sent to a node. */
interface SentAs {
  /** Encoding of every sample; a node that counted another one differs. */
  readonly encoding: PayloadEncoding;
  /** Streams that the node opened. */
  readonly streamCount: number;
}

/** Differences between the two ends' counts, one text each; empty if they agree. */
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
  // Other software may not report the number of streams: the field is 0 then.
  if (theirs.streamCount !== 0 && theirs.streamCount !== streamCount) {
    const repeated =
      theirs.repeatedStreamCount > 0
        ? ` (${theirs.repeatedStreamCount} with a number already used: a proxy repeated an Open)`
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

/** The start of a digest, enough to see a difference; the audit has the whole. */
function shown(value: number | string): string {
  return typeof value === 'number' ? String(value) : value.slice(0, 16) || 'none';
}

/** A name or identity, and the message that gave it: "Describe", "stream 0". Never empty. */
export type Said = readonly [by: string, text: string];

/** Names and identities that a node gave outside Name. */
interface NodeIdentities {
  readonly address: string;
  readonly saidIdentities: readonly Said[];
  readonly saidNames: readonly Said[];
  /** The identities alone: more than one if the address is shared. */
  readonly identities: ReadonlySet<string>;
}

/**
 * Why a node's counts prove nothing about the samples sent to its address; otherwise undefined. The
 * Network division refuses these cases before the run; the open division allows and marks them.
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

/**
 * Limits of a part that every channel takes: from our settings, the nodes' limits and their first
 * credit.
 */
export function partLimits(
  channels: readonly SutChannel[],
  opened: readonly Opened__Output[],
  settings: DispatchSettings,
  { preparedQueryPayload }: SamplePayloads,
): PartLimits {
  const credits = channels.map((channel) => channel.initialCredit);
  const bytesMax = Math.min(
    settings.partBytesMax,
    ...opened.map(({ limits }) => limits?.partBytesMax || Number.POSITIVE_INFINITY),
    ...credits.map((credit) => credit.bytes),
  );
  return {
    bytesMax,
    samplesMax: Math.min(
      settings.partSamplesMax,
      settings.nodeOutstandingMax,
      ...credits.map((credit) => credit.samples),
    ),
    sampleBytesMax: Math.min(
      // A query compressed as a whole is one payload; no node could decode a piece of it.
      preparedQueryPayload === undefined ? Number.POSITIVE_INFINITY : bytesMax,
      ...opened.map(({ limits }) => limits?.sampleBytesMax || Number.POSITIVE_INFINITY),
    ),
  };
}

/** Usual causes of an address that leads to several nodes, and the remedy. */
export const BALANCED: string =
  'a load balancer stands before the nodes (the ClusterIP of a Kubernetes Service, a virtual IP, a proxy or ' +
  'service mesh). Name each node by an address of its own (in Kubernetes the name of the pod in a headless ' +
  'Service)';

/**
 * Describe and every stream must reach the node that answered Name at its address, under the same
 * name: if several machines share an address, names would not show which one works.
 * @throws MlperfError `ERR_SUT_REFUSED`, `ERR_SUT_NAME` in the Network division.
 */
export function requireOneNode(
  nodes: readonly NodeIdentities[],
  division: Division,
  name: NetworkName | undefined,
): void {
  if (division === 'open') return;
  nodes.forEach((node, i) => {
    const { address, saidIdentities } = node;
    // Other software may have no identity; then only the name identifies the node.
    const all = [['Name', name?.nodes[i]?.identity ?? ''] as const, ...saidIdentities].filter(
      ([, identity]) => identity !== '',
    );
    const [first] = all;
    const other = all.find(([, identity]) => identity !== first?.[1]);
    if (first !== undefined && other !== undefined) {
      throw sutRefused(
        `the address ${address} leads to several SUT nodes: ${first[0]} and ${other[0]} were answered by different nodes; ` +
          `${BALANCED}, or run with --division open`,
      );
    }
    // Several nodes usually have several names; the error above comes first.
    requireOneName(node, name?.nodes[i]?.name ?? '');
  });
}

/**
 * The result must belong to the node whose name LoadGen logs. @throws MlperfError `ERR_SUT_NAME`
 */
function requireOneName({ address, saidNames }: NodeIdentities, name: string): void {
  const other = saidNames.find(([, text]) => text !== name);
  if (name === '' || other === undefined) return;
  const [by, text] = other;
  const shown = asOneLine(text.slice(0, NODE_NAME_LENGTH_MAX));
  throw sutNameError(
    `SUT node ${address} is named "${name}" in Name and "${shown}" in ${by}; a node has one name`,
  );
}
