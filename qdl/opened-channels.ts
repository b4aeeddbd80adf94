import type { Opened__Output } from '../proto/gen/mlperf/network/v1/Opened.ts';
import { MlperfError } from '../shared/errors/mlperf-error.ts';
import type { SutChannel } from './channel/sut-channel.ts';
import type { DispatchSettings, Division } from './dispatch-settings.ts';
import type { NetworkName } from './network-name.ts';
import type { PartLimits } from './part-cutter.ts';

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

/**
 * Every stream must lead to the node that answered Name at its address: behind an address that several
 * machines share, names would say nothing about who works.
 * @throws MlperfError `ERR_SUT_REFUSED` in the Network division.
 */
export function requireOneNode(
  channels: readonly SutChannel[],
  opened: readonly Opened__Output[],
  division: Division,
  name: NetworkName | undefined,
): void {
  if (division === 'open') return;
  channels.forEach(({ place }, i) => {
    const named = name?.nodes[place.nodeIndex]?.identity ?? '';
    const identity = opened[i]?.nodeIdentity ?? '';
    // A node of other make may have no identity.
    if (named === '' || identity === '' || named === identity) return;
    throw new MlperfError(
      'ERR_SUT_REFUSED',
      `the address ${place.address} leads to several SUT nodes: another one answered Name than opened ` +
        `stream ${place.streamOfNode}. Name each node by an address of its own (no load balancer, no virtual ` +
        'IP), or run with --division open',
    );
  });
}
