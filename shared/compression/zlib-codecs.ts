import zlib from 'node:zlib';
import { readInPlace } from '../base/bytes/borrowed-bytes.ts';
import { errorCodeOf, messageOf } from '../base/errors/to-mlperf-error.ts';
import { brokenPayload, type Codec, type CompressionName, tooLarge } from './codec.ts';

/** What zlib hands back with `info: true`: the engine counts the input that it has used. */
interface WithEngine {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

interface DecompressOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
  readonly info: true;
}

type Decompress = (bytes: Uint8Array, options: DecompressOptions) => unknown;

/** Output is gathered in pieces of this size at most: few pieces, and little memory for a small payload. */
const CHUNK_BYTES_MAX: number = 256 * 1024;
const CHUNK_BYTES_MIN = 1024;

/** gzip (RFC 1952) at zlib's default level; the header carries neither time nor name. */
export const gzipCodec: Codec = {
  name: 'gzip',
  compress: (bytes) => zlib.gzipSync(bytes),
  decompress: (bytes, sizeMax) =>
    decompressWith('gzip', zlib.gunzipSync as unknown as Decompress, readInPlace(bytes), sizeMax),
};

/** Node has it from 22.15 on; its types here are those of Node 20. */
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer;
  readonly zstdDecompressSync?: Decompress;
};

/**
 * Zstandard (RFC 8878) at zlib's default level; undefined where this Node has none. One frame that tells
 * its content size: Node 22 hands out what it has of a frame that is cut off as if it were all, so the
 * size is the only sign of that.
 */
export const zstdCodec: Codec | undefined =
  zstdCompressSync === undefined || zstdDecompressSync === undefined
    ? undefined
    : {
        name: 'zstd',
        compress: (bytes) => zstdCompressSync(bytes),
        decompress: (borrowed, sizeMax) => {
          const bytes = readInPlace(borrowed);
          const size = zstdContentSize(bytes);
          if (size === undefined) throw brokenPayload('zstd', 'does not tell its content size');
          if (size > sizeMax) throw tooLarge('zstd', sizeMax);
          const content = decompressWith('zstd', zstdDecompressSync, bytes, size);
          if (content.length === size) return content;
          throw brokenPayload('zstd', `ends after ${content.length} of ${size} bytes`);
        },
      };

function decompressWith(
  name: CompressionName,
  decompress: Decompress,
  bytes: Uint8Array,
  sizeMax: number,
): Uint8Array {
  let result: WithEngine;
  try {
    result = decompress(bytes, {
      // zlib takes no 0; what comes out is looked at below.
      maxOutputLength: Math.max(1, sizeMax),
      chunkSize: Math.min(CHUNK_BYTES_MAX, Math.max(CHUNK_BYTES_MIN, sizeMax)),
      info: true,
    }) as WithEngine;
  } catch (error) {
    if (errorCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(name, sizeMax);
    throw brokenPayload(name, `cannot be read: ${messageOf(error)}`, error);
  }
  const { buffer, engine } = result;
  if (buffer.length > sizeMax) throw tooLarge(name, sizeMax);
  // zlib ends at the end of what it understands and says nothing of the rest.
  if (engine.bytesWritten !== bytes.length) {
    throw brokenPayload(
      name,
      `goes on for ${bytes.length - engine.bytesWritten} bytes behind its end`,
    );
  }
  return buffer;
}

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
