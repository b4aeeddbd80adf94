const STATE_LENGTH = 624;
const SHIFT_LENGTH = 397;

/**
 * The 32-bit Mersenne Twister of the C++ library (`std::mt19937`), LoadGen's only generator.
 * The same seed gives the same sequence, bit for bit.
 */
export class Mt19937 {
  readonly #state: Uint32Array;
  #nextIndex: number;

  /** @param seed 64-bit; only its low 32 bits count, as in C++. */
  constructor(seed: bigint) {
    const state = new Uint32Array(STATE_LENGTH);
    let word = Number(BigInt.asUintN(32, seed));
    state[0] = word;
    for (let i = 1; i < STATE_LENGTH; i += 1) {
      word = (Math.imul(1812433253, word ^ (word >>> 30)) + i) >>> 0;
      state[i] = word;
    }
    this.#state = state;
    this.#nextIndex = STATE_LENGTH;
  }

  /** Draws a whole number from 0 to 2^32 - 1. */
  nextUint32(): number {
    if (this.#nextIndex === STATE_LENGTH) this.#twist();
    let word = this.#state[this.#nextIndex] as number; // In range: nextIndex < length.
    this.#nextIndex += 1;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    word ^= word >>> 18;
    return word >>> 0;
  }

  #twist(): void {
    const state = this.#state;
    for (let i = 0; i < STATE_LENGTH; i += 1) {
      const high = (state[i] as number) & 0x80000000;
      const low = (state[(i + 1) % STATE_LENGTH] as number) & 0x7fffffff;
      const mixed = high | low;
      const twisted = (mixed >>> 1) ^ (mixed & 1 ? 0x9908b0df : 0);
      state[i] = (state[(i + SHIFT_LENGTH) % STATE_LENGTH] as number) ^ twisted;
    }
    this.#nextIndex = 0;
  }
}
