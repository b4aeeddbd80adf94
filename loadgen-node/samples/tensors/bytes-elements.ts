/** Length before an element of BYTES in raw contents. */
const LENGTH_BYTES = 4;

/** Raw contents of a tensor of BYTES: 4 bytes of length, little-endian, before each element. */
export function bytesContents(elements: readonly Uint8Array[]): Uint8Array {
  const total = elements.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0);
  const raw = Buffer.allocUnsafe(total);
  let at = 0;
  for (const element of elements) {
    raw.writeUInt32LE(element.length, at);
    raw.set(element, at + LENGTH_BYTES);
    at += LENGTH_BYTES + element.length;
  }
  return raw;
}
