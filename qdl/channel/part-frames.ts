import assert from 'node:assert';
import { partMessageSize, type WirePart, writePartMessage } from '../../shared/wire/part-codec.ts';

/** Bytes before each message on a gRPC stream: a flag (0: not compressed) and the length. */
const FRAME_HEAD_BYTES = 5;

/**
 * Parts that are ready at the same moment, each as a gRPC message of its own, written into the buffer
 * that goes to HTTP/2.
 *
 * grpc-js makes a frame out of one message: it asks for `length`, takes a buffer of 5 bytes more, writes
 * the head and calls `copy(buffer, 5)`. That call is used here to write the parts straight into that buffer, heads
 * included. What is on the wire is the same as if every part had been handed over by itself; saved are one
 * copy of every payload, and the price of a message inside grpc-js for all parts but the first (8 to 10 µs each).
 * Joining messages into one write is what gRPC does with messages anyway: the boundaries of HTTP/2 frames mean nothing.
 */
export class PartFrames {
  readonly #parts: readonly WirePart[];
  readonly #sizes: readonly number[];
  /** What grpc-js takes for the length of one message. */
  readonly length: number;

  /** @param parts At least one. */
  constructor(parts: readonly WirePart[]) {
    assert(parts.length > 0);
    this.#parts = parts;
    this.#sizes = parts.map(partMessageSize);
    let total = 0;
    for (const size of this.#sizes) total += FRAME_HEAD_BYTES + size;
    this.length = total - FRAME_HEAD_BYTES;
  }

  /**
   * Called by grpc-js with its frame.
   * @throws AssertionError when this grpc-js makes its frames in another way; the stream ends then.
   */
  copy(target: Buffer, targetStart: number): number {
    assert.equal(targetStart, FRAME_HEAD_BYTES, 'grpc-js frames messages in another way');
    assert.equal(target.length, this.length + FRAME_HEAD_BYTES);
    let position = 0;
    for (let i = 0; i < this.#parts.length; i += 1) {
      const size = this.#sizes[i] as number; // In range: as many sizes as parts.
      target[position] = 0;
      target.writeUInt32BE(size, position + 1);
      position += FRAME_HEAD_BYTES;
      position = writePartMessage(this.#parts[i] as WirePart, target, position);
    }
    assert.equal(position, target.length);
    return this.length;
  }
}
