import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { ReceiveWindow, SendWindow } from '../../../shared/http2/flow-control.ts';
import { Http2Error } from '../../../shared/http2/frames.ts';
import { UnsentMessages } from '../../../shared/http2/unsent-messages.ts';
import type { MessageMemory, MessagePool } from '../connection/message-memory.ts';
import type { StreamHandler, StreamPeer } from '../connection/stream-call.ts';
import type { CallRefusal } from '../guard/call-gate.ts';
import type { CallRule } from '../guard/call-rules.ts';
import { INCOMPLETE_MESSAGE, type ServerCallEnd, StreamRefusal } from '../limits/call-end.ts';
import { FIRST_MESSAGE_BYTES_MAX } from '../limits/node-limits.ts';
import { MessageIntake, type MessageTaker } from './message-intake.ts';

/** Bytes of responses that a call buffers before its handler must wait. */
const UNSENT_BYTES_MAX: number = 1024 * 1024;

/** The connection as its calls use it. */
export interface ServerCallOwner {
  readonly pool: MessagePool;
  /** The call has something to send. */
  onSend(call: ServerCall): void;
  /** The peer broke a rule of the gate: reset the call. */
  onRefused(call: ServerCall, reason: CallRefusal): void;
}

/**
 * One call that a peer made, as this end has it:
 *
 *     open ──END_STREAM of the peer──► half-closed ──trailers──► over
 *       └── trailers, reset, loss of the connection ───────────► over
 */
export class ServerCall implements Pick<StreamPeer, 'write' | 'end'>, MessageTaker {
  readonly streamId: number;
  readonly rule: CallRule;
  readonly receiveWindow: ReceiveWindow;
  readonly sendWindow: SendWindow;
  readonly unsent: UnsentMessages = new UnsentMessages();
  /** True while in the queue of calls that may send. */
  isInLine = false;
  isHeadSent = false;
  /** The peer ended its side. */
  isHalfClosed = false;
  isOver = false;
  /** Status to send after everything written; undefined while the call continues. */
  ending: ServerCallEnd | undefined;
  /** Called when the first message is complete. */
  onFirst: () => void = () => {};
  /** Called when the call is over. */
  onOver: () => void = () => {};
  #handler: StreamHandler | undefined;
  readonly #owner: ServerCallOwner;
  readonly #contentLength: number | undefined;
  #intake: MessageIntake | undefined;
  #messageCount = 0;
  #bytes = 0;
  #isFull = false;

  /** @param contentLength Declared bytes of contents. */
  constructor(
    streamId: number,
    rule: CallRule,
    owner: ServerCallOwner,
    windows: { readonly receive: ReceiveWindow; readonly send: SendWindow },
    contentLength: number | undefined,
  ) {
    this.#contentLength = contentLength;
    this.streamId = streamId;
    this.rule = rule;
    this.#owner = owner;
    this.receiveWindow = windows.receive;
    this.sendWindow = windows.send;
  }

  /** Sets the call's handler. @param bytesMax Largest message of the peer. */
  serve(handler: StreamHandler, bytesMax: number): void {
    this.#handler = handler;
    this.#intake = new MessageIntake(bytesMax, this.#owner.pool, this);
  }

  /** True if headers, messages or trailers can be sent. */
  get hasFrame(): boolean {
    return !this.isOver && (this.unsent.bytes > 0 || this.ending !== undefined);
  }

  write(message: Buffer): boolean {
    if (this.isOver || this.ending !== undefined) return false;
    this.unsent.add([message], message.length);
    this.#owner.onSend(this);
    this.#isFull = this.unsent.bytes > UNSENT_BYTES_MAX;
    return !this.#isFull;
  }

  end(end: ServerCallEnd): void {
    if (this.isOver || this.ending !== undefined) return;
    this.ending = end;
    this.#owner.onSend(this);
  }

  /** Counts received contents. @returns False for more than declared. */
  count(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#contentLength === undefined || this.#bytes <= this.#contentLength;
  }

  /** True if fewer bytes came than declared. */
  get isShort(): boolean {
    return this.#contentLength !== undefined && this.#bytes < this.#contentLength;
  }

  /** Contents of the peer came, already counted. */
  onContents(chunk: BorrowedBytes, begin: number, end: number): void {
    if (this.ending !== undefined) return;
    const { bytesMax } = this.rule;
    if (bytesMax !== undefined && this.#bytes > bytesMax) {
      this.#owner.onRefused(this, 'too-large');
      return;
    }
    try {
      this.#intake?.read(chunk, begin, end);
    } catch (error) {
      if (!(error instanceof StreamRefusal)) throw error;
      this.#intake?.drop();
      this.#intake = undefined;
      this.#handler?.breakOff(error.end);
    }
  }

  /** Destination for the next contents; undefined outside of a large message. */
  placeForNext(bytesMax: number): Uint8Array | undefined {
    return this.isOver ? undefined : this.#intake?.placeForNext(bytesMax);
  }

  /** @throws Http2Error STREAM_CLOSED if the peer had ended its side (RFC 9113, 5.1). */
  requireOpen(): void {
    if (!this.isHalfClosed) return;
    throw new Http2Error('STREAM_CLOSED', 'DATA after the end of a call');
  }

  onHalfClosed(): void {
    this.isHalfClosed = true;
    if (this.#intake?.isInside === true) this.#handler?.breakOff(INCOMPLETE_MESSAGE);
    else this.#handler?.halfClosed();
  }

  /** Bytes were sent: the handler may continue. */
  onSent(): void {
    if (!this.#isFull || this.unsent.bytes > 0) return;
    this.#isFull = false;
    this.#handler?.drained();
  }

  begin(bytes: number): boolean {
    if (this.#messageCount > 0 || bytes <= FIRST_MESSAGE_BYTES_MAX) return true;
    this.#owner.onRefused(this, 'too-large');
    return false;
  }

  take(message: Buffer, memory: MessageMemory | undefined): void {
    this.#messageCount += 1;
    if (this.#messageCount === 1) this.onFirst();
    if (this.isOver) memory?.release();
    else this.#handler?.message(message, memory);
  }

  /** The call takes too long. */
  endLate(): void {
    this.#owner.onRefused(this, 'too-late');
  }

  /** The call is over. @param isLost True if the peer reset it, or is lost. */
  close(isLost: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unsent.drop();
    this.#intake?.drop();
    this.onOver();
    if (isLost) this.#handler?.cancelled();
  }
}
