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

/** Connections at once. A run takes one per stream and one more. */
export const CONNECTIONS_MAX = 256;

/** Connections of one address: more than the streams of a run, few enough that others find room. */
export const CONNECTIONS_PER_ADDRESS_MAX = 64;

/** Streams (calls) at once on one connection; announced to the peer, which queues the rest. */
export const CALLS_PER_CONNECTION_MAX = 64;

/**
 * Infer calls of all connections, opened or not: more only where closed connections are not yet
 * cleaned up.
 */
export const INFER_CALLS_MAX: number = CALLS_PER_CONNECTION_MAX * CONNECTIONS_MAX;

/**
 * ModelStreamInfer calls that are open at once, of all connections: each may hold a message that is
 * not whole.
 */
export const OIP_STREAMS_MAX = 32;

/** Watch calls of grpc.health.v1, of all connections: one for each of {@link CONNECTIONS_MAX}. */
export const WATCH_CALLS_MAX = 256;

/** Connections on the health port, and of one address: probes connect, ask and go. */
export const HEALTH_CONNECTIONS_MAX = 64;
export const HEALTH_CONNECTIONS_PER_ADDRESS_MAX = 16;

/** Calls at once on one connection to the health port. */
export const HEALTH_CALLS_PER_CONNECTION_MAX = 4;

/**
 * Watch calls on the health port: fewer than there are connections, so that Check always finds
 * room.
 */
export const HEALTH_WATCH_CALLS_MAX = 32;

/** Largest message on the health port: a question has a name in it, an answer a state or two. */
export const HEALTH_MESSAGE_BYTES_MAX: number = 4 * 1024;

/** Calls of server reflection, of all connections: each is a few questions of a person's tool. */
export const REFLECTION_CALLS_MAX = 16;

/** Longest link test: load goes for so long, in either direction. */
export const LINK_TEST_MS_MAX = 5_000;

/** Bytes of messages with load in one link test: 7 Gbit/s for the longest one. */
export const LINK_TEST_BYTES_MAX: number = 4 * 1024 ** 3;

/** Bytes of one load that the node sends in a link test. */
export const LINK_TEST_LOAD_BYTES_MIN = 1024;
export const LINK_TEST_LOAD_BYTES_MAX: number = 1024 * 1024;

/**
 * Longest life of a link test's call, whatever the peer does: its own time twice, and room for a
 * slow answer.
 */
export const LINK_TEST_CALL_MS_MAX: number = 2 * LINK_TEST_MS_MAX + 5_000;

/** Bytes of all questions in one call of server reflection. */
export const REFLECTION_BYTES_MAX: number = 16 * 1024;

/** Largest first message of a call: Open with all its encodings, or a unary request. */
export const FIRST_MESSAGE_BYTES_MAX: number = 16 * 1024;

/** Largest header list of a call, as HTTP/2 counts it; a token and a dozen of gRPC's own fit. */
export const CALL_HEADERS_BYTES_MAX: number = 16 * 1024;

/** Bytes of a part beside its payload, whatever is in it: fields that a newer peer may add. */
const PART_HEAD_BYTES = 4_096;

/** Bytes of a part beside its payload, for each of its samples. */
const SAMPLE_HEAD_BYTES = 64;

/**
 * Most samples of one query: the largest number of the wire's field. Credit, not this, bounds the
 * memory.
 */
const QUERY_SAMPLES_MAX: number = 2 ** 32 - 1;

/**
 * Bytes of one connection that wait for the peer to read. Why it is that many: decoupled-socket.ts.
 */
export const UNREAD_BYTES_MAX: number = 2 * RECEIVE_WINDOW_BYTES_DEFAULT;

/**
 * Longest time in which a peer takes none of the bytes that wait for it: as long as a ping may
 * take.
 */
export const UNREAD_TIMEOUT_MS = 20_000;

/** Limits that the node holds its peers to, in bytes and samples; Describe and Opened tell them. */
export interface InferLimits {
  /**
   * Largest message that goes out, and that comes in: the latter is message_bytes_max on the wire.
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
 * Largest message that the node receives: a part with as many samples as the queue holds. What is
 * above would be refused after it was whole; gRPC refuses it when it is announced.
 */
export function receiveBytesMax(settings: SutSettings): number {
  const headBytes = headBytesMax(settings.queueSamplesMax);
  return Math.min(settings.messageBytesMax, partBytesMax(settings) + headBytes);
}

/** Half of a message is left for the heads of the samples. */
function partBytesMax(settings: SutSettings): number {
  return Math.min(PART_BYTES_MAX_DEFAULT, Math.floor(settings.messageBytesMax / 2));
}

/**
 * Derives the limits from the settings. A sample may take what the settings say; else a 32nd of the
 * queue, and in any case four times what the model's input takes as floats: no sensible encoding is
 * larger.
 * @throws MlperfError `ERR_CONFIG_INVALID` where the queue could not hold the sample.
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
 * Bytes that a query compressed as a whole may have, decompressed: what one that is not may have.
 */
export function queryBytesMax(limits: InferLimits): number {
  return Math.max(limits.partBytesMax, limits.sampleBytesMax);
}
