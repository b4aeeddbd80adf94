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

/** Describe's answer, as the evidence holds it. @param benchmark Of the run: its model is kept. */
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

/** An object has no own key `__proto__` once it was read from JSON: such a setting is left out at once. */
function settingsOf(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => key !== '__proto__'));
}

/** Opened, as the evidence holds it. @param own This end's view of the stream's call. */
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

/** A node's ledger as the evidence holds it. */
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

/** How the samples of a run went to a node. */
interface SentAs {
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

/** A name or identity, and where a node gave it: "Describe", "stream 0". Never empty. */
export type Said = readonly [by: string, text: string];

/** Names and identities that a node gave beside Name. */
interface NodeIdentities {
  readonly address: string;
  readonly saidIdentities: readonly Said[];
  readonly saidNames: readonly Said[];
  /** The identities without who gave them: one, unless the address is shared. */
  readonly identities: ReadonlySet<string>;
}

/**
 * Why a node's counts say nothing about the samples sent to its address; undefined where they do. The Network
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

/** Largest part that every channel takes: by our settings, the nodes' limits and their first grants. */
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
      // A query that was compressed as a whole is one payload, and no node could read a piece of it.
      preparedQueryPayload === undefined ? Number.POSITIVE_INFINITY : bytesMax,
      ...opened.map(({ limits }) => limits?.sampleBytesMax || Number.POSITIVE_INFINITY),
    ),
  };
}

/** The usual causes of an address that leads to several nodes, and what to do. */
export const BALANCED: string =
  'a load balancer stands before the nodes (the ClusterIP of a Kubernetes Service, a virtual IP, a proxy or ' +
  'service mesh). Name each node by an address of its own (in Kubernetes the name of the pod in a headless ' +
  'Service)';

/**
 * Describe and every stream must lead to the node that answered Name at its address, and name it alike: behind an address
 * that several machines share, names would not tell which machine works.
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
    // A node of other make may have no identity; then only its name tells it apart.
    const all = [['Name', name?.nodes[i]?.identity ?? ''] as const, ...saidIdentities].filter(
      ([, identity]) => identity !== '',
    );
    const [first] = all;
    const other = all.find(([, identity]) => identity !== first?.[1]);
    if (first !== undefined && other !== undefined) {
      throw sutRefused(
        `the address ${address} leads to several SUT nodes: another one answered ${first[0]} than ${other[0]}; ` +
          `${BALANCED}, or run with --division open`,
      );
    }
    // Several nodes have several names, too: that error comes first.
    requireOneName(node, name?.nodes[i]?.name ?? '');
  });
}

/** The result is that of the node whose name LoadGen logs. @throws MlperfError `ERR_SUT_NAME` */
function requireOneName({ address, saidNames }: NodeIdentities, name: string): void {
  const other = saidNames.find(([, text]) => text !== name);
  if (name === '' || other === undefined) return;
  const [by, text] = other;
  const shown = asOneLine(text.slice(0, NODE_NAME_LENGTH_MAX));
  throw sutNameError(
    `SUT node ${address} is named "${name}" in Name and "${shown}" in ${by}; a node has one name`,
  );
}
