import { PART_BYTES_MAX_DEFAULT } from '../../shared/wire/limits.ts';
import type { SutSettings } from '../settings/sut-settings.ts';

/** Infer streams that are open at once, of all connections: their first grants are not queued for. */
export const STREAMS_MAX = 32;

/** Connections at once. A run takes two per LoadGen node. */
export const CONNECTIONS_MAX = 256;

/** Streams (calls) at once on one connection; announced to the peer, which queues the rest. */
export const CALLS_PER_CONNECTION_MAX = 100;

/** Most samples of one query: what the wire's number can say. Credit, not this, bounds the memory. */
const QUERY_SAMPLES_MAX: number = 2 ** 32 - 1;

/** Limits that the node holds its peers to; told in Describe and Opened. */
export interface InferLimits {
  readonly messageBytesMax: number;
  readonly partBytesMax: number;
  readonly sampleBytesMax: number;
  readonly querySamplesMax: number;
}

/**
 * Derives the limits from the settings. A sample may take a 32nd of the queue, and in any case four times
 * what the model's input takes as floats: no sensible encoding is larger.
 */
export function inferLimits(
  settings: SutSettings,
  model: { readonly input: { readonly sampleShape: readonly number[] } },
): InferLimits {
  const elements = model.input.sampleShape.reduce((a, b) => a * b, 1);
  const inputBytes = elements * Float32Array.BYTES_PER_ELEMENT;
  const share = Math.floor(settings.queueBytesMax / STREAMS_MAX);
  return {
    messageBytesMax: settings.messageBytesMax,
    // Half of a message is left for the heads of the samples.
    partBytesMax: Math.min(PART_BYTES_MAX_DEFAULT, Math.floor(settings.messageBytesMax / 2)),
    sampleBytesMax: Math.min(settings.queueBytesMax, Math.max(share, 4 * inputBytes)),
    querySamplesMax: QUERY_SAMPLES_MAX,
  };
}
