import zlib from 'node:zlib';
import { readInPlace } from '../base/bytes/borrowed-bytes.ts';
import { errorCodeOf, messageOf } from '../base/errors/to-mlperf-error.ts';
import { brokenPayload, type Codec, type CompressionName, tooLarge } from './codec.ts';
import { zstdContentSize } from './zstd-header.ts';

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
