import { createRequire } from 'node:module';
import zlib from 'node:zlib';
import { type BorrowedBytes, littleUint32At, readInPlace } from '../base/bytes/borrowed-bytes.ts';
import {
  benchmarkUnknown,
  errorCodeOf,
  type MlperfError,
  messageOf,
  notInstalled,
  wireError,
} from '../base/errors/mlperf-error.ts';

const require = createRequire(import.meta.url);

/** Bytes of the uncompressed length in front of a block. */
const LENGTH_BYTES = 4;

/**
 * An implementation of LZ4's block format, after the uncompressed length: 4 bytes, little-endian.
 * Each can read what the others wrote; sizes may differ.
 */
interface Lz4Block {
  /** Package and version. */
  readonly origin: string;
  /** `bytes` is not empty. */
  compress(bytes: Uint8Array): Uint8Array;
  /**
   * Reads and writes inside the two buffers only, whatever the bytes.
   * @param bytes Length and block.
   * @param size The uncompressed length, already checked by the caller.
   * @throws Error if the block is corrupt or does not hold exactly `size` bytes.
   */
  decompress(bytes: Uint8Array, size: number): Uint8Array;
}

/** The functions used of package `lz4`, which has no types. */
interface NativeLz4 {
  encodeBound(size: number): number;
  /** Bytes written after `start`; 0 if the input cannot be compressed. */
  encodeBlock(input: Uint8Array, output: Uint8Array, start: number): number;
  /** Bytes written; negative if the block is corrupt (LZ4_decompress_safe). */
  decodeBlock(input: Uint8Array, output: Uint8Array): number;
}

/** Package `lz4`: native code, undefined if it could not be compiled at installation. */
export function nativeLz4(): Lz4Block | undefined {
  let native: NativeLz4;
  try {
    native = require('lz4') as NativeLz4;
  } catch {
    return undefined;
  }
  return {
    origin: `lz4 ${versionOf('lz4')} (native)`,
    compress: (bytes) => {
      const output = Buffer.allocUnsafe(LENGTH_BYTES + native.encodeBound(bytes.length));
      output.writeUInt32LE(bytes.length);
      const written = native.encodeBlock(bytes, output, LENGTH_BYTES);
      if (written <= 0) throw new Error(`${bytes.length} bytes are too many for one block`);
      // Compressed payloads are kept for a whole run, so copy without the unused space.
      return new Uint8Array(output.subarray(0, LENGTH_BYTES + written));
    },
    decompress: (bytes, size) => {
      const output = Buffer.allocUnsafe(size);
      const written = native.decodeBlock(bytes.subarray(LENGTH_BYTES), output);
      if (written < 0) throw new Error('the block is broken');
      if (written !== size) throw new Error(`the block holds ${written} bytes`);
      return output;
    },
  };
}

/**
 * Package `lz4-wasm-nodejs`: WebAssembly, so it is available everywhere and confined to its own
 * memory.
 */
export function wasmLz4(): Lz4Block {
  const wasm = require('lz4-wasm-nodejs') as typeof import('lz4-wasm-nodejs');
  return {
    origin: `lz4-wasm-nodejs ${versionOf('lz4-wasm-nodejs')}`,
    compress: (bytes) => wasm.compress(bytes),
    decompress: (bytes, size) => {
      let output: Uint8Array;
      try {
        output = wasm.decompress(bytes);
      } catch (error) {
        // It throws strings.
        throw new Error(messageOf(error), { cause: error });
      }
      if (output.length !== size) throw new Error(`the block holds ${output.length} bytes`);
      return output;
    },
  };
}

let chosen: Lz4Block | undefined;

/** The fastest installed implementation, loaded at first use. */
export function lz4Block(): Lz4Block {
  chosen ??= nativeLz4() ?? wasmLz4();
  return chosen;
}

function versionOf(name: string): string {
  return (require(`${name}/package.json`) as { version: string }).version;
}

/** Names of lossless compressions in the protocol, on the command line and in logs. */
export const COMPRESSION_NAMES = ['identity', 'lz4', 'gzip', 'zstd'] as const;

/** One of {@link COMPRESSION_NAMES}. */
export type CompressionName = (typeof COMPRESSION_NAMES)[number];

/**
 * A lossless compression of one payload. Synchronous: call it on a worker where latency matters.
 */
export interface Codec {
  readonly name: CompressionName;
  /** Compressed form of `bytes`; it may be larger. */
  compress(bytes: Uint8Array): Uint8Array;
  /**
   * Decompresses. `identity` returns its input; others return new memory.
   * @param sizeMax Most decompressed bytes, 0 or more; no more memory is ever allocated.
   * @throws MlperfError `ERR_WIRE_PROTOCOL` if `bytes` have another format, are truncated, have
   * trailing bytes, or hold more than `sizeMax`.
   */
  readonly decompress: <Bytes extends BorrowedBytes>(
    bytes: Bytes,
    sizeMax: number,
  ) => Bytes | Uint8Array;
}

/** Error for a payload that a codec cannot decode. */
function brokenPayload(name: CompressionName, what: string, cause?: unknown): MlperfError {
  const message = `a payload that should be ${name} ${what}`;
  return wireError(message, cause);
}

/** Error for a payload above the limit: a decompression bomb, or a wrong limit. */
function tooLarge(name: CompressionName, sizeMax: number): MlperfError {
  return brokenPayload(name, `holds more than ${sizeMax} bytes, the limit here`);
}

