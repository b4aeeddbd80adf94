import { type BorrowedBytes, littleUint32At, readInPlace } from '../base/bytes/borrowed-bytes.ts';
import { messageOf } from '../base/errors/to-mlperf-error.ts';
import { brokenPayload, type Codec, tooLarge } from './codec.ts';
import { LENGTH_BYTES, type Lz4Block, lz4Block } from './lz4-block.ts';

/** A block of n bytes never holds more than n times this (LZ4 block format: a length byte adds 255). */
const EXPANSION_MAX = 255;

/** No bytes: the length, and a block of one empty sequence. */
const EMPTY: Uint8Array = new Uint8Array(LENGTH_BYTES + 1);

/**
 * LZ4 on the wire: the uncompressed length (4 bytes, little-endian), then one LZ4 block. The length
 * stands in front so that a reader can refuse it before it takes memory.
 * @param choose Implementation of the block format; asked for with the first payload.
 */
export function createLz4Codec(choose: () => Lz4Block): Codec {
  return {
    name: 'lz4',
    compress: (bytes) => (bytes.length === 0 ? EMPTY : choose().compress(bytes)),
    decompress: (bytes, sizeMax) => {
      const size = declaredSize(bytes);
      if (size > sizeMax) throw tooLarge('lz4', sizeMax);
      const blockBytes = bytes.length - LENGTH_BYTES;
      if (size > blockBytes * EXPANSION_MAX) {
        const what = `says that it holds ${size} bytes, more than a block of ${blockBytes} bytes can`;
        throw brokenPayload('lz4', what);
      }
      if (size === 0) return emptyOf(bytes);
      try {
        return choose().decompress(readInPlace(bytes), size);
      } catch (error) {
        const what = `and hold ${size} bytes cannot be read: ${messageOf(error)}`;
        throw brokenPayload('lz4', what, error);
      }
    },
  };
}

/** The codec with the implementation that is installed. */
export const lz4Codec: Codec = createLz4Codec(lz4Block);

function declaredSize(bytes: BorrowedBytes): number {
  if (bytes.length <= LENGTH_BYTES) {
    const what = `has ${bytes.length} bytes; its uncompressed length and a block take 5 at least`;
    throw brokenPayload('lz4', what);
  }
  return littleUint32At(bytes, 0);
}

function emptyOf(bytes: BorrowedBytes): Uint8Array {
  if (bytes.length === EMPTY.length && bytes[LENGTH_BYTES] === 0) return new Uint8Array(0);
  throw brokenPayload('lz4', 'says that it holds nothing, and goes on');
}
