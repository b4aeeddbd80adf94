import { createHash } from 'node:crypto';

/** Values in one call of the hash. */
const PART_LENGTH = 1 << 16;
const TWO_POW_32 = 2 ** 32;

/** SHA-256 in hex over whole numbers of 0 or more, each as 8 bytes, low byte first. */
export function sha256OfIntegers(values: ArrayLike<number>): string {
  const hash = createHash('sha256');
  const words = new Uint32Array(2 * PART_LENGTH);
  for (let begin = 0; begin < values.length; begin += PART_LENGTH) {
    const count = Math.min(PART_LENGTH, values.length - begin);
    for (let i = 0; i < count; i += 1) {
      const value = values[begin + i] as number; // In range: begin + count <= length.
      words[2 * i] = value % TWO_POW_32;
      words[2 * i + 1] = Math.floor(value / TWO_POW_32);
    }
    hash.update(words.subarray(0, 2 * count));
  }
  return hash.digest('hex');
}

/** SHA-256 in hex over doubles, each as its 8 bytes, low byte first. */
export function sha256OfDoubles(values: Float64Array): string {
  return createHash('sha256').update(values).digest('hex');
}
