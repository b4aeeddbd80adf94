import { type BorrowedBytes, copyOf } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { FLAG } from '../frames/frame-constants.ts';
import { Http2Error } from '../frames/http2-error.ts';

/** Bytes of one block on the wire, in all its frames. */
const BLOCK_BYTES_MAX: number = 64 * 1024;

/** Frames of one block: more are made to keep this end busy. */
const FRAMES_MAX = 64;

/** Length of the padding. */
const PAD_LENGTH_BYTES = 1;
/** Stream on which it depends, and weight: of no meaning any more. */
const PRIORITY_BYTES = 5;

/** Who gets whole blocks. */
export interface BlockReceiver {
  readonly onBlock: (
    streamId: number,
    endsStream: boolean,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ) => void;
}

/** Puts header blocks together that came in several frames. */
export class HeaderBlocks {
  readonly #receiver: BlockReceiver;
  /** Stream whose block is incomplete; 0: none. */
  #streamId = 0;
  #endsStream = false;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(receiver: BlockReceiver) {
    this.#receiver = receiver;
  }

  /** Stream whose block is incomplete: only the rest of it may come now. 0: none. */
  get openStreamId(): number {
    return this.#streamId;
  }

  /** @throws Http2Error */
  onHeaders(
    flags: number,
    streamId: number,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ): void {
    let from = begin;
    let to = end;
    if ((flags & FLAG.padded) !== 0) {
      to -= chunk[from] as number;
      from += PAD_LENGTH_BYTES;
    }
    if ((flags & FLAG.priority) !== 0) from += PRIORITY_BYTES;
    if (from > to || begin === end) {
      throw new Http2Error('PROTOCOL_ERROR', 'a HEADERS frame shorter than its own parts');
    }
    const endsStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) {
      this.#receiver.onBlock(streamId, endsStream, chunk, from, to);
      return;
    }
    this.#streamId = streamId;
    this.#endsStream = endsStream;
    this.#add(chunk, from, to);
  }

  /** @throws Http2Error */
  onContinuation(flags: number, chunk: BorrowedBytes, begin: number, end: number): void {
    this.#add(chunk, begin, end);
    if ((flags & FLAG.endHeaders) === 0) return;
    const block = Buffer.concat(this.#pieces);
    const streamId = this.#streamId;
    this.#streamId = 0;
    this.#pieces = [];
    this.#bytes = 0;
    this.#receiver.onBlock(streamId, this.#endsStream, block, 0, block.length);
  }

  #add(chunk: BorrowedBytes, begin: number, end: number): void {
    this.#bytes += end - begin;
    if (this.#bytes > BLOCK_BYTES_MAX || this.#pieces.length >= FRAMES_MAX) {
      const what = `headers of more than ${BLOCK_BYTES_MAX} bytes or ${FRAMES_MAX} frames`;
      throw new Http2Error('ENHANCE_YOUR_CALM', what);
    }
    this.#pieces.push(copyOf(chunk, begin, end));
  }
}
