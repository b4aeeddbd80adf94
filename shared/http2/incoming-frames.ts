import {
  type BorrowedBytes,
  borrowedText,
  copyOf,
  uint32At,
} from '../base/bytes/borrowed-bytes.ts';
import { FloodGuard, ReceiveWindow } from './flow-control.ts';
import type { FrameReceiver } from './frame-reader.ts';
import {
  type ControlFrames,
  errorName,
  FLAG,
  FRAME_TYPE,
  Http2Error,
  PING_BYTES,
  PRIORITY_BYTES,
} from './frames.ts';

/** Most bytes kept of GOAWAY's debug text. */
const GOAWAY_TEXT_BYTES_MAX = 256;

/** A stream of a connection that is not over. */
export interface FramedCall {
  readonly streamId: number;
  readonly isOver: boolean;
  readonly receiveWindow: ReceiveWindow;
}

/** Interprets frames for one end of a connection. */
export interface Session<Call extends FramedCall> extends BlockReceiver {
  /** The open call of a stream. */
  callOf(streamId: number): Call | undefined;
  /** True for a stream that was opened, even if it is over. */
  hasOpened(streamId: number): boolean;
  /** A header block of this stream begins. @throws Http2Error if none is allowed. */
  onHeaders(streamId: number): void;
  readonly onContents: (call: Call, chunk: BorrowedBytes, begin: number, end: number) => void;
  /** The peer ended its side of this stream. */
  onContentsEnd(call: Call): void;
  readonly onSettings: (chunk: BorrowedBytes, begin: number, end: number) => void;
  onPong(): void;
  /** A frame came that advances a call. */
  onProgress(): void;
  /** @param isPlanned GOAWAY without an error. @param reason Text for people; may be empty. */
  onGoAway(lastStreamId: number, isPlanned: boolean, reason: string): void;
  /** @param streamId 0: the connection. */
  onWindowUpdate(streamId: number, bytes: number): void;
  onReset(call: Call, errorCode: number): void;
}

/** Checks incoming frames against HTTP/2 and passes their meaning to the session. */
export class IncomingFrames<Call extends FramedCall> implements FrameReceiver {
  readonly #session: Session<Call>;
  readonly #control: ControlFrames;
  readonly #window: ReceiveWindow;
  readonly #blocks: HeaderBlocks;
  readonly #floods = new FloodGuard();
  #hasSettings = false;
  /** Call of the DATA frame being read. */
  #dataCall: Call | undefined;
  /** The DATA frame has contents besides padding. */
  #hasContents = false;

  /** @param windowBytes Receive window of the connection. */
  constructor(session: Session<Call>, control: ControlFrames, windowBytes: number) {
    this.#session = session;
    this.#blocks = new HeaderBlocks(session);
    this.#control = control;
    this.#window = new ReceiveWindow(windowBytes);
  }

  /** Call of the current DATA frame. */
  get dataCall(): Call | undefined {
    return this.#dataCall;
  }

