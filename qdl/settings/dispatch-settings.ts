import { configInvalid } from '../../shared/base/errors/mlperf-error.ts';
import type { PayloadEncoding } from '../../shared/domain/system-under-test.ts';
import { checkClientSecurity, NO_SECURITY } from '../../shared/security/client-security.ts';
import {
  MESSAGE_BYTES_MAX_DEFAULT,
  PART_BYTES_MAX_DEFAULT,
  RECEIVE_WINDOW_BYTES_DEFAULT,
} from '../../shared/wire/protocol-versions.ts';

/**
 * `network`: a run starts only if every rule of the Network division holds. `open`: marked as open.
 */
export const DIVISIONS = ['network', 'open'] as const;

/** One of {@link DIVISIONS}. */
export type Division = (typeof DIVISIONS)[number];

/**
 * Policies for the loss of a node. `fail`: the run ends at once. `drain`: the run ends when the
 * other nodes have answered their outstanding samples. `continue`: the run continues with the
 * others and counts errors; open division only.
 */
export const NODE_LOSS_POLICIES = ['fail', 'drain', 'continue'] as const;

/** One of {@link NODE_LOSS_POLICIES}. */
export type NodeLossPolicy = (typeof NODE_LOSS_POLICIES)[number];

/** How a node is chosen for a query, or for each part of a large query. */
export const DISPATCH_POLICIES = ['least-outstanding', 'round-robin', 'weighted'] as const;

/** One of {@link DISPATCH_POLICIES}. */
export type DispatchPolicy = (typeof DISPATCH_POLICIES)[number];

/** Name of the protocol for addresses without a scheme. */
export const DEFAULT_PROTOCOL = 'longhaul';

/** Name of a protocol, with its own settings. */
export interface ProtocolSettings {
  readonly name: string;
}

/** Payload bytes waiting for the socket at which a transport reports no room: a part or two. */
export const WAITING_BYTES_MAX: number = 4 * 1024 * 1024;

/** Longest wait for one unary response: a node's I/O thread is never busy for that long. */
const CALL_TIMEOUT_MS = 5_000;

/** Longest wait for the nodes to be ready; a node may have to generate its model first. */
const READY_TIMEOUT_MS = 180_000;

/**
 * Samples per part: small enough that several nodes share an Offline query evenly, large enough to
 * cost little.
 */
const PART_SAMPLES_MAX = 128;

/** Default encoding of samples and responses. */
const PLAIN: PayloadEncoding = { form: 'raw', compression: 'identity' };

const DEFAULTS = {
  /** Addresses of the SUT nodes, `host:port`, 1 or more, in the order of the command line. */
  nodes: [] as readonly string[],
  /** Key of the benchmark that the nodes must serve; empty: any, if only names are requested. */
  benchmark: '',
  /** Encoding of every sample of the run. */
  encoding: PLAIN,
  /** Encodings of responses that the QDL can decode; a node chooses among them. 1 or more. */
  responseEncodings: [PLAIN] as readonly PayloadEncoding[],
  division: 'network' as Division,
  /** Long-lived streams per node. 1 or more. */
  streamsPerNode: 1,
  /** Connections per node that the streams share. 1 or more, at most as many as streams. */
  connectionsPerNode: 1,
  /** How a node is chosen for a query. */
  policy: 'least-outstanding' as DispatchPolicy,
  /** Weight of each node, in the order of `nodes`; empty: equal weights. */
  weights: [] as readonly number[],
  /**
   * Largest number of samples outstanding at one node, besides its credit; Infinity: no limit of
   * ours.
   */
  nodeOutstandingMax: Number.POSITIVE_INFINITY,
  onNodeLoss: 'fail' as NodeLossPolicy,
  /** Largest payload of one part, bytes; a node may set a lower limit. */
  partBytesMax: PART_BYTES_MAX_DEFAULT,
  /**
   * Largest number of samples in one part: bounds how much of a large query one node takes at a
   * time.
   */
  partSamplesMax: PART_SAMPLES_MAX,
  /** Largest gRPC message that a node may send, bytes. */
  messageBytesMax: MESSAGE_BYTES_MAX_DEFAULT,
  /** HTTP/2 receive window of the streams, in bytes. */
  receiveWindowBytes: RECEIVE_WINDOW_BYTES_DEFAULT,
  /** Longest wait for one unary response, ms. */
  callTimeoutMs: CALL_TIMEOUT_MS,
  /** Longest wait for all nodes to be ready, ms. */
  readyTimeoutMs: READY_TIMEOUT_MS,
  /**
   * Idle time after which a connection is pinged, and the time that the pong may take, in ms. A
   * stopped process, whose kernel still answers, is detected after the sum of both, within 10 s.
   */
  keepaliveTimeMs: 2_000,
  keepaliveTimeoutMs: 5_000,
  /**
   * Share of the samples whose payloads both ends digest, in millionths; above 0 the sample library
   * computes digests.
   */
  digestPerMillion: 0,
  /** True if LoadGen measures first tokens and token counts: nodes must report them. */
  tokenLatencies: false,
  /**
   * True if LoadGen measures the times between tokens: nodes must report each token as it is
   * generated.
   */
  tokenTimes: false,
  /** Bytes of an output token in a response, to check nodes' token counts; undefined: unknown. */
  tokenBytes: undefined as number | undefined,
  /** TLS and authorization token of every connection. */
  security: NO_SECURITY,
  /** Protocol of the nodes. */
  protocol: { name: DEFAULT_PROTOCOL } as ProtocolSettings,
};

/** Settings of the QDL, complete and checked. */
export type DispatchSettings = Readonly<typeof DEFAULTS> & {
  /** Set for the warm-up before a run: nodes answer without their model and keep no ledger. */
  readonly isWarmUp?: true;
  /**
   * Returns the header `traceparent` (W3C Trace Context) for a query number, if the protocol has
   * headers; undefined: none for that query. Absent: none at all.
   */
  readonly traceparentOf?: ((query: number) => string | undefined) | undefined;
};

/** Default settings for nodes at these addresses. */
export function defaultDispatchSettings(nodes: readonly string[]): DispatchSettings {
  return { ...DEFAULTS, nodes };
}

/**
 * Refuses settings that contradict each other or a rule of MLPerf, for any protocol.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function checkCommonSettings(settings: DispatchSettings): void {
  const { nodes, weights, policy, onNodeLoss, division } = settings;
  checkClientSecurity(settings.security, nodes);
  if (onNodeLoss === 'continue' && division === 'network') {
    throw configInvalid(
      '--on-node-loss continue changes the SUT during the run, which the Network ' +
        'division does not allow; add --division open, or use --on-node-loss fail or drain',
    );
  }
  if (weights.length > 0 && weights.length !== nodes.length) {
    throw configInvalid(
      `--weights has ${weights.length} numbers for ${nodes.length} SUT nodes; give one per node`,
    );
  }
  if (weights.length > 0 && policy === 'round-robin') {
    throw configInvalid('--weights has no effect with --policy round-robin; use --policy weighted');
  }
  if (policy === 'weighted' && weights.length === 0) {
    throw configInvalid('--policy weighted needs --weights, one number per SUT node');
  }
}

/**
 * Refuses more connections than streams, if channels are streams.
 * @throws MlperfError `ERR_CONFIG_INVALID`
 */
export function requireStreams({ connectionsPerNode, streamsPerNode }: DispatchSettings): void {
  if (connectionsPerNode <= streamsPerNode) return;
  throw configInvalid(
    `--connections ${connectionsPerNode} is more than --streams ${streamsPerNode}; a connection without a stream is useless`,
  );
}
