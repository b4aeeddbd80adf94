import {
  DISPATCH_POLICIES,
  type DispatchSettings,
  defaultDispatchSettings,
  NODE_LOSS_POLICIES,
} from '../../../qdl/index.ts';
import { ANY_PROTOCOL, serverAddresses } from '../../../qdl/protocols/index.ts';
import {
  addressList,
  choice,
  count,
  numberList,
  positiveDuration,
  type SettingValues,
} from '../../../shared/config/setting.ts';
import { PART_BYTES_MAX_DEFAULT } from '../../../shared/wire/protocol-versions.ts';
import { CONNECTION_OPTIONS, toConnectionSettings } from './connection-options.ts';

/** Settings of `longhaul run` about nodes, and how queries get to them. */
export const DISPATCH_OPTIONS = {
  sut: addressList(
    () =>
      `addresses of the SUT nodes; dns:///name:port for all addresses of a name; ${serverAddresses()}`,
    { schemes: ANY_PROTOCOL, required: true },
  ),
  policy: choice(DISPATCH_POLICIES, 'which node gets the next query', {
    fallback: 'least-outstanding',
  }),
  weights: numberList('share of each node, in the order of --sut'),
  nodeOutstandingMax: count(
    { min: 1, max: 65_536 },
    'most samples outstanding on one node, in addition to its own credit',
  ),
  onNodeLoss: choice(
    NODE_LOSS_POLICIES,
    'fail: end the run at once; drain: end it after the other nodes have answered; continue: go on (open division)',
    { fallback: 'fail' },
  ),
  streams: count({ min: 1, max: 32 }, 'gRPC streams to each SUT node', { fallback: 1 }),
  connections: count({ min: 1, max: 32 }, 'TCP connections to each SUT node that streams share', {
    fallback: 1,
  }),
  partBytesMax: count(
    { min: 1024, max: 32 * 1024 * 1024 },
    'payload bytes in one message; larger queries go in parts',
    { fallback: PART_BYTES_MAX_DEFAULT },
  ),
  readyTimeout: positiveDuration('longest wait for SUT nodes that answer but are not ready yet', {
    fallback: '180s',
  }),
  ...CONNECTION_OPTIONS,
};

/**
 * Converts effective values to the QDL's settings; values that a benchmark decides keep their
 * defaults.
 */
export function toDispatchSettings(
  values: SettingValues<typeof DISPATCH_OPTIONS>,
  nodes: Pick<DispatchSettings, 'nodes' | 'protocol'>,
): DispatchSettings {
  return {
    ...defaultDispatchSettings(nodes.nodes),
    ...nodes,
    policy: values.policy,
    weights: values.weights ?? [],
    nodeOutstandingMax: values.nodeOutstandingMax ?? Number.POSITIVE_INFINITY,
    onNodeLoss: values.onNodeLoss,
    streamsPerNode: values.streams,
    connectionsPerNode: values.connections,
    partBytesMax: values.partBytesMax,
    readyTimeoutMs: values.readyTimeout / 1e6,
    ...toConnectionSettings(values),
  };
}
