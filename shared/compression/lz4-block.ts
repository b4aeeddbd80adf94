import { createRequire } from 'node:module';
import { messageOf } from '../base/errors/mlperf-error.ts';

const require = createRequire(import.meta.url);

/** Bytes of the uncompressed length in front of a block. */
export const LENGTH_BYTES = 4;

/**
 * An implementation of LZ4's block format, with the uncompressed length in front: 4 bytes,
 * little-endian. All read what any of them wrote; what they write may differ in size.
 */
export interface Lz4Block {
  /** Which implementation: package and version. */
  readonly origin: string;
  /** `bytes` has at least one. */
  compress(bytes: Uint8Array): Uint8Array;
  /**
   * Reads and writes inside the two buffers only, whatever the bytes.
   * @param bytes Length and block.
   * @param size The uncompressed length, which the caller has read and found bearable.
   * @throws Error when the block is broken or does not hold exactly `size` bytes.
   */
  decompress(bytes: Uint8Array, size: number): Uint8Array;
}

/** What is used of package `lz4`, which has no types. */
interface NativeLz4 {
  encodeBound(size: number): number;
  /** Bytes written behind `start`; 0 when the input cannot be compressed. */
  encodeBlock(input: Uint8Array, output: Uint8Array, start: number): number;
  /** Bytes written; negative when the block is broken (LZ4_decompress_safe). */
  decodeBlock(input: Uint8Array, output: Uint8Array): number;
}

/** Package `lz4`: compiled when it is installed, so it is absent where that could not be done. */
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
      // Compressed payloads are kept for a whole run: without the room that was not needed.
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

/** Package `lz4-wasm-nodejs`: WebAssembly, so it is there on every machine, and keeps to its own memory. */
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

/** The faster implementation that is installed here; loaded when it is first asked for. */
export function lz4Block(): Lz4Block {
  chosen ??= nativeLz4() ?? wasmLz4();
  return chosen;
}

function versionOf(name: string): string {
  return (require(`${name}/package.json`) as { version: string }).version;
}
