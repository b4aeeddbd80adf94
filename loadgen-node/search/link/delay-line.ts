import type { LinkRate } from './link-rate.ts';
import type { LossModel } from './loss-model.ts';

/** Payload of an Ethernet frame behind the headers of IP and TCP with timestamps: 1,500 - 20 - 32. */
export const SEGMENT_BYTES = 1_448;

/** What was written at once, or the part of it between two losses. */
interface Carried {
  readonly bytes: Uint8Array;
  /** When the first and the last bit are at the other end, if nothing held them up. */
  readonly firstNs: number;
  readonly lastNs: number;
  /** What a loss in front of it, or its own, makes it wait for. */
  readonly notBeforeNs: number;
  taken: number;
}

/**
 * One direction of one connection over a link: bytes go in and come out later, in order, as the link's delay, rate and
 * losses have it. Knows no sockets and no timers: the caller says what time it is.
 */
export class DelayLine {
  readonly #delayNs: number;
  readonly #rate: LinkRate;
  readonly #loss: LossModel;
  readonly #carried: Carried[] = [];
  #notBeforeNs = Number.NEGATIVE_INFINITY;
  #heldBytes = 0;

  constructor(delayNs: number, rate: LinkRate, loss: LossModel) {
    this.#delayNs = delayNs;
    this.#rate = rate;
    this.#loss = loss;
  }

  /** Bytes that went in and did not come out. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes what was read at once; the bytes are kept, not copied. */
  push(bytes: Uint8Array, nowNs: number): void {
    if (bytes.length === 0) return;
    this.#heldBytes += bytes.length;
    const { beginNs } = this.#rate.send(bytes.length, nowNs);
    let begin = 0;
    for (const { segment, lateNs } of this.#loss.losses(Math.ceil(bytes.length / SEGMENT_BYTES))) {
      const offset = segment * SEGMENT_BYTES;
      if (offset > begin) this.#carry(bytes, begin, offset, beginNs);
      const end = Math.min(bytes.length, offset + SEGMENT_BYTES);
      const lastNs = beginNs + end * this.#rate.nsPerByte + this.#delayNs;
      this.#notBeforeNs = Math.max(this.#notBeforeNs, lastNs + lateNs);
      begin = offset;
    }
    this.#carry(bytes, begin, bytes.length, beginNs);
  }

  #carry(bytes: Uint8Array, begin: number, end: number, beginNs: number): void {
    const { nsPerByte } = this.#rate;
    this.#carried.push({
      bytes: bytes.subarray(begin, end),
      firstNs: beginNs + begin * nsPerByte + this.#delayNs,
      lastNs: beginNs + end * nsPerByte + this.#delayNs,
      notBeforeNs: this.#notBeforeNs,
      taken: 0,
    });
  }

  /** When the next bytes come out; infinity while there are none. */
  get nextNs(): number {
    const [next] = this.#carried;
    if (next === undefined) return Number.POSITIVE_INFINITY;
    const { nsPerByte } = this.#rate;
    const segmentNs = next.firstNs + (next.taken + SEGMENT_BYTES) * nsPerByte;
    return Math.max(next.notBeforeNs, Math.min(segmentNs, next.lastNs));
  }

  /** The next bytes that are at the other end by now; undefined when there are none. */
  take(nowNs: number): Uint8Array | undefined {
    const [next] = this.#carried;
    if (next === undefined || nowNs < next.notBeforeNs) return undefined;
    const { bytes, taken } = next;
    const end = nowNs >= next.lastNs ? bytes.length : this.#arrivedBytes(next, nowNs);
    if (end <= taken) return undefined;
    next.taken = end;
    if (end === bytes.length) this.#carried.shift();
    this.#heldBytes -= end - taken;
    return bytes.subarray(taken, end);
  }

  /** Whole segments of a write that is still under way. */
  #arrivedBytes({ firstNs }: Carried, nowNs: number): number {
    const { nsPerByte } = this.#rate;
    if (nsPerByte === 0 || nowNs < firstNs) return 0;
    return Math.floor((nowNs - firstNs) / nsPerByte / SEGMENT_BYTES) * SEGMENT_BYTES;
  }
}
