import type { PayloadEncoding } from '../shared/domain/query-sample-library.ts';

/** `network`: every rule of the Network division holds or the run does not start. `open`: marked as open. */
export type Division = 'network' | 'open';

/** Settings of the QDL, complete and checked. */
export interface DispatchSettings {
  /** Addresses of the SUT nodes, `host:port`, 1 or more, in the order in which they are named. */
  readonly nodes: readonly string[];
  /** Key of the benchmark that the nodes must serve. */
  readonly benchmark: string;
  /** Encoding of every sample of the run. */
  readonly encoding: PayloadEncoding;
  readonly division: Division;
  /** Long-lived streams to each node. 1 or more. */
  readonly streamsPerNode: number;
  /** Payload bytes in one part; a node may say less. */
  readonly partBytesMax: number;
  /** Samples in one part: bounds how much of a large query one node takes at a time. */
  readonly partSamplesMax: number;
  /** Largest gRPC message that a node may send. */
  readonly messageBytesMax: number;
  /** HTTP/2 receive window of the streams, in bytes. */
  readonly receiveWindowBytes: number;
  /** Longest wait for the answer to one unary call, in ms. */
  readonly callTimeoutMs: number;
  /** Longest wait for all nodes to be ready, in ms. */
  readonly readyTimeoutMs: number;
  /** Idle time after which a connection is pinged, and the time that the pong may take, in ms. */
  readonly keepaliveTimeMs: number;
  readonly keepaliveTimeoutMs: number;
}

/** Times that make a stopped node visible within 10 s. */
export const KEEPALIVE_TIME_MS_DEFAULT = 2_000;
export const KEEPALIVE_TIMEOUT_MS_DEFAULT = 5_000;

/** Small enough that several nodes share an Offline query evenly, large enough to cost little. */
export const PART_SAMPLES_MAX_DEFAULT = 128;
