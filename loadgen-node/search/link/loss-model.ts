import type { SeededRandom } from '../../../shared/benchmarks/digits/seeded-random.ts';

/** Later segments whose acknowledgements tell a sender of a loss (RFC 5681, 3.2). */
const DUPLICATE_ACKS = 3;
/** Added to two round trips where fewer follow: the tail probe's timer. */
const PROBE_NS = 10e6;
/** Shortest retransmission timeout of Linux; RFC 6298 asks for 1 s. */
const TIMEOUT_NS_MIN = 200e6;

/**
 * What the loss of segments does to a TCP connection, as far as bytes on top of TCP can show it. A model:
 *
 * - each segment is lost with the same chance, on its own;
 * - a lost one comes later by a round trip where three or more segments of the same write follow it (fast
 *   retransmission), by two and 10 ms where fewer do, and by one and 200 ms where it travels alone (timeout);
 * - what follows on its connection waits for it, as TCP delivers in order.
 *
 * Not in the model: the sender's smaller congestion window after a loss, and losses of acknowledgements and of
 * retransmitted segments. Real links lose more throughput, above all with long delays.
 */
export class LossModel {
  readonly #lossShare: number;
  readonly #roundTripNs: number;
  readonly #random: SeededRandom;
  /** Segments that get through before the next one is lost. */
  #untilLoss: number;
  lostCount = 0;

  constructor(lossShare: number, roundTripNs: number, random: SeededRandom) {
    this.#lossShare = lossShare;
    this.#roundTripNs = roundTripNs;
    this.#random = random;
    this.#untilLoss = this.#draw();
  }

  /**
   * Looks at segments that were written at once.
   * @returns By lost segment: its number among them, from 0, and by how much later it comes, in ns.
   */
  losses(segmentCount: number): { readonly segment: number; readonly lateNs: number }[] {
    const lost: { segment: number; lateNs: number }[] = [];
    let seen = 0;
    while (seen + this.#untilLoss < segmentCount) {
      const segment = seen + this.#untilLoss;
      lost.push({ segment, lateNs: this.#lateNs(segment, segmentCount) });
      seen = segment + 1;
      this.#untilLoss = this.#draw();
    }
    this.#untilLoss -= segmentCount - seen;
    this.lostCount += lost.length;
    return lost;
  }

  #lateNs(segment: number, segmentCount: number): number {
    if (segmentCount === 1) return this.#roundTripNs + TIMEOUT_NS_MIN;
    const following = segmentCount - 1 - segment;
    return following >= DUPLICATE_ACKS ? this.#roundTripNs : 2 * this.#roundTripNs + PROBE_NS;
  }

  /** Geometric: how many segments get through before one does not. */
  #draw(): number {
    if (this.#lossShare === 0) return Number.POSITIVE_INFINITY;
    const uniform = (this.#random.nextUint32() + 0.5) / 2 ** 32;
    return Math.floor(Math.log(uniform) / Math.log1p(-this.#lossShare));
  }
}
