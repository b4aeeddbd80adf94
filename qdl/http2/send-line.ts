import { SendWindow } from '../../shared/http2/flow-control.ts';
import {
  FLAG,
  FRAME_TYPE,
  type FrameBatch,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_LIMIT,
} from '../../shared/http2/frames.ts';
import type { PeerSettings } from '../../shared/http2/outgoing.ts';
import type { RequestHeads } from './grpc-calls.ts';
import type { Http2Call } from './http2-call.ts';

/** Bytes of one call per turn: a small query must not wait for a large one. */
const TURN_BYTES_MAX: number = 256 * 1024;

/** The calls that are open. */
interface OpenCalls {
  readonly size: number;
  set(streamId: number, call: Http2Call): void;
}

/** Calls with something to send. They take turns, within the peer's flow control. */
export class SendLine {
  /** Send window of the whole connection. */
  readonly window: SendWindow = new SendWindow(WINDOW_BYTES_DEFAULT);
  readonly #peer: PeerSettings;
  readonly #heads: RequestHeads;
  readonly #openCalls: OpenCalls;
  /** Open calls that may send. */
  readonly #line = new CallQueue();
  /** Open calls with only END_STREAM to send, which needs no connection window. */
  readonly #ends = new CallQueue();
  /** Calls to be opened. */
  readonly #unopened = new CallQueue();
  #nextStreamId = 1;

  constructor(peer: PeerSettings, heads: RequestHeads, openCalls: OpenCalls) {
    this.#peer = peer;
    this.#heads = heads;
    this.#openCalls = openCalls;
  }

  /** Calls that can still be opened: a stream id is used once. */
  get openableCount(): number {
    return Math.floor((WINDOW_BYTES_LIMIT - this.#nextStreamId) / 2) + 1;
  }

  /** Queues a call that has something to send, unless it is queued. */
  add(call: Http2Call): void {
    if (call.isInLine) return;
    call.isInLine = true;
    if (call.streamId === 0) this.#unopened.push(call);
    else if (call.unsent.bytes === 0) this.#ends.push(call);
    else this.#line.push(call);
  }

  /** True while a call has something to send, even if the peer cannot take it now. */
  get hasCalls(): boolean {
    const { first } = this.#line;
    return (first ?? this.#ends.first ?? this.#unopened.first) !== undefined;
  }

  /** True for a stream id that this end has opened. */
  hasOpened(streamId: number): boolean {
    return streamId % 2 === 1 && streamId < this.#nextStreamId;
  }

  /** Adds frames up to the size of the batch, the peer's windows and its limit of calls. */
  fill(batch: FrameBatch): void {
    let hasMoved = true;
    while (hasMoved) {
      hasMoved = batch.hasRoom && this.#serveNext(batch);
      if (batch.hasRoom && this.#openNext(batch)) hasMoved = true;
    }
  }

  /** Serves the next open call. @returns False if there is none, or no window. */
  #serveNext(batch: FrameBatch): boolean {
    const line = this.#ends.first === undefined ? this.#line : this.#ends;
    const call = line.first;
    if (call === undefined) return false;
    if (this.window.bytes <= 0 && call.unsent.bytes > 0) return false;
    line.shift();
    this.#serve(call, batch);
    return true;
  }

  /**
   * Opens and serves the next call. @returns False if there is none, or the peer's limit is
   * reached.
   */
  #openNext(batch: FrameBatch): boolean {
    const call = this.#unopened.first;
    if (call === undefined) return false;
    if (!call.isOver) {
      const isRoom = this.window.bytes > 0 && this.#openCalls.size < this.#peer.callsMax;
      if (!isRoom) return false;
      call.streamId = this.#nextStreamId;
      this.#nextStreamId += 2;
      call.sendWindow.bytes = this.#peer.streamWindowBytes;
      this.#openCalls.set(call.streamId, call);
      this.#writeHead(call, batch);
    }
    this.#unopened.shift();
    this.#serve(call, batch);
    return true;
  }

  #writeHead({ path, traceparent, streamId }: Http2Call, batch: FrameBatch): void {
    const block = this.#heads.take(path, traceparent);
    const { frameBytesMax } = this.#peer;
    for (let begin = 0; begin < block.length; begin += frameBytesMax) {
      const end = Math.min(block.length, begin + frameBytesMax);
      const type = begin === 0 ? FRAME_TYPE.headers : FRAME_TYPE.continuation;
      batch.frame(type, end === block.length ? FLAG.endHeaders : 0, streamId, end - begin);
      batch.append(block, begin, end);
    }
  }

  /** Adds DATA frames of a call, up to one turn. */
  #serve(call: Http2Call, batch: FrameBatch): void {
    call.isInLine = false;
    if (call.isOver) return;
    const { unsent, sendWindow } = call;
    // The call's window may be below 0; at 0 END_STREAM alone is still allowed.
    let turnBytes = Math.max(0, Math.min(TURN_BYTES_MAX, sendWindow.bytes, this.window.bytes));
    while (call.hasFrame && batch.hasRoom && (turnBytes > 0 || unsent.bytes === 0)) {
      const bytes = Math.min(unsent.bytes, turnBytes, this.#peer.frameBytesMax);
      const isEnd = call.isEnding && bytes === unsent.bytes;
      batch.frame(FRAME_TYPE.data, isEnd ? FLAG.endStream : 0, call.streamId, bytes);
      unsent.moveTo(batch, bytes);
      batch.messageBytes += bytes;
      turnBytes -= bytes;
      sendWindow.bytes -= bytes;
      this.window.bytes -= bytes;
      call.isEndSent = isEnd;
    }
    // A call without a window is queued again by the peer's WINDOW_UPDATE.
    if (call.hasFrame) this.add(call);
  }
}

/** Sent entries kept before the rest moves to the front: rare enough to cost nothing. */
const GONE_MAX = 1024;

/** Calls in order of arrival. */
class CallQueue {
  #calls: Http2Call[] = [];
  #first = 0;

  /** The call whose turn is next. */
  get first(): Http2Call | undefined {
    return this.#calls[this.#first];
  }

  push(call: Http2Call): void {
    this.#calls.push(call);
  }

  /** Removes the first call. */
  shift(): void {
    this.#first += 1;
    if (this.#first < this.#calls.length && this.#first < GONE_MAX) return;
    this.#calls.splice(0, this.#first);
    this.#first = 0;
  }
}
