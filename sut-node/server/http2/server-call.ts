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

/** Bytes of answers that a call holds before it asks its handler to wait. */
const UNSENT_BYTES_MAX: number = 1024 * 1024;

/** The connection, as its calls use it. */
export interface ServerCallOwner {
  readonly pool: MessagePool;
  /** The call has something to send. */
  onSend(call: ServerCall): void;
  /** The peer broke a rule of the gate: the call is reset. */
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
  /** In the line of those that may send. */
  isInLine = false;
  isHeadSent = false;
  /** The peer ended its side. */
  isHalfClosed = false;
  isOver = false;
  /** Status behind what was written; undefined as long as the call goes on. */
  ending: ServerCallEnd | undefined;
  /** Called when the first message is whole. */
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

  /** @param contentLength Bytes of contents that the request announces. */
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

  /** Who serves the call. @param bytesMax Largest message of the peer. */
  serve(handler: StreamHandler, bytesMax: number): void {
    this.#handler = handler;
    this.#intake = new MessageIntake(bytesMax, this.#owner.pool, this);
  }

  /** True when something can be sent: head, messages or the end. */
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

  /** Counts contents of the peer. @returns False for more than the request announced. */
  count(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#contentLength === undefined || this.#bytes <= this.#contentLength;
  }

  /** Less came than the request announced. */
  get isShort(): boolean {
    return this.#contentLength !== undefined && this.#bytes < this.#contentLength;
  }

  /** Contents of the peer, counted. */
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

  /** Where the next bytes of contents belong; undefined where no large message is under way. */
  placeForNext(bytesMax: number): Uint8Array | undefined {
    return this.isOver ? undefined : this.#intake?.placeForNext(bytesMax);
  }

  /** @throws Http2Error STREAM_CLOSED when the peer had ended its side (RFC 9113, 5.1). */
  requireOpen(): void {
    if (!this.isHalfClosed) return;
    throw new Http2Error('STREAM_CLOSED', 'contents behind the end of a call');
  }

  onHalfClosed(): void {
    this.isHalfClosed = true;
    if (this.#intake?.isInside === true) this.#handler?.breakOff(INCOMPLETE_MESSAGE);
    else this.#handler?.halfClosed();
  }

  /** Bytes went out: the handler may go on. */
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

  /** The call is over. @param isLost The peer reset it, or is gone. */
  close(isLost: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unsent.drop();
    this.#intake?.drop();
    this.onOver();
    if (isLost) this.#handler?.cancelled();
  }
}
