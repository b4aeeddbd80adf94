import type { OutgoingPart, OutgoingSample } from '../../../dispatch/dispatch-channel.ts';

/** A sample, or a piece of one: where it begins in the whole payload, and that payload's length. */
export interface SentSample extends OutgoingSample {
  readonly offset?: number;
  readonly total?: number;
}

/** Whole samples, or one piece, for one message. */
export interface SentPart extends OutgoingPart {
  readonly samples: readonly SentSample[];
}

/** Samples that begin in a part: none in a later piece of one. */
export function begunCount({ samples }: SentPart): number {
  return (samples[0]?.offset ?? 0) === 0 ? samples.length : 0;
}

/** False for a piece before the last one. */
export function hasLastByte({ payload, offset = 0, total = payload.length }: SentSample): boolean {
  return offset + payload.length === total;
}
