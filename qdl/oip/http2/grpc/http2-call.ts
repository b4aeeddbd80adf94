import { status } from '@grpc/grpc-js';
import { type BorrowedBytes, NO_BYTES } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { type ReceiveWindow, SendWindow } from '../flow-control.ts';
import type { FrameBatch } from '../frames/frames.ts';
import {
  type Answers,
  type CallEvents,
  callEndOf,
  type GrpcCall,
  type GrpcCallEnd,
  GrpcCallError,
  type ResponseHead,
} from './grpc-calls.ts';
import {
  MESSAGE_HEAD_BYTES,
  type MessageLimits,
  MessageReader,
  type MessageReceiver,
} from './message-reader.ts';

/** The connection, as a call uses it. */
export interface CallOwner {
  /** The call has something to send. @param bytes That are new. */
  onSend(call: Http2Call, bytes: number): void;
  /** So many bytes that waited were taken back. */
  onTakenBack(bytes: number): void;
  /** The application gives the call up. */
  onCancel(call: Http2Call): void;
  /** The one answer is there, in the chunk that is being read: {@link Http2Call.keepAnswer} is to follow at its end. */
  onHeld(call: Http2Call): void;
}

/**
 * One call as this end has it:
 *
 *     waiting ──HEADERS sent──► open ──END_STREAM, reset, cancel, loss──► over
 *        └──────────────────── cancel, loss ─────────────────────────────► over
 */
export class Http2Call implements GrpcCall, MessageReceiver {
  readonly path: string;
  /** Stream of HTTP/2; 0 before its HEADERS went out. */
  streamId = 0;
  /** True in the line of those that may send. */
  isInLine = false;
  /** No message comes after those that are there. */
  isEnding = false;
  /** END_STREAM went out. */
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
  /** Of a call with one answer, which is none before its status came. */
  #answer: BorrowedBytes | undefined;

  constructor(
    { path, answers }: { readonly path: string; readonly answers: Answers },
    events: CallEvents,
    owner: CallOwner,
    limits: MessageLimits,
    receiveWindow: ReceiveWindow,
  ) {
    this.path = path;
    this.#answers = answers;
    this.receiveWindow = receiveWindow;
    this.#events = events;
    this.#owner = owner;
    this.#messages = new MessageReader(limits, this);
  }

