/** First bytes of every Zstandard frame (RFC 8878, 3.1.1). */
const MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);

/** Bytes of the dictionary id by its flag, and of the content size by its. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** A content size of two bytes is meant from here on. */
const TWO_BYTES_OFFSET = 256;

/**
 * Content size in bytes that the header of a Zstandard frame tells (RFC 8878, 3.1.1.1); undefined where
 * it tells none, or where this is no frame. May be more than 2^53 - 1, and then is not exact.
 */
export function zstdContentSize(frame: Uint8Array): number | undefined {
  if (frame.length <= MAGIC.length || MAGIC.some((byte, i) => frame[i] !== byte)) return undefined;
  const descriptor = frame[MAGIC.length] as number; // The length was looked at.
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes =
    sizeFlag === 0 && isSingleSegment ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] as number);
  if (sizeBytes === 0) return undefined;
  const windowBytes = isSingleSegment ? 0 : 1;
  const dictionaryBytes = DICTIONARY_ID_BYTES[descriptor & 3] as number;
  const begin = MAGIC.length + 1 + windowBytes + dictionaryBytes;
  if (frame.length < begin + sizeBytes) return undefined;
  let size = sizeBytes === 2 ? TWO_BYTES_OFFSET : 0;
  for (let i = 0; i < sizeBytes; i += 1) size += (frame[begin + i] as number) * 256 ** i;
  return size;
}
