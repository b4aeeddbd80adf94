import { status } from '@grpc/grpc-js';
import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { SocketEnds } from '../../shared/evidence/call-path.ts';
import { type ReceiveWindow, SendWindow } from '../../shared/http2/flow-control.ts';
import { UnsentMessages } from '../../shared/http2/unsent-messages.ts';
import {
  type Answers,
  type CallEvents,
  callEndOf,
  type GrpcCall,
  type GrpcCallEnd,
  GrpcCallError,
  type ResponseHead,
} from './grpc-calls.ts';
import { type MessageLimits, MessageReader, type MessageReceiver } from './message-reader.ts';

/** The connection as its calls use it. */
export interface CallOwner {
  readonly ends: SocketEnds | null;
  /** The call has something to send. @param bytes New bytes. */
  onSend(call: Http2Call, bytes: number): void;
  /** `bytes` waiting bytes were taken back. */
  onTakenBack(bytes: number): void;
  /** The application cancels the call. */
  onCancel(call: Http2Call): void;
  /**
   * The whole response is in the current chunk. Call {@link Http2Call.keepAnswer} after the chunk.
   */
  onHeld(call: Http2Call): void;
}

/**
 * State of one call at this end:
 *
 *     waiting ──HEADERS sent──► open ──END_STREAM, reset, cancel, loss──► over
 *        └──────────────────── cancel, loss ─────────────────────────────► over
 */
export class Http2Call implements GrpcCall, MessageReceiver {
  readonly path: string;
  /** Undefined: the call has no such header. */
  readonly traceparent: string | undefined;
  /** HTTP/2 stream id; 0 until HEADERS was sent. */
  streamId = 0;
  /** True while in the queue of calls that may send. */
  isInLine = false;
  /** True after {@link end}: no further message follows. */
  isEnding = false;
  /** END_STREAM was sent. */
  isEndSent = false;
  isOver = false;
  readonly unsent: UnsentMessages = new UnsentMessages();
  readonly sendWindow: SendWindow = new SendWindow(0);
  readonly receiveWindow: ReceiveWindow;
  readonly #owner: CallOwner;
  readonly #events: CallEvents;
  readonly #messages: MessageReader;
  readonly #answers: Answers;
  #hasHead = false;
  messageCount = 0;
  statusCount = 0;
  /** Message of a call with one response, held until its status comes. */
  #answer: BorrowedBytes | undefined;

  constructor(
    {
      path,
      answers,
      traceparent,
    }: {
      readonly path: string;
      readonly answers: Answers | undefined;
      readonly traceparent: string | undefined;
    },
    events: CallEvents,
    owner: CallOwner,
    limits: MessageLimits,
    receiveWindow: ReceiveWindow,
  ) {
    this.path = path;
    this.traceparent = traceparent;
    this.#answers = answers ?? 'many';
    this.receiveWindow = receiveWindow;
    this.#events = events;
    this.#owner = owner;
    this.#messages = new MessageReader(limits, this);
  }

  get ends(): SocketEnds | null {
    return this.#owner.ends;
  }

  get sentBytes(): number {
    return this.unsent.movedBytes;
  }

  get unsentBytes(): number {
    return this.unsent.bytes;
  }

  write(pieces: readonly Uint8Array[], bytes: number): void {
    if (this.isOver || this.isEnding) return;
    const before = this.unsent.bytes;
    this.unsent.add(pieces, bytes);
    this.#owner.onSend(this, this.unsent.bytes - before);
  }

  writeFramed(pieces: readonly Uint8Array[], bytes: number, onTaken: () => void): void {
    if (this.isOver || this.isEnding) return;
    this.unsent.addFramed(pieces, bytes, onTaken);
    this.#owner.onSend(this, bytes);
  }

  end(): void {
    if (this.isOver || this.isEnding) return;
    this.isEnding = true;
    this.#owner.onSend(this, 0);
  }

  takeBackUnsent(): number {
    if (this.isOver) return 0;
    const before = this.unsent.bytes;
    const count = this.unsent.takeBack();
    this.#owner.onTakenBack(before - this.unsent.bytes);
    return count;
  }

  cancel(): void {
    if (!this.isOver) this.#owner.onCancel(this);
  }

  /**
   * True if a frame is allowed by the call's own window: data needs a window above 0. END_STREAM
   * alone is sent at 0, but not below (RFC 9113, 6.9.1 and 6.9.2; servers on gRPC C-core close the
   * connection for it).
   */
  get hasFrame(): boolean {
    if (this.unsent.bytes > 0) return this.sendWindow.bytes > 0;
    return this.isEnding && !this.isEndSent && this.sendWindow.bytes >= 0;
  }