  write(pieces: readonly Uint8Array[], bytes: number): void {
    if (this.isOver || this.isEnding) return;
    const before = this.unsent.bytes;
    this.unsent.add(pieces, bytes);
    this.#owner.onSend(this, this.unsent.bytes - before);
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

  /** True when a frame can be made of what is there: contents, or the end alone. */
  get hasFrame(): boolean {
    return this.unsent.bytes > 0 || (this.isEnding && !this.isEndSent);
  }

  /**
   * A header block came.
   * @returns True when the call is over by it; {@link close} and {@link tellEnd} are to follow.
   * @throws GrpcCallError when it is not what an answer of gRPC looks like.
   */
  onHead(head: ResponseHead, endsStream: boolean): boolean {
    if (head.fault !== undefined) throw broken(`the answer has ${head.fault}`);
    if (!this.#hasHead) {
      if (head.httpStatus === undefined) throw broken('the answer has no :status');
      if (head.httpStatus < 200 && !endsStream) return false;
      this.#hasHead = true;
      return endsStream || !isAnswerOfGrpc(head);
    }
    if (!endsStream) throw broken('headers in the middle of an answer');
    if (head.httpStatus !== undefined) throw broken(':status in the trailers of an answer');
    return true;
  }

  /** Contents came. @throws GrpcCallError as {@link MessageReader.read}. */
  onContents(chunk: BorrowedBytes, begin: number, end: number): void {
    if (!this.#hasHead) throw broken('the answer begins without headers');
    this.#messages.read(chunk, begin, end);
  }

  beginMessage(): void {
    this.messageCount += 1;
    if (this.#answers === 'one' && this.messageCount > 1) {
      throw broken('a second message in the answer to a call that has one');
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

  /** The chunk in which the answer lies is read, and the status did not come with it. @throws GrpcCallError */
  keepAnswer(): void {
    if (this.#answer !== undefined) this.#answer = this.#messages.keep(this.#answer);
  }

  /** Status and text with which the call ends by its last block. */
  endBy(head: ResponseHead): GrpcCallEnd {
    const end = callEndOf(head);
    if (end.code !== status.OK || !this.#messages.isInside) return end;
    return { code: status.INTERNAL, details: 'the answer ended inside a message' };
  }

  /** Ends the call, once. @returns Bytes that will not be sent. */
  close(): number {
    this.isOver = true;
    return this.unsent.drop();
  }

  /** Tells the end, and the one answer before it. After {@link close}, never from inside a call of the application. */
  tellEnd(code: number, details: string): void {
    if (this.#answer !== undefined && code === status.OK) {
      this.#events.onMessage(this, this.#answer);
    }
    this.#answer = undefined;
    this.#messages.drop();
    this.#events.onEnd(this, code, details);
  }
}

function isAnswerOfGrpc({ httpStatus, contentType }: ResponseHead): boolean {
  return httpStatus === 200 && contentType?.startsWith('application/grpc') === true;
}

function broken(what: string): GrpcCallError {
  return new GrpcCallError(status.INTERNAL, what);
}

/** Messages that went out, and are still in the list, at most. */
const GONE_MAX = 64;

/** Messages of one call that are in no frame yet, each with its head. */
class UnsentMessages {
  /** Bytes that wait here, heads included. */
  bytes = 0;
  /** By message: its head and its pieces. */
  #messages: (readonly Uint8Array[])[] = [];
  /** The first message that is not gone; of it, the first piece, and its first byte. */
  #first = 0;
  #piece = 0;
  #offset = 0;

  /** Adds a message of that length. */
  add(pieces: readonly Uint8Array[], bytes: number): void {
    const head = Buffer.allocUnsafe(MESSAGE_HEAD_BYTES);
    head[0] = 0;
    head.writeUInt32BE(bytes, 1);
    this.#messages.push([head, ...pieces]);
    this.bytes += MESSAGE_HEAD_BYTES + bytes;
  }

  /** Moves the next `bytes` into a frame; so many must be there. */
  moveTo(batch: FrameBatch, bytes: number): void {
    this.bytes -= bytes;
    for (let left = bytes; left > 0; ) {
      const message = this.#messages[this.#first] as readonly Uint8Array[];
      const piece = message[this.#piece] as Uint8Array;
      const end = Math.min(piece.length, this.#offset + left);
      batch.append(piece, this.#offset, end);
      left -= end - this.#offset;
      this.#offset = end;
      if (end === piece.length) this.#nextPiece(message.length);
    }
  }

  /**
   * Takes back the messages of which nothing is in a frame. One that has begun must go on: what is left of it is copied,
   * so that its pieces are free.
   * @returns How many were taken back: those that were added last.
   */
  takeBack(): number {
    const [begun, count] = this.#takeBegun();
    this.drop();
    if (begun === undefined) return count;
    // Its head, or a part of it, is gone: so it stays one that has begun.
    this.#messages = [[NO_BYTES, begun]];
    this.#piece = 1;
    this.bytes = begun.length;
    return count;
  }

  /** Forgets all. @returns Their bytes. */
  drop(): number {
    const { bytes } = this;
    this.bytes = 0;
    this.#messages = [];
    this.#first = 0;
    this.#piece = 0;
    this.#offset = 0;
    return bytes;
  }

  /** A copy of what is left of the message that has begun, and how many messages have not. */
  #takeBegun(): [begun: Buffer | undefined, count: number] {
    const count = this.#messages.length - this.#first;
    const message = this.#messages[this.#first];
    if (message === undefined || (this.#piece === 0 && this.#offset === 0)) {
      return [undefined, count];
    }
    const [piece, ...rest] = message.slice(this.#piece) as [Uint8Array, ...Uint8Array[]];
    const begun = Buffer.concat([piece.subarray(this.#offset), ...rest]);
    return [begun.length === 0 ? undefined : begun, count - 1];
  }

  #nextPiece(pieceCount: number): void {
    this.#offset = 0;
    this.#piece += 1;
    if (this.#piece < pieceCount) return;
    this.#piece = 0;
    this.#first += 1;
    // Messages that went out are not held on to.
    if (this.#first === this.#messages.length || this.#first >= GONE_MAX) {
      this.#messages.splice(0, this.#first);
      this.#first = 0;
    }
  }
}

/** Calls whose one answer lies in the chunk that is being read. Mostly their status is in it, too, and nothing is copied. */
export class HeldAnswers {
  #calls: Http2Call[] = [];

  add(call: Http2Call): void {
    this.#calls.push(call);
  }

  /** The chunk goes back to the socket. @param onBroken For a call whose answer there is no room for. */
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
