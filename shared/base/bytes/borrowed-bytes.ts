/** No bytes at all. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Bytes of a buffer that its owner (a transport, a pool) will write over: they are valid during the call that hands
 * them on. Each Uint8Array is such bytes; the reverse does not compile, so whoever keeps them makes a copy
 * ({@link copyOf}), or copies them into memory of his own by `set`. A part of them is borrowed as well.
 *
 * An interface that hands them on has a property for it (`readonly onBytes: (chunk: BorrowedBytes) => void`), no method:
 * TypeScript lets a method ask for more than its interface gives.
 */
export interface BorrowedBytes {
  readonly length: number;
  readonly [index: number]: number;
  subarray(begin?: number, end?: number): BorrowedBytes;
}

/** A copy of `[begin, end)` to keep, in memory of its own. */
export function copyOf(bytes: BorrowedBytes, begin = 0, end: number = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(begin, end));
}

/**
 * The same memory for code that takes nothing but a Uint8Array, and has read it when it returns, or when its promise
 * resolves and the owner waits for that. Nobody may keep the result.
 */
export function readInPlace(bytes: BorrowedBytes): Uint8Array {
  return bytes as Uint8Array; // Nothing else has this interface.
}

/** Text of `[begin, end)`. */
export function borrowedText(
  bytes: BorrowedBytes,
  encoding: 'utf8' | 'latin1' = 'utf8',
  begin = 0,
  end: number = bytes.length,
): string {
  const { buffer, byteOffset } = readInPlace(bytes);
  return Buffer.from(buffer, byteOffset + begin, end - begin).toString(encoding);
}

/** An unsigned number of 16 bits, most significant byte first. */
export function uint16At(bytes: BorrowedBytes, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** An unsigned number of 32 bits, most significant byte first. */
export function uint32At(bytes: BorrowedBytes, at: number): number {
  return uint16At(bytes, at) * 0x1_0000 + uint16At(bytes, at + 2);
}

/** An unsigned number of 32 bits, least significant byte first. */
export function littleUint32At(bytes: BorrowedBytes, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  const high = (bytes[at + 2] as number) | ((bytes[at + 3] as number) << 8);
  return high * 0x1_0000 + low;
}
