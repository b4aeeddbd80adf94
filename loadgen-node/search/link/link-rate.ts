/** When bytes are on the wire. */
export interface WireTime {
  /** The first bit goes out, in ns. */
  readonly beginNs: number;
  /** The last bit is out. */
  readonly endNs: number;
}

/**
 * The rate of one direction of a link, which all connections over it share: a token bucket without depth, so that bytes
 * follow one another as on a wire, never several at once.
 */
export class LinkRate {
  readonly #nsPerByte: number;
  #freeAtNs = Number.NEGATIVE_INFINITY;

  /** @param bitsPerSecond Null: no limit. */
  constructor(bitsPerSecond: number | null) {
    this.#nsPerByte = bitsPerSecond === null ? 0 : 8e9 / bitsPerSecond;
  }

  /** 0 without a limit. */
  get nsPerByte(): number {
    return this.#nsPerByte;
  }

  /** Puts bytes behind those that were put there before. */
  send(bytes: number, nowNs: number): WireTime {
    const beginNs = Math.max(nowNs, this.#freeAtNs);
    this.#freeAtNs = beginNs + bytes * this.#nsPerByte;
    return { beginNs, endNs: this.#freeAtNs };
  }

  /** Bytes that wait in front of the wire. */
  waitingBytes(nowNs: number): number {
    if (this.#nsPerByte === 0) return 0;
    return Math.max(0, (this.#freeAtNs - nowNs) / this.#nsPerByte);
  }
}
