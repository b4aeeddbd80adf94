import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import type { PayloadEncoding } from '../../shared/domain/system-under-test.ts';
import { checkClientSecurity, NO_SECURITY } from '../../shared/security/client-security.ts';
import {
  MESSAGE_BYTES_MAX_DEFAULT,
  PART_BYTES_MAX_DEFAULT,
  RECEIVE_WINDOW_BYTES_DEFAULT,
} from '../../shared/wire/protocol-versions.ts';

/** `network`: every rule of the Network division holds or the run does not start. `open`: marked as open. */
export const DIVISIONS = ['network', 'open'] as const;

/** One of {@link DIVISIONS}. */
export type Division = (typeof DIVISIONS)[number];

/**
 * Policies for the loss of a node. `fail`: the run ends at once. `drain`: it ends when the other nodes have
 * answered what they have. `continue`: it goes on with the others, errors counted; open division only.
 */
export const NODE_LOSS_POLICIES = ['fail', 'drain', 'continue'] as const;

/** One of {@link NODE_LOSS_POLICIES}. */
export type NodeLossPolicy = (typeof NODE_LOSS_POLICIES)[number];

/** How a node is chosen for a query (for a part, where the query is larger than one). */
export const DISPATCH_POLICIES = ['least-outstanding', 'round-robin', 'weighted'] as const;

/** One of {@link DISPATCH_POLICIES}. */
export type DispatchPolicy = (typeof DISPATCH_POLICIES)[number];

/** Name of the protocol whose addresses have no scheme. */
export const DEFAULT_PROTOCOL = 'longhaul';

/** Name of a protocol, with the settings that only it has. */
export interface ProtocolSettings {
  readonly name: string;
}

/** Payload bytes that wait for the socket before a transport says that it has no room: a part or two. */
export const WAITING_BYTES_MAX: number = 4 * 1024 * 1024;

/** Longest wait for one unary answer: a node's I/O thread is never busy for that long. */
const CALL_TIMEOUT_MS = 5_000;

/** Longest wait for the nodes to be ready; a node may have to make its model first. */
const READY_TIMEOUT_MS = 180_000;

/** Small enough that several nodes share an Offline query evenly, large enough to cost little. */
const PART_SAMPLES_MAX = 128;

/** Default encoding of samples and responses. */
const PLAIN: PayloadEncoding = { form: 'raw', compression: 'identity' };

const DEFAULTS = {
  /** Addresses of the SUT nodes, `host:port`, 1 or more, in the order in which they are named. */
  nodes: [] as readonly string[],
  /** Key of the benchmark that the nodes must serve; empty: any, where only names are requested. */
  benchmark: '',
  /** Encoding of every sample of the run. */
  encoding: PLAIN,
  /** Encodings of responses that are read; a node chooses among them. 1 or more. */
  responseEncodings: [PLAIN] as readonly PayloadEncoding[],
  division: 'network' as Division,
  /** Long-lived streams to each node. 1 or more. */
  streamsPerNode: 1,
  /** Connections to each node that the streams share. 1 or more, at most as many as streams. */
  connectionsPerNode: 1,
  /** How a node is chosen for a query. */
  policy: 'least-outstanding' as DispatchPolicy,
  /** Share of each node, in the order of `nodes`; empty: all the same. */
  weights: [] as readonly number[],
  /** Most samples outstanding on one node, beside its credit; Infinity: no limit of ours. */
  nodeOutstandingMax: Number.POSITIVE_INFINITY,
  onNodeLoss: 'fail' as NodeLossPolicy,
  /** Payload bytes in one part; a node may say less. */
  partBytesMax: PART_BYTES_MAX_DEFAULT,
  /** Samples in one part: bounds how much of a large query one node takes at a time. */
  partSamplesMax: PART_SAMPLES_MAX,
  /** Largest gRPC message that a node may send. */
  messageBytesMax: MESSAGE_BYTES_MAX_DEFAULT,
  /** HTTP/2 receive window of the streams, in bytes. */
  receiveWindowBytes: RECEIVE_WINDOW_BYTES_DEFAULT,
  /** Longest wait for the answer to one unary call, in ms. */
  callTimeoutMs: CALL_TIMEOUT_MS,
  /** Longest wait for all nodes to be ready, in ms. */
  readyTimeoutMs: READY_TIMEOUT_MS,
  /**
   * Idle time after which a connection is pinged, and the time that the pong may take, in ms. A stopped node (its kernel
   * still answers) is seen after the sum of both, within 10 s.
   */
  keepaliveTimeMs: 2_000,
  keepaliveTimeoutMs: 5_000,
  /** Samples whose payloads both ends digest, in millionths; above 0 the sample library has digests. */
  digestPerMillion: 0,
  /** True when LoadGen measures first tokens and token counts: nodes are asked to tell them. */
  tokenLatencies: false,
  /** True when LoadGen measures the times between tokens: nodes are asked to tell all of them as they come. */
  tokenTimes: false,
  /** Bytes of an output token in a response; undefined: not known. Nodes' counts of tokens are held against it. */
  tokenBytes: undefined as number | undefined,
  /** TLS and token of every connection. */
  security: NO_SECURITY,
  /** Protocol of the nodes. */
  protocol: { name: DEFAULT_PROTOCOL } as ProtocolSettings,
};

/** Settings of the QDL, complete and checked. */
export type DispatchSettings = Readonly<typeof DEFAULTS> & {
  /** Set for the warm-up before a run: nodes answer by themselves, without their model, and keep no ledger. */
  readonly isWarmUp?: true;
  /**
   * Header `traceparent` (W3C Trace Context) of a query's messages, where the protocol has headers, by the query's number;
   * undefined: the query has none. Absent: no query has one.
   */
  readonly traceparentOf?: ((query: number) => string | undefined) | undefined;
};

/** Default settings for nodes at these addresses. */
export function defaultDispatchSettings(nodes: readonly string[]): DispatchSettings {
  return { ...DEFAULTS, nodes };
}

/**
 * Refuses settings that contradict each other or a rule, whatever the protocol.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkCommonSettings(settings: DispatchSettings): void {
  const { nodes, weights, policy, onNodeLoss, division } = settings;
  checkClientSecurity(settings.security, nodes);
  if (onNodeLoss === 'continue' && division === 'network') {
    throw configInvalid(
      'with --on-node-loss continue the SUT would become another one during the run, which the Network ' +
        'division does not know; add --division open, or take fail or drain',
    );
  }
  if (weights.length > 0 && weights.length !== nodes.length) {
    throw configInvalid(
      `--weights has ${weights.length} numbers for ${nodes.length} SUT nodes: one for each`,
    );
  }
  if (weights.length > 0 && policy === 'round-robin') {
    throw configInvalid('--weights has no effect with --policy round-robin; take weighted');
  }
  if (policy === 'weighted' && weights.length === 0) {
    throw configInvalid('--policy weighted needs --weights, one number per SUT node');
  }
}

/**
 * Refuses connections without a stream, where channels are streams.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireStreams({ connectionsPerNode, streamsPerNode }: DispatchSettings): void {
  if (connectionsPerNode <= streamsPerNode) return;
  throw configInvalid(
    `--connections ${connectionsPerNode} is more than --streams ${streamsPerNode}: some would carry no stream`,
  );
}