  /**
   * A header block came.
   * @returns True if it ends the call; {@link close} and {@link tellEnd} must follow.
   * @throws GrpcCallError if it is not a gRPC response.
   */
  onHead(head: ResponseHead, endsStream: boolean): boolean {
    if (head.fault !== undefined) throw broken(`the answer has ${head.fault}`);
    if (!this.#hasHead) {
      if (head.httpStatus === undefined) throw broken('the answer has no :status');
      if (head.httpStatus < 200 && !endsStream) return false;
      this.#hasHead = true;
      this.#events.onHead?.(this, head);
      const isOfGrpc = head.contentType?.startsWith('application/grpc') === true;
      return endsStream || head.httpStatus !== 200 || !isOfGrpc;
    }
    if (!endsStream) throw broken('headers in the middle of an answer');
    if (head.httpStatus !== undefined) throw broken(':status in the trailers of an answer');
    return true;
  }

  /** DATA came. @throws GrpcCallError as {@link MessageReader.read}. */
  onContents(chunk: BorrowedBytes, begin: number, end: number): void {
    if (!this.#hasHead) throw broken('the answer begins without headers');
    this.#messages.read(chunk, begin, end);
  }

  beginMessage(): void {
    this.messageCount += 1;
    if (this.#answers === 'one' && this.messageCount > 1) {
      throw broken('a second message in the response to a unary call');
    }
  }

  receive(message: BorrowedBytes): boolean {
    if (this.#answers === 'many') {
      this.#events.onMessage(this, message);
      return false;
    }
    this.#answer = message;
    this.#owner.onHeld(this);
    return true;
  }

  /**
   * Keeps the response, because its chunk ended and the status did not come with it. @throws
   * GrpcCallError
   */
  keepAnswer(): void {
    if (this.#answer !== undefined) this.#answer = this.#messages.keep(this.#answer);
  }

  /** Status and message of the call, from its last header block. */
  endBy(head: ResponseHead): GrpcCallEnd {
    this.statusCount = head.statusCount;
    const end = callEndOf(head);
    if (end.code !== status.OK || !this.#messages.isInside) return end;
    return { code: status.INTERNAL, details: 'the answer ended inside a message' };
  }

  /** Ends the call, once. @returns Bytes that will not be sent. */
  close(): number {
    this.isOver = true;
    return this.unsent.drop();
  }

  /**
   * Reports the held response, if any, and the end. Call after {@link close}, never from inside a
   * call of the application.
   */
  tellEnd(code: number, details: string): void {
    if (this.#answer !== undefined && code === status.OK) {
      this.#events.onMessage(this, this.#answer);
    }
    this.#answer = undefined;
    this.#messages.drop();
    this.#events.onEnd(this, code, details);
  }

  /**
   * {@link tellEnd} for a call that the server reports as unprocessed.
   * @param isTaken Another connection sends it again.
   */
  tellUnprocessed(details: string, isTaken: boolean): void {
    if (this.#hasHead) {
      this.tellEnd(
        status.INTERNAL,
        `${details}; the server reports this call as unprocessed although it has begun to answer it`,
      );
    } else if (isTaken && this.#events.onUnprocessed !== undefined) {
      this.#events.onUnprocessed(this);
    } else {
      this.tellEnd(status.UNAVAILABLE, details);
    }
  }
}

/** The calls of a connection that are not over. */
export class ConnectionCalls {
  /** Calls by stream id: those that the peer knows. */
  readonly open: Map<number, Http2Call> = new Map();
  /** All calls in the order in which they were made; the peer may not know some yet. */
  readonly all: Set<Http2Call> = new Set();

  remove(call: Http2Call): void {
    this.all.delete(call);
    if (call.streamId !== 0) this.open.delete(call.streamId);
  }

  /** Open calls that the peer ignores after GOAWAY. Rule: RFC 9113, section 6.8. */
  unprocessed(lastStreamId: number): Http2Call[] {
    return [...this.all].filter(({ streamId }) => streamId === 0 || streamId > lastStreamId);
  }
}

function broken(what: string): GrpcCallError {
  return new GrpcCallError(status.INTERNAL, what);
}

/**
 * Unary calls whose response lies in the current chunk. Usually its status does too, which saves a
 * copy.
 */
export class HeldAnswers {
  #calls: Http2Call[] = [];

  add(call: Http2Call): void {
    this.#calls.push(call);
  }

  /**
   * Keeps the responses, since the chunk goes back to the socket. @param onBroken Called for a call
   * without room for its response.
   */
  keep(onBroken: (call: Http2Call, error: GrpcCallError) => void): void {
    if (this.#calls.length === 0) return;
    for (const call of this.#calls) {
      if (call.isOver) continue;
      try {
        call.keepAnswer();
      } catch (error) {
        if (!(error instanceof GrpcCallError)) throw error;
        onBroken(call, error);
      }
    }
    this.#calls = [];
  }
}