  onDataHead(streamId: number, length: number): void {
    this.#checkOrder(FRAME_TYPE.data, streamId);
    this.#dataCall = this.#callOf(streamId, 'DATA');
    this.#hasContents = false;
    if (!this.#window.use(length)) {
      throw new Http2Error(
        'FLOW_CONTROL_ERROR',
        'more data than the receive window of the connection',
      );
    }
    const due = this.#window.takeDue();
    if (due > 0) this.#control.windowUpdate(0, due);
    if (this.#dataCall !== undefined) this.#useWindowOf(this.#dataCall, length);
  }

  onDataPiece(chunk: BorrowedBytes, begin: number, end: number): void {
    if (!this.#hasContents) {
      this.#hasContents = true;
      this.#session.onProgress();
    }
    const call = this.#dataCall;
    if (call !== undefined && !call.isOver) this.#session.onContents(call, chunk, begin, end);
  }

  onDataEnd(endsStream: boolean): void {
    if (!this.#hasContents) this.#floods.count();
    const call = this.#dataCall;
    this.#dataCall = undefined;
    if (endsStream && call !== undefined && !call.isOver) this.#session.onContentsEnd(call);
  }

  onFrame(
    type: number,
    flags: number,
    streamId: number,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ): void {
    this.#checkOrder(type, streamId);
    if (type === FRAME_TYPE.headers) {
      this.#session.onHeaders(streamId);
      this.#blocks.onHeaders(flags, streamId, chunk, begin, end);
    } else if (type === FRAME_TYPE.continuation) {
      this.#blocks.onContinuation(flags, chunk, begin, end);
    } else if (type === FRAME_TYPE.windowUpdate) {
      this.#onWindowUpdate(streamId, chunk, begin, end);
    } else {
      if (type !== FRAME_TYPE.rstStream) this.#floods.count();
      this.#onSeldomFrame(type, flags, streamId, chunk.subarray(begin, end));
    }
  }

  #onSeldomFrame(type: number, flags: number, streamId: number, payload: BorrowedBytes): void {
    switch (type) {
      case FRAME_TYPE.settings:
        this.#onSettings(flags, streamId, payload);
        break;
      case FRAME_TYPE.ping:
        this.#onPing(flags, streamId, payload);
        break;
      case FRAME_TYPE.goAway:
        this.#onGoAway(streamId, payload);
        break;
      case FRAME_TYPE.rstStream:
        this.#onReset(streamId, payload);
        break;
      case FRAME_TYPE.priority:
        if (streamId === 0) throw new Http2Error('PROTOCOL_ERROR', 'PRIORITY on stream 0');
        requireBytes('PRIORITY', payload, PRIORITY_BYTES);
        break;
      case FRAME_TYPE.pushPromise:
        throw new Http2Error('PROTOCOL_ERROR', 'PUSH_PROMISE, although push is disabled');
      default:
        // Unknown types are ignored. Rule: RFC 9113, section 5.5.
        break;
    }
  }

  #onSettings(flags: number, streamId: number, payload: BorrowedBytes): void {
    requireConnection('SETTINGS', streamId);
    if ((flags & FLAG.ack) === 0) {
      this.#session.onSettings(payload, 0, payload.length);
      this.#control.settingsAck();
    } else if (payload.length > 0) {
      throw new Http2Error('FRAME_SIZE_ERROR', 'a SETTINGS acknowledgement with contents');
    }
  }

