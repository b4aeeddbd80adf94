/**
 * Parts of the latency of a sample, in the order in which they follow one another. Their sum is the latency, exactly: `network`
 * is what remains when all lengths of time that were measured are taken away. It holds the wire, both kernels, both
 * gRPC stacks and what the event loops on both sides made it wait. No clocks are compared.
 */
export const LATENCY_PARTS = [
  /** Issued - scheduled: LoadGen's own lateness. */
  'dispatch',
  /** Taken by the transport - issued: waiting for credit or for the socket. */
  'send',
  'network',
  'receive',
  'queue',
  'batch',
  'preprocess',
  'compute',
  'postprocess',
  'reply',
  /** Decompression on LoadGen's side. */
  'decode',
] as const;

/** Name of a part. */
export type LatencyPart = (typeof LATENCY_PARTS)[number];
