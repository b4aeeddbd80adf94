/**
 * Outputs to throw away until near-equal seeds no longer show in the sequence (PractRand's own
 * count).
 */
const WARM_UP_COUNT = 15;

/**
 * Random numbers that are the same on every machine: sfc32, the "small fast counter" generator of
 * PractRand, made of 32-bit integer operations only. For pictures and weights; the order of samples
 * in a run follows LoadGen's own generator, which is another one.
 */
export class SeededRandom {
  #a: number;
  #b: number;
  #c = 0;
  #counter = 1;

  /**
   * Both numbers enter the state as they are, so different pairs never share a sequence.
   * @param seed Which family of sequences, 32 bits.
   * @param stream Which sequence of the family, 32 bits: for example the index of an image.
   */
  constructor(seed: number, stream: number) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    for (let i = 0; i < WARM_UP_COUNT; i += 1) this.nextUint32();
  }

  /** Uniform over all 32-bit unsigned integers. */
  nextUint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** Uniform over [low, high). */
  uniform(low: number, high: number): number {
    return low + (high - low) * (this.nextUint32() / 2 ** 32);
  }

  /** Uniform over the integers 0 to count - 1. */
  integerBelow(count: number): number {
    return Math.floor(this.uniform(0, count));
  }

  /**
   * Triangular over (-1, 1) with the peak at 0: the sum of two uniform 16-bit numbers of one
   * output.
   */
  triangular(): number {
    const bits = this.nextUint32();
    return ((bits & 0xffff) + (bits >>> 16)) / 0xffff - 1;
  }

  /**
   * Nearly normal with mean 0 and standard deviation 1: the sum of the four bytes of one output.
   * No logarithm and no cosine, whose last digits may differ between machines.
   */
  nearlyNormal(): number {
    const bits = this.nextUint32();
    const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24);
    return (sum - BYTE_SUM_MEAN) / BYTE_SUM_DEVIATION;
  }
}

/** Mean of the sum of four uniform bytes: 4 * 255 / 2. */
const BYTE_SUM_MEAN = 510;
/** Its standard deviation: sqrt(4 * (256^2 - 1) / 12). */
const BYTE_SUM_DEVIATION = Math.sqrt((4 * (256 ** 2 - 1)) / 12);
