import type { PayloadEncoding } from '../shared/domain/query-sample-library.ts';
import {
  MESSAGE_BYTES_MAX_DEFAULT,
  PART_BYTES_MAX_DEFAULT,
  RECEIVE_WINDOW_BYTES_DEFAULT,
} from '../shared/wire/limits.ts';

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

/** Longest wait for one unary answer: a node's I/O thread is never busy for that long. */
const CALL_TIMEOUT_MS = 5_000;

/** Longest wait for the nodes to be ready; a node may have to make its model first. */
const READY_TIMEOUT_MS = 180_000;

/** A stopped node (its kernel still answers) is seen after the sum of both, within 10 s. */
const KEEPALIVE_TIME_MS = 2_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;

/** Small enough that several nodes share an Offline query evenly, large enough to cost little. */
const PART_SAMPLES_MAX = 128;

/** Settings for nodes at these addresses where nothing else is said. */
export function defaultDispatchSettings(nodes: readonly string[]): DispatchSettings {
  return {
    nodes,
    benchmark: '',
    encoding: { form: 'raw', compression: 'identity' },
    division: 'network',
    streamsPerNode: 1,
    partBytesMax: PART_BYTES_MAX_DEFAULT,
    partSamplesMax: PART_SAMPLES_MAX,
    messageBytesMax: MESSAGE_BYTES_MAX_DEFAULT,
    receiveWindowBytes: RECEIVE_WINDOW_BYTES_DEFAULT,
    callTimeoutMs: CALL_TIMEOUT_MS,
    readyTimeoutMs: READY_TIMEOUT_MS,
    keepaliveTimeMs: KEEPALIVE_TIME_MS,
    keepaliveTimeoutMs: KEEPALIVE_TIMEOUT_MS,
  };
}
