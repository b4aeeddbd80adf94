import type {
  OutgoingPart,
  OutgoingSample,
  UnsentRest,
} from '../../../dispatch/dispatch-channel.ts';

/** A sample, or a piece of one with its offset in the payload and the payload's total length. */
export interface SentSample extends OutgoingSample {
  readonly offset?: number;
  readonly total?: number;
}

/** Whole samples, or one piece, sent as one message. */
export interface SentPart extends OutgoingPart {
  readonly samples: readonly SentSample[];
}

/** Samples that begin in a part: 0 for a later piece. */
export function begunCount({ samples }: SentPart): number {
  return (samples[0]?.offset ?? 0) === 0 ? samples.length : 0;
}

/** False for a piece that is not the last one. */
export function hasLastByte({ payload, offset = 0, total = payload.length }: SentSample): boolean {
  return offset + payload.length === total;
}

/** A sample larger than a part: it is sent in pieces. */
export class LargeSample implements UnsentRest {
  readonly #part: SentPart;
  readonly #bytesMax: number;
  readonly #send: (piece: SentPart) => void;
  #offset = 0;

  /** @param part Holds that sample only. @param bytesMax Largest piece. */
  constructor(part: SentPart, bytesMax: number, send: (piece: SentPart) => void) {
    this.#part = part;
    this.#bytesMax = bytesMax;
    this.#send = send;
  }

  get bytes(): number {
    return this.#part.bytes - this.#offset;
  }

  get nextBytes(): number {
    return Math.min(this.#bytesMax, this.bytes);
  }

  sendNext(): void {
    const { query, querySampleCount, samples, bytes: total } = this.#part;
    // In range: the part has one sample.
    const { id, sampleIndex, payload: whole } = samples[0] as OutgoingSample;
    const offset = this.#offset;
    const payload = whole.subarray(offset, offset + this.nextBytes);
    this.#offset += payload.length;
    const piece = { id, sampleIndex, payload, offset, total };
    this.#send({ query, querySampleCount, samples: [piece], bytes: payload.length });
  }
}
