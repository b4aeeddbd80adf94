import type { BorrowedBytes } from '../base/bytes/borrowed-bytes.ts';
import { MlperfError } from '../base/errors/mlperf-error.ts';

/** Lossless compressions by the name that they have in the protocol, on the command line and in logs. */
export const COMPRESSION_NAMES = ['identity', 'lz4', 'gzip', 'zstd'] as const;

/** One of {@link COMPRESSION_NAMES}. */
export type CompressionName = (typeof COMPRESSION_NAMES)[number];

/** A lossless compression of one payload. Synchronous: who must not be held up calls it on a worker. */
export interface Codec {
  readonly name: CompressionName;
  /** Compressed form of `bytes`, which may be larger than they are. */
  compress(bytes: Uint8Array): Uint8Array;
  /**
   * What was compressed. `identity` returns the bytes themselves, borrowed where they are; the others return memory of their own.
   * @param sizeMax Bytes that may come out, 0 or more; memory for more is never taken.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` when `bytes` are not this codec's, are cut off, go on behind
   *   their end, or hold more than `sizeMax`.
   */
  readonly decompress: <Bytes extends BorrowedBytes>(
    bytes: Bytes,
    sizeMax: number,
  ) => Bytes | Uint8Array;
}

/** The error for a payload that a codec cannot read. */
export function brokenPayload(name: CompressionName, what: string, cause?: unknown): MlperfError {
  const message = `a payload that should be ${name} ${what}`;
  return new MlperfError('ERR_WIRE_PROTOCOL', message, { cause });
}

/** The error for a payload that holds more than the reader takes: a decompression bomb, or a wrong limit. */
export function tooLarge(name: CompressionName, sizeMax: number): MlperfError {
  return brokenPayload(
    name,
    `holds more than ${sizeMax} bytes, which is the most that is taken here`,
  );
}
