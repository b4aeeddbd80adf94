/**
 * Parts of the latency of a sample, in the order in which they follow one another. Their sum is the latency, exactly: `network`
 * is what remains when all lengths of time that somebody measured are taken away. It holds the wire, both kernels, both
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

/** A part over many samples, in ns. */
export interface PartFigures {
  readonly part: LatencyPart;
  /** Mean over all samples; never negative. */
  readonly meanNs: number;
  /** Mean over the samples whose latency lies around the median (40th to 60th percentile). */
  readonly typicalNs: number;
  /** Mean over the slowest samples (1 %, one at least). */
  readonly tailNs: number;
}

/** Where the time of a run went. */
export interface LatencySplit {
  /** Samples whose parts are all known and possible; the others are in none of the figures. MultiStream: of each query the sample that came last. */
  readonly sampleCount: number;
  readonly parts: readonly PartFigures[];
  /** The part that grows most from typical to tail. */
  readonly growsMost: LatencyPart;
  /** What limits the run, in whole sentences for people. */
  readonly text: string;
}
