import { type BorrowedBytes, overwriteInTests } from '../base/bytes/borrowed-bytes.ts';
import { FLAG, FRAME_HEAD_BYTES, FRAME_TYPE, Http2Error } from './frames.ts';

/** Receives the frames of a {@link FrameReader}. */
export interface FrameReceiver {
  /** A DATA frame begins. @param length Contents and padding: what flow control counts. */
  onDataHead(streamId: number, length: number): void;
  /** A piece of its contents. */
  readonly onDataPiece: (chunk: BorrowedBytes, begin: number, end: number) => void;
  /** The end of the DATA frame. */
  onDataEnd(endsStream: boolean): void;
  /** Any other frame of a known type; its payload is `[begin, end)`. */
  readonly onFrame: (
    type: number,
    flags: number,
    streamId: number,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ) => void;
}

/** Longest frame other than DATA; such frames are buffered until complete. */
const WHOLE_FRAME_BYTES_MAX: number = 64 * 1024;

/** States of the reader: what the next byte belongs to. */
const HEAD = 0;
const PAD_LENGTH = 1;
const DATA = 2;
const WHOLE = 3;
const SKIPPED = 4;

/**
 * Splits a connection's bytes into frames, however they are cut. Contents of DATA are passed on
 * without a copy.
 */
export class FrameReader {
  readonly #receiver: FrameReceiver;
  readonly #frameBytesMax: number;
  #state = HEAD;
  readonly #head: Buffer = Buffer.alloc(FRAME_HEAD_BYTES);
  #headBytes = 0;
  #type = 0;
  #flags = 0;
  #streamId = 0;
  /** Missing bytes of the frame, without padding for DATA. */
  #left = 0;
  #padding = 0;
  /** A frame that came in several chunks. */
  #whole: Buffer = Buffer.alloc(0);
  #wholeBytes = 0;

  /** @param frameBytesMax SETTINGS_MAX_FRAME_SIZE of this end. */
  constructor(receiver: FrameReceiver, frameBytesMax: number) {
    this.#receiver = receiver;
    this.#frameBytesMax = frameBytesMax;
  }

  /** Missing content bytes of the current DATA frame; 0 outside of one. */
  get dataLeft(): number {
    return this.#state === DATA ? this.#left : 0;
  }

  /**
   * Reads bytes from the socket.
   * @throws Http2Error if they are not HTTP/2, and errors of the receiver; the reader is unusable
   * afterwards.
   */
  read(chunk: BorrowedBytes): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === HEAD) at = this.#readHead(chunk, at);
      else if (this.#state === DATA) at = this.#readData(chunk, at);
      else if (this.#state === WHOLE) at = this.#readWhole(chunk, at);
      else if (this.#state === PAD_LENGTH) at = this.#readPadLength(chunk, at);
      else at = this.#skip(chunk, at);
    }
  }

  #readHead(chunk: BorrowedBytes, at: number): number {
    if (this.#headBytes === 0 && chunk.length - at >= FRAME_HEAD_BYTES) {
      this.#begin(chunk, at);
      return at + FRAME_HEAD_BYTES;
    }
    const taken = Math.min(FRAME_HEAD_BYTES - this.#headBytes, chunk.length - at);
    this.#head.set(chunk.subarray(at, at + taken), this.#headBytes);
    this.#headBytes += taken;
    if (this.#headBytes === FRAME_HEAD_BYTES) {
      this.#headBytes = 0;
      this.#begin(this.#head, 0);
    }
    return at + taken;
  }

  #begin(head: BorrowedBytes, at: number): void {
    const length =
      ((head[at] as number) << 16) | ((head[at + 1] as number) << 8) | (head[at + 2] as number);
    this.#type = head[at + 3] as number;
    this.#flags = head[at + 4] as number;
    this.#streamId =
      (((head[at + 5] as number) & 0x7f) << 24) |
      ((head[at + 6] as number) << 16) |
      ((head[at + 7] as number) << 8) |
      (head[at + 8] as number);
    if (length > this.#frameBytesMax) {
      const what = `a frame of ${length} bytes where ${this.#frameBytesMax} are allowed`;
      throw new Http2Error('FRAME_SIZE_ERROR', what);
    }
    this.#left = length;
    if (this.#type === FRAME_TYPE.data) this.#beginData(length);
    else this.#beginOther(length);
  }

  #beginData(length: number): void {
    this.#receiver.onDataHead(this.#streamId, length);
    this.#padding = 0;
    if ((this.#flags & FLAG.padded) === 0) {
      this.#state = DATA;
      if (length === 0) this.#endData();
      return;
    }
    if (length === 0)
      throw new Http2Error('FRAME_SIZE_ERROR', 'an empty frame with the flag PADDED');
    this.#state = PAD_LENGTH;
  }

  #beginOther(length: number): void {
    if (this.#type > FRAME_TYPE.continuation) {
      // Unknown types are ignored; the receiver gets them without their contents.
      this.#receiver.onFrame(this.#type, this.#flags, this.#streamId, this.#head, 0, 0);
      this.#state = length === 0 ? HEAD : SKIPPED;
      return;
    }
    if (length > WHOLE_FRAME_BYTES_MAX) {
      const what = `a frame of type ${this.#type} with ${length} bytes`;
      throw new Http2Error('ENHANCE_YOUR_CALM', what);
    }
    this.#state = WHOLE;
    this.#wholeBytes = 0;
    if (length === 0) this.#endWhole(this.#head, 0, 0);
  }

  #readPadLength(chunk: BorrowedBytes, at: number): number {
    this.#padding = chunk[at] as number;
    this.#left -= 1 + this.#padding;
    if (this.#left < 0) throw new Http2Error('PROTOCOL_ERROR', 'padding longer than its frame');
    this.#state = DATA;
    if (this.#left === 0) this.#endData();
    return at + 1;
  }

  #readData(chunk: BorrowedBytes, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at);
    this.#left -= taken;
    this.#receiver.onDataPiece(chunk, at, at + taken);
    if (this.#left === 0) this.#endData();
    return at + taken;
  }

  /** The contents are complete; padding may follow. */
  #endData(): void {
    this.#left = this.#padding;
    this.#state = this.#padding === 0 ? HEAD : SKIPPED;
    this.#receiver.onDataEnd((this.#flags & FLAG.endStream) !== 0);
  }

  #readWhole(chunk: BorrowedBytes, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at);
    if (this.#wholeBytes === 0 && taken === this.#left) {
      this.#endWhole(chunk, at, at + taken);
      return at + taken;
    }
    if (this.#wholeBytes === 0 && this.#whole.length < this.#left) {
      this.#whole = Buffer.allocUnsafe(this.#left);
    }
    this.#whole.set(chunk.subarray(at, at + taken), this.#wholeBytes);
    this.#wholeBytes += taken;
    this.#left -= taken;
    if (this.#left > 0) return at + taken;
    this.#endWhole(this.#whole, 0, this.#wholeBytes);
    overwriteInTests(this.#whole);
    return at + taken;
  }

  #endWhole(chunk: BorrowedBytes, begin: number, end: number): void {
    this.#state = HEAD;
    this.#receiver.onFrame(this.#type, this.#flags, this.#streamId, chunk, begin, end);
  }

  #skip(chunk: BorrowedBytes, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at);
    this.#left -= taken;
    if (this.#left === 0) this.#state = HEAD;
    return at + taken;
  }
}
