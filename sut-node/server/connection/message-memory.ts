import { ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { PayloadMemory } from '../../inference/batcher/sut-model.ts';

/** Messages whose memory is kept for the next ones, and the size above which it is not. */
const KEPT_MESSAGES = 64;
const KEPT_BYTES_MAX: number = 8 * 1024 * 1024;

/** Memory for messages with samples, of all connections of the node. */
export class MessagePool {
  readonly #buffers = new ReusedBuffers(KEPT_MESSAGES, KEPT_BYTES_MAX);

  /** Memory for a message of that length, held once. */
  take(bytes: number): MessageMemory {
    return new MessageMemory(this.#buffers, bytes);
  }
}

/**
 * One message as long as it is read. Its memory serves another message when the last holder lets go; where a
 * holder never does (the peer is gone), it is left to V8.
 */
export class MessageMemory implements PayloadMemory {
  readonly bytes: Buffer;
  readonly #buffers: ReusedBuffers;
  #memory: ArrayBuffer;
  #holders = 1;
  isLent = false;

  constructor(buffers: ReusedBuffers, bytes: number) {
    this.#buffers = buffers;
    this.#memory = buffers.take(bytes);
    this.bytes = Buffer.from(this.#memory, 0, bytes);
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders === 0) this.#buffers.giveBack(this.#memory);
  }

  lend(): ArrayBuffer | undefined {
    if (this.#holders !== 1) return undefined;
    this.isLent = true;
    return this.#memory;
  }

  restore(memory: ArrayBuffer): void {
    this.#memory = memory;
    this.isLent = false;
  }
}
