import { configInvalid } from '../../../shared/base/errors/mlperf-error.ts';
import {
  PART_BYTES_MAX_DEFAULT,
  RECEIVE_WINDOW_BYTES_DEFAULT,
} from '../../../shared/wire/protocol-versions.ts';
import type { SutSettings } from '../../settings/sut-settings.ts';

/**
 * Infer streams that are open at once, of all connections: their first grants are not queued for.
 */
export const STREAMS_MAX = 32;

/** Connections open at once. A run needs one per stream and one more. */
export const CONNECTIONS_MAX = 256;

/** Connections of one address: more than a run has streams, but with room for other addresses. */
export const CONNECTIONS_PER_ADDRESS_MAX = 64;

/** Streams (calls) open at once on a connection; the peer knows the limit and queues the rest. */
export const CALLS_PER_CONNECTION_MAX = 64;

/**
 * Infer calls of all connections, opened or not. There can be more only while closed connections
 * are not yet cleaned up.
 */
export const INFER_CALLS_MAX: number = CALLS_PER_CONNECTION_MAX * CONNECTIONS_MAX;

/**
 * ModelStreamInfer calls open at once on all connections. The number is limited because each call
 * may hold an incomplete message.
 */
export const OIP_STREAMS_MAX = 32;

/** Watch calls of grpc.health.v1, of all connections: one for each of {@link CONNECTIONS_MAX}. */
export const WATCH_CALLS_MAX = 256;

/** Connections on the health port, in all and of one address: probes disconnect at once. */
export const HEALTH_CONNECTIONS_MAX = 64;
export const HEALTH_CONNECTIONS_PER_ADDRESS_MAX = 16;

/** Calls at once on one connection to the health port. */
export const HEALTH_CALLS_PER_CONNECTION_MAX = 4;

/**
 * Watch calls on the health port: fewer than connections, so that there is always room for Check.
 */
export const HEALTH_WATCH_CALLS_MAX = 32;

/** Largest message on the health port: a request has a name, an answer one or two states. */
export const HEALTH_MESSAGE_BYTES_MAX: number = 4 * 1024;

/** Calls of server reflection on all connections: a person's tool sends a few requests in each. */
export const REFLECTION_CALLS_MAX = 16;

/** Longest time that a link test sends load, in each direction. */
export const LINK_TEST_MS_MAX = 5_000;

/** Bytes of messages with load in one link test: 7 Gbit/s for the longest one. */
export const LINK_TEST_BYTES_MAX: number = 4 * 1024 ** 3;

/** Bytes of one load that the node sends in a link test. */
export const LINK_TEST_LOAD_BYTES_MIN = 1024;
export const LINK_TEST_LOAD_BYTES_MAX: number = 1024 * 1024;

/**
 * Longest life of a link test's call, whatever the peer does: twice the time of the test, plus time
 * for a slow answer.
 */
export const LINK_TEST_CALL_MS_MAX: number = 2 * LINK_TEST_MS_MAX + 5_000;

/** Bytes of all requests in one call of server reflection. */
export const REFLECTION_BYTES_MAX: number = 16 * 1024;

/** Largest first message of a call: Open with all its encodings, or a unary request. */
export const FIRST_MESSAGE_BYTES_MAX: number = 16 * 1024;

/** Largest header list of a call, as HTTP/2 counts it: a token and a dozen gRPC headers fit. */
export const CALL_HEADERS_BYTES_MAX: number = 16 * 1024;

/** Bytes of a part beside its payload and samples, for fields that a newer peer may add. */
const PART_HEAD_BYTES = 4_096;

/** Bytes of a part beside its payload, for each of its samples. */
const SAMPLE_HEAD_BYTES = 64;

/**
 * Most samples of one query: the largest number that fits the field of the message. Memory is
 * bounded by credit, not by this limit.
 */
const QUERY_SAMPLES_MAX: number = 2 ** 32 - 1;

/**
 * Bytes of one connection that may wait for the peer to read; decoupled-socket.ts has the reason.
 */
export const UNREAD_BYTES_MAX: number = 2 * RECEIVE_WINDOW_BYTES_DEFAULT;

/**
 * Longest time in which a peer reads none of the bytes that wait for it: the time limit of a ping.
 */
export const UNREAD_TIMEOUT_MS = 20_000;

/** Limits that the node holds its peers to, in bytes and samples; Describe and Opened tell them. */
export interface InferLimits {
  /**
   * Largest message that the node sends, and that it receives. On the wire, message_bytes_max is
   * the limit of received messages.
   */
  readonly messageBytesMax: number;
  readonly receiveBytesMax: number;
  readonly partBytesMax: number;
  readonly sampleBytesMax: number;
  readonly querySamplesMax: number;
}

/** Bytes of a part beside its payload. */
export function headBytesMax(sampleCount: number): number {
  return PART_HEAD_BYTES + SAMPLE_HEAD_BYTES * sampleCount;
}

/**
 * Largest message that the node receives: a part with as many samples as the queue holds. The node
 * would refuse a larger message once it is complete; gRPC refuses it as soon as its length arrives.
 */
export function receiveBytesMax(settings: SutSettings): number {
  const headBytes = headBytesMax(settings.queueSamplesMax);
  return Math.min(settings.messageBytesMax, partBytesMax(settings) + headBytes);
}

/** Half of a message is reserved for the heads of the samples. */
function partBytesMax(settings: SutSettings): number {
  return Math.min(PART_BYTES_MAX_DEFAULT, Math.floor(settings.messageBytesMax / 2));
}

/**
 * Derives the limits from the settings. The largest sample is that of the settings. Without this
 * setting it is a 32nd of the queue, but at least four times the bytes of the model's input as
 * floats: no sensible encoding is larger.
 * @throws MlperfError `ERR_CONFIG_INVALID` if the queue cannot hold the largest sample.
 */
export function inferLimits(
  settings: SutSettings,
  model: { readonly sampleElements: number | undefined },
): InferLimits {
  const inputBytes = (model.sampleElements ?? 0) * Float32Array.BYTES_PER_ELEMENT;
  const { queueBytesMax } = settings;
  const share = Math.floor(queueBytesMax / STREAMS_MAX);
  const sampleBytesMax =
    settings.sampleBytesMax ?? Math.min(queueBytesMax, Math.max(share, 4 * inputBytes));
  if (sampleBytesMax > queueBytesMax) {
    throw configInvalid(
      `--sample-bytes-max ${sampleBytesMax} is more than the queue holds: --queue-bytes-max ${queueBytesMax}`,
    );
  }
  return {
    messageBytesMax: settings.messageBytesMax,
    receiveBytesMax: receiveBytesMax(settings),
    partBytesMax: partBytesMax(settings),
    sampleBytesMax,
    querySamplesMax: QUERY_SAMPLES_MAX,
  };
}

/**
 * Decompressed bytes of a query that was compressed as a whole: the limit of any other query.
 */
export function queryBytesMax(limits: InferLimits): number {
  return Math.max(limits.partBytesMax, limits.sampleBytesMax);
}
