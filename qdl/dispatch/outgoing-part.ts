import type { PartSample, WirePart } from '../../shared/wire/part-codec.ts';

/** A sample, or a piece of one, on its way out. */
export interface OutgoingSample extends PartSample {
  /** Index in the sample library, where another thread takes the payload. Never goes out. */
  readonly sampleIndex: number;
}

/** Samples of exactly one query, about to go out in one message. */
export interface OutgoingPart extends WirePart {
  readonly samples: readonly OutgoingSample[];
  /** Samples that begin in this part: those that take credit and a wire id. */
  readonly sampleCount: number;
  /** Payload bytes of the part. */
  readonly bytes: number;
}
