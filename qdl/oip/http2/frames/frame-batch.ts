import { FRAME_HEAD_BYTES } from './frame-constants.ts';

/** Bytes of one write to the socket, more or less: beyond it a write costs little per byte. */
const BATCH_BYTES_MAX: number = 512 * 1024;

/** Buffer for heads and for pieces that are copied. */
export const BATCH_BUFFER_BYTES: number = 128 * 1024;

/** Pieces up to this size are joined in the buffer: less work than one more piece for the socket. */
const COPIED_BYTES_MAX: number = 16 * 1024;

/** Kept free of contents, so that the heads of frames always fit. */
const HEADS_BYTES: number = 4 * 1024;

/** Frames that leave in one write: heads and small pieces joined in a buffer, large ones where they are. */
export class FrameBatch {
  /** What the buffer was made of: for another batch, once this one was written. */
  readonly memory: ArrayBuffer;
  readonly #buffer: Buffer;
  readonly #segments: Uint8Array[] = [];
  #used = 0;
  /** Where the part of the buffer begins that is in no segment yet. */
  #spanBegin = 0;
  #bytes = 0;
  /** Bytes of messages among them. */
  messageBytes = 0;

  /** @param memory Of {@link BATCH_BUFFER_BYTES} or more. */
  constructor(memory: ArrayBuffer) {
    this.memory = memory;
    this.#buffer = Buffer.from(memory, 0, BATCH_BUFFER_BYTES);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False when the batch should go. */
  get hasRoom(): boolean {
    return this.#bytes < BATCH_BYTES_MAX && this.#used < BATCH_BUFFER_BYTES - HEADS_BYTES;
  }

  /** Begins a frame; its payload is to be appended. After {@link hasRoom}. */
  frame(type: number, flags: number, streamId: number, length: number): void {
    const buffer = this.#buffer;
    const at = this.#used;
    buffer[at] = length >>> 16;
    buffer[at + 1] = length >>> 8;
    buffer[at + 2] = length;
    buffer[at + 3] = type;
    buffer[at + 4] = flags;
    buffer[at + 5] = streamId >>> 24;
    buffer[at + 6] = streamId >>> 16;
    buffer[at + 7] = streamId >>> 8;
    buffer[at + 8] = streamId;
    this.#used = at + FRAME_HEAD_BYTES;
    this.#bytes += FRAME_HEAD_BYTES;
  }

  /** Appends `[begin, end)` of a piece, which must not change until it was written. */
  append(piece: Uint8Array, begin: number, end: number): void {
    const bytes = end - begin;
    this.#bytes += bytes;
    if (bytes > COPIED_BYTES_MAX || bytes > BATCH_BUFFER_BYTES - HEADS_BYTES - this.#used) {
      this.#closeSpan();
      this.#segments.push(piece.subarray(begin, end));
    } else if (bytes < 64) {
      const buffer = this.#buffer;
      let to = this.#used;
      for (let at = begin; at < end; at += 1, to += 1) buffer[to] = piece[at] as number;
      this.#used = to;
    } else {
      this.#buffer.set(bytes === piece.length ? piece : piece.subarray(begin, end), this.#used);
      this.#used += bytes;
    }
  }

  /** All bytes in order. Nothing can be added after that. */
  segments(): readonly Uint8Array[] {
    this.#closeSpan();
    return this.#segments;
  }

  #closeSpan(): void {
    if (this.#used === this.#spanBegin) return;
    this.#segments.push(this.#buffer.subarray(this.#spanBegin, this.#used));
    this.#spanBegin = this.#used;
  }
}
