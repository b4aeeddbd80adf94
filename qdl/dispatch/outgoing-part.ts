/** A sample, or a piece of one, as numbers: the transport takes the bytes from the sample library. */
export interface OutgoingSample {
  /** Opaque id on the wire. */
  readonly id: number;
  /** Index in the sample library. Never goes out. */
  readonly sampleIndex: number;
  /** The piece is `[begin, end)` of the payload. */
  readonly begin: number;
  readonly end: number;
  /** Length of the whole payload; 0 for a sample that travels whole. */
  readonly total: number;
}

/** Samples of exactly one query, about to go out in one message. */
export interface OutgoingPart {
  /** Number of the query in the run. */
  readonly query: number;
  /** Samples of the whole query, on all its parts and nodes. */
  readonly querySampleCount: number;
  readonly samples: readonly OutgoingSample[];
  /** Payload bytes of the part. */
  readonly bytes: number;
}