  #onPing(flags: number, streamId: number, payload: BorrowedBytes): void {
    requireConnection('PING', streamId);
    requireBytes('PING', payload, PING_BYTES);
    if ((flags & FLAG.ack) === 0) this.#control.pingAck(payload);
    else this.#session.onPong();
  }

  #onGoAway(streamId: number, payload: BorrowedBytes): void {
    requireConnection('GOAWAY', streamId);
    if (payload.length < 8) throw new Http2Error('FRAME_SIZE_ERROR', 'a short GOAWAY');
    const lastStreamId = uint32At(payload, 0) & 0x7fffffff;
    const code = uint32At(payload, 4);
    const text = borrowedText(payload.subarray(8, 8 + GOAWAY_TEXT_BYTES_MAX));
    const words = [code === 0 ? '' : errorName(code), text].filter((word) => word !== '');
    this.#session.onGoAway(lastStreamId, code === 0, words.join(', '));
  }

  #onReset(streamId: number, payload: BorrowedBytes): void {
    requireBytes('RST_STREAM', payload, 4);
    const call = this.#callOf(streamId, 'RST_STREAM');
    if (call === undefined) this.#floods.count();
    else this.#session.onReset(call, uint32At(payload, 0));
  }

  #onWindowUpdate(streamId: number, chunk: BorrowedBytes, begin: number, end: number): void {
    if (end - begin !== 4) throw new Http2Error('FRAME_SIZE_ERROR', 'WINDOW_UPDATE');
    const bytes = uint32At(chunk, begin) & 0x7fffffff;
    if (bytes === 0) throw new Http2Error('PROTOCOL_ERROR', 'a WINDOW_UPDATE of 0 bytes');
    if (streamId !== 0 && this.#callOf(streamId, 'WINDOW_UPDATE') === undefined) return;
    this.#session.onWindowUpdate(streamId, bytes);
  }

  /** Checks that SETTINGS comes first and that no frame interrupts a header block. */
  #checkOrder(type: number, streamId: number): void {
    if (!this.#hasSettings) {
      if (type !== FRAME_TYPE.settings) {
        throw new Http2Error('PROTOCOL_ERROR', 'its first frame is not SETTINGS');
      }
      this.#hasSettings = true;
    }
    const { openStreamId } = this.#blocks;
    const isRest = type === FRAME_TYPE.continuation && streamId === openStreamId;
    if (openStreamId === 0 ? type === FRAME_TYPE.continuation : !isRest) {
      throw new Http2Error('PROTOCOL_ERROR', 'a header block interrupted by another frame');
    }
  }

  /**
   * @returns Undefined for a call that is over. @throws Http2Error for a stream that was never
   * opened.
   */
  #callOf(streamId: number, frame: string): Call | undefined {
    const call = this.#session.callOf(streamId);
    if (call === undefined && !this.#session.hasOpened(streamId)) {
      const what = `${frame} of stream ${streamId}, which was never opened`;
      throw new Http2Error('PROTOCOL_ERROR', what);
    }
    return call;
  }

  #useWindowOf(call: Call, length: number): void {
    if (!call.receiveWindow.use(length)) {
      throw new Http2Error('FLOW_CONTROL_ERROR', 'more data than the receive window of a stream');
    }
    const due = call.receiveWindow.takeDue();
    if (due > 0) this.#control.windowUpdate(call.streamId, due);
  }
}

function requireConnection(frame: string, streamId: number): void {
  if (streamId !== 0) throw new Http2Error('PROTOCOL_ERROR', `${frame} of stream ${streamId}`);
}

function requireBytes(frame: string, payload: BorrowedBytes, bytes: number): void {
  if (payload.length === bytes) return;
  throw new Http2Error('FRAME_SIZE_ERROR', `${frame} of ${payload.length} bytes`);
}

/** Largest header block on the wire, over all its frames, bytes. */
const BLOCK_BYTES_MAX: number = 64 * 1024;

/** Most frames of one header block: more only keep this end busy. */
const FRAMES_MAX = 64;

/** Length of the padding. */
const PAD_LENGTH_BYTES = 1;

/** Receiver of complete header blocks. */
export interface BlockReceiver {
  readonly onBlock: (
    streamId: number,
    endsStream: boolean,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ) => void;
}

/** Joins header blocks that came in several frames. */
export class HeaderBlocks {
  readonly #receiver: BlockReceiver;
  /** Stream with an incomplete block; 0: none. */
  #streamId = 0;
  #endsStream = false;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(receiver: BlockReceiver) {
    this.#receiver = receiver;
  }

  /** Stream with an incomplete block: only its continuation is allowed now. 0: none. */
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
    const padLengthBytes = (flags & FLAG.padded) !== 0 ? PAD_LENGTH_BYTES : 0;
    const priorityBytes = (flags & FLAG.priority) !== 0 ? PRIORITY_BYTES : 0;
    const from = begin + padLengthBytes + priorityBytes;
    if (from > end) {
      throw new Http2Error('FRAME_SIZE_ERROR', 'a HEADERS frame shorter than its fields');
    }
    const to = padLengthBytes === 0 ? end : end - (chunk[begin] as number);
    if (from > to) throw new Http2Error('PROTOCOL_ERROR', 'a HEADERS frame with too much padding');
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
