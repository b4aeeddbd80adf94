/**
 * Parts of a sample's latency, in order of time. Their sum is exactly the latency: `network` is the
 * remainder after all measured durations. It contains the wire, both kernels, both gRPC stacks and
 * waits in both event loops. No clocks are compared.
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