/** Result of zlib with `info: true`: the engine counts the input bytes consumed. */
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

/** Largest output piece: few pieces, and little memory for a small payload. */
const CHUNK_BYTES_MAX: number = 256 * 1024;
const CHUNK_BYTES_MIN = 1024;

/** gzip (RFC 1952) at zlib's default level; the header carries neither time nor name. */
const gzipCodec: Codec = {
  name: 'gzip',
  compress: (bytes) => zlib.gzipSync(bytes),
  decompress: (bytes, sizeMax) =>
    decompressWith('gzip', zlib.gunzipSync as unknown as Decompress, readInPlace(bytes), sizeMax),
};

/** Node has it from 22.15 on; the types here are those of Node 20. */
const { zstdCompressSync, zstdDecompressSync } = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer;
  readonly zstdDecompressSync?: Decompress;
};

/**
 * Zstandard (RFC 8878) at zlib's default level; undefined if this Node.js lacks it. One frame with
 * its content size: Node 22 returns the start of a truncated frame without an error, so only the
 * size reveals it.
 */
const zstdCodec: Codec | undefined =
  zstdCompressSync === undefined || zstdDecompressSync === undefined
    ? undefined
    : {
        name: 'zstd',
        compress: (bytes) => zstdCompressSync(bytes),
        decompress: (borrowed, sizeMax) => {
          const bytes = readInPlace(borrowed);
          const size = zstdContentSize(bytes);
          if (size === undefined) throw brokenPayload('zstd', 'has no content size in its header');
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
      // zlib refuses 0; the actual size is checked below.
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
  // zlib stops at the end of its stream and does not report trailing bytes.
  if (engine.bytesWritten !== bytes.length) {
    throw brokenPayload(name, `has ${bytes.length - engine.bytesWritten} bytes after its end`);
  }
  return buffer;
}

/** First bytes of every Zstandard frame (RFC 8878, 3.1.1). */
const MAGIC = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd);

/** Bytes of the dictionary id and of the content size, by their flags. */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** Added to a content size of two bytes. */
const TWO_BYTES_OFFSET = 256;

/**
 * Content size in the header of a Zstandard frame (RFC 8878, 3.1.1.1); undefined without one, or if
 * this is no frame. Inexact above 2^53 - 1.
 */
export function zstdContentSize(frame: Uint8Array): number | undefined {
  if (frame.length <= MAGIC.length || MAGIC.some((byte, i) => frame[i] !== byte)) return undefined;
  const descriptor = frame[MAGIC.length] as number; // In range: the length was checked.
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

/** Largest expansion of an LZ4 block (block format: a length byte adds 255). */
const EXPANSION_MAX = 255;

/** An empty payload: length 0, and a block of one empty sequence. */
const EMPTY: Uint8Array = new Uint8Array(LENGTH_BYTES + 1);

/**
 * LZ4 on the wire: the uncompressed length (4 bytes, little-endian), then one LZ4 block. The length
 * comes first so that a reader can refuse it before allocating memory.
 * @param choose Returns the implementation of the block format; called for the first payload.
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

/** The codec with the installed implementation. */
const lz4Codec: Codec = createLz4Codec(lz4Block);

function declaredSize(bytes: BorrowedBytes): number {
  if (bytes.length <= LENGTH_BYTES) {
    const what = `has ${bytes.length} bytes; its uncompressed length and a block take 5 at least`;
    throw brokenPayload('lz4', what);
  }
  return littleUint32At(bytes, 0);
}

function emptyOf(bytes: BorrowedBytes): Uint8Array {
  if (bytes.length === EMPTY.length && bytes[LENGTH_BYTES] === 0) return new Uint8Array(0);
  throw brokenPayload('lz4', 'declares length 0 but has contents');
}

/** No compression: the bytes themselves, without a copy. */
const identityCodec: Codec = {
  name: 'identity',
  compress: (bytes) => bytes,
  decompress: (bytes, sizeMax) => {
    if (bytes.length > sizeMax) throw tooLarge('identity', sizeMax);
    return bytes;
  },
};

const CODECS: Readonly<Record<CompressionName, Codec | undefined>> = {
  identity: identityCodec,
  lz4: lz4Codec,
  gzip: gzipCodec,
  zstd: zstdCodec,
};

/** Names of the codecs that work in this process, `identity` first. */
export function availableCodecs(): readonly CompressionName[] {
  return COMPRESSION_NAMES.filter((name) => CODECS[name] !== undefined);
}

/**
 * A codec by its name.
 * @throws MlperfError `ERR_BENCHMARK_UNKNOWN` for an unknown name, `ERR_NOT_INSTALLED` if this
 * Node.js lacks it.
 */
export function codecNamed(name: string): Codec {
  const known = COMPRESSION_NAMES.find((candidate) => candidate === name);
  if (known === undefined) {
    const names = COMPRESSION_NAMES.join(', ');
    throw benchmarkUnknown(`there is no compression "${name}"; there is: ${names}`);
  }
  const codec = CODECS[known];
  if (codec === undefined) {
    throw notInstalled(
      `Node ${process.version} has no ${known} (22.15 and later have); ` +
        `this process has: ${availableCodecs().join(', ')}`,
    );
  }
  return codec;
}
