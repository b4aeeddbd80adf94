import type { Opened__Output } from '../../proto/gen/mlperf/network/v1/Opened.ts';
import { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import { asOneLine } from '../../shared/base/text/one-line.ts';
import { NODE_NAME_LENGTH_MAX } from '../../shared/domain/node-address.ts';
import type { NetworkName } from '../dispatch/network-name.ts';
import type { PartLimits } from '../dispatch/part-cutter.ts';
import type { DispatchSettings, Division } from '../settings/dispatch-settings.ts';
import type { SutChannel } from './channel/sut-channel.ts';

/** Largest part that every channel takes: by our settings, the nodes' limits and their first grants. */
export function partLimits(
  channels: readonly SutChannel[],
  opened: readonly Opened__Output[],
  settings: DispatchSettings,
): PartLimits {
  const credits = channels.map((channel) => channel.initialCredit);
  return {
    bytesMax: Math.min(
      settings.partBytesMax,
      ...opened.map(({ limits }) => limits?.partBytesMax || Number.POSITIVE_INFINITY),
      ...credits.map((credit) => credit.bytes),
    ),
    samplesMax: Math.min(
      settings.partSamplesMax,
      settings.nodeOutstandingMax,
      ...credits.map((credit) => credit.samples),
    ),
    sampleBytesMax: Math.min(
      ...opened.map(({ limits }) => limits?.sampleBytesMax || Number.POSITIVE_INFINITY),
    ),
  };
}

/** The usual causes of an address that leads to several nodes, and what to do. */
export const BALANCED: string =
  'a load balancer stands before the nodes (the ClusterIP of a Kubernetes Service, a virtual IP, a proxy or ' +
  'service mesh). Name each node by an address of its own (in Kubernetes the name of the pod in a headless ' +
  'Service)';

/** What a node said of itself, and where: "Describe", "stream 0". Empty texts are none. */
export type Said = readonly [by: string, text: string];

/** What a node said of itself beside Name. */
interface NodeIdentities {
  readonly address: string;
  readonly saidIdentities: readonly Said[];
  readonly saidNames: readonly Said[];
}

/**
 * Describe and every stream must lead to the node that answered Name at its address, and name it alike: behind an address
 * that several machines share, names would say nothing about who works.
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
      throw new MlperfError(
        'ERR_SUT_REFUSED',
        `the address ${address} leads to several SUT nodes: another one answered ${first[0]} than ${other[0]}; ` +
          `${BALANCED}, or run with --division open`,
      );
    }
    // Several nodes have several names, too: that is said first.
    requireOneName(node, name?.nodes[i]?.name ?? '');
  });
}

/** The result is that of the node whose name LoadGen logs. @throws MlperfError `ERR_SUT_NAME` */
function requireOneName({ address, saidNames }: NodeIdentities, name: string): void {
  const other = saidNames.find(([, text]) => text !== name);
  if (name === '' || other === undefined) return;
  const [by, text] = other;
  const shown = asOneLine(text.slice(0, NODE_NAME_LENGTH_MAX));
  throw new MlperfError(
    'ERR_SUT_NAME',
    `SUT node ${address} is named "${name}" in Name and "${shown}" in ${by}; a node has one name`,
  );
}
