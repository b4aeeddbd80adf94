import type { OutgoingSample, UnsentRest } from '../../../dispatch/dispatch-channel.ts';
import type { SentPart } from './sent-part.ts';

/** A sample that is larger than a part: it goes out in pieces. */
export class LargeSample implements UnsentRest {
  readonly #part: SentPart;
  readonly #bytesMax: number;
  readonly #send: (piece: SentPart) => void;
  #offset = 0;

  /** @param part Of that sample alone. @param bytesMax Of a piece. */
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
    const { id, sampleIndex, payload: whole } = samples[0] as OutgoingSample; // It is the only one.
    const offset = this.#offset;
    const payload = whole.subarray(offset, offset + this.nextBytes);
    this.#offset += payload.length;
    const piece = { id, sampleIndex, payload, offset, total };
    this.#send({ query, querySampleCount, samples: [piece], bytes: payload.length });
  }
}
