/**
 * Where a sample lies in what a query compressed as a whole holds: bytes `begin` to `end` of `total`,
 * all counted after decompression.
 */
export interface PayloadSlice {
  readonly begin: number;
  readonly end: number;
  readonly total: number;
}

/** One whole sample on its way through the node. */
export interface WaitingSample {
  /** Id on the wire: unique within a run, not among the runs. */
  readonly id: number;
  /** The payload in order, as views into the messages that brought it; one unless it came in pieces. */
  readonly pieces: readonly Uint8Array[];
  /** Payload bytes that arrived for the sample: of all pieces, or its share of the query's payload. */
  readonly bytes: number;
  /** Index into the node's list of encodings: form and compression of the payload. */
  readonly form: number;
  /** Set where the one piece is the payload of the sample's whole query, compressed. */
  readonly slice: PayloadSlice | undefined;
  readonly owner: SampleOwner;
  /** When its last byte had arrived, and when it was put into the queue, in ns by the node's clock. */
  readonly arrivedAtNs: number;
  readonly queuedAtNs: number;
}

/** Why a sample has no response; `code` is the wire's FailureCode. */
export interface SampleFault {
  readonly code: number;
  readonly text: string;
}

/**
 * What a worker spent on one batch, in ns by the clock that all threads of the process share. The
 * three lengths lie between `beganAtNs` and `endedAtNs` without a gap.
 */
export interface BatchTimes {
  /** When the batch left the queue. */
  readonly takenAtNs: number;
  readonly beganAtNs: number;
  readonly preprocessNs: number;
  readonly computeNs: number;
  readonly postprocessNs: number;
  readonly endedAtNs: number;
}

/** What became of one sample. */
export interface SampleAnswer {
  readonly sample: WaitingSample;
  /** Response bytes; empty where there is a fault. */
  readonly payload: Uint8Array;
  readonly fault: SampleFault | undefined;
  /** Output tokens, of a model that has tokens. */
  readonly tokenCount?: number;
  /** Undefined for a sample that no worker saw to its end. */
  readonly times: BatchTimes | undefined;
}

/** The first output token of a sample, known before the rest. */
export interface SampleFirstToken {
  readonly sample: WaitingSample;
  /** Bytes as they stand at the beginning of the answer's payload. */
  readonly payload: Uint8Array;
}

/** Who sent a sample and wants its answer: a stream. */
export interface SampleOwner {
  /**
   * Takes first tokens that became known at one instant, before the answers of their samples. Dropped where
   * the run does not measure them. Never throws.
   */
  firstTokens(tokens: readonly SampleFirstToken[]): void;
  /** Takes the answers of the samples that became known at one instant. Never throws. */
  answer(answers: readonly SampleAnswer[]): void;
}
