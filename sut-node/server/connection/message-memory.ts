import { ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { PayloadMemory } from '../../inference/batcher/sut-model.ts';

/** Messages whose memory is kept for reuse, and the size above which it is not. */
const KEPT_MESSAGES = 64;
const KEPT_BYTES_MAX: number = 8 * 1024 * 1024;

/** Memory for messages with samples, of all connections of the node. */
export class MessagePool {
  readonly #buffers = new ReusedBuffers(KEPT_MESSAGES, KEPT_BYTES_MAX);

  /** Memory for a message of that length, with one reference. */
  take(bytes: number): MessageMemory {
    return new MessageMemory(this.#buffers, bytes);
  }
}

/**
 * One message while it is read. The last release returns its memory for reuse; if a holder never
 * releases it (the peer is lost), V8 collects it.
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
