import { SendWindow } from '../../../shared/http2/flow-control.ts';
import {
  FLAG,
  FRAME_TYPE,
  type FrameBatch,
  WINDOW_BYTES_DEFAULT,
} from '../../../shared/http2/frames.ts';
import type { HeaderField, HpackEncoder } from '../../../shared/http2/hpack.ts';
import type { PeerSettings } from '../../../shared/http2/outgoing.ts';
import type { ServerCallEnd } from '../limits/call-end.ts';
import type { ServerCall } from './server-call.ts';

/** Bytes of one call per turn. */
const TURN_BYTES_MAX: number = 256 * 1024;

/** Response headers. */
export function headOf(httpStatus = 200): readonly HeaderField[] {
  return [
    { name: ':status', value: `${httpStatus}` },
    { name: 'content-type', value: 'application/grpc+proto' },
  ];
}

/** Trailers. */
export function trailersOf({ code, details }: ServerCallEnd): readonly HeaderField[] {
  // encodeURI throws at half a surrogate pair, which the peer's text may contain.
  const text = Buffer.from(details).toString();
  return [
    { name: 'grpc-status', value: `${code}` },
    { name: 'grpc-message', value: encodeURI(text) },
  ];
}

/** Calls with something to send. They take turns, within the peer's flow control. */
export class AnswerLine {
  /** Send window of the whole connection. */
  readonly window: SendWindow = new SendWindow(WINDOW_BYTES_DEFAULT);
  readonly #peer: PeerSettings;
  readonly #encoder: HpackEncoder;
  readonly #onEnded: (call: ServerCall) => void;
  #calls: ServerCall[] = [];

  /** @param onEnded Called when the last frame of a call's response was queued. */
  constructor(peer: PeerSettings, encoder: HpackEncoder, onEnded: (call: ServerCall) => void) {
    this.#peer = peer;
    this.#encoder = encoder;
    this.#onEnded = onEnded;
  }

  /** True while a call has something to send, even if the peer cannot take it now. */
  get hasCalls(): boolean {
    return this.#calls.length > 0;
  }

  /** Queues a call that has something to send, unless it is queued. */
  add(call: ServerCall): void {
    if (call.isInLine || !call.hasFrame) return;
    call.isInLine = true;
    this.#calls.push(call);
  }

  /**
   * Adds frames up to the size of the batch. A call without window leaves the line; WINDOW_UPDATE
   * queues it again.
   */
  fill(batch: FrameBatch): void {
    while (this.#calls.length > 0 && batch.hasRoom) {
      const calls = this.#calls;
      this.#calls = [];
      for (const call of calls) {
        call.isInLine = false;
        if (!batch.hasRoom) this.add(call);
        else if (!call.isOver) this.#serve(call, batch);
      }
    }
  }

  #serve(call: ServerCall, batch: FrameBatch): void {
    const { unsent, ending } = call;
    if (!call.isHeadSent) {
      call.isHeadSent = true;
      if (unsent.bytes === 0 && ending !== undefined) {
        this.#writeBlock(batch, call, FLAG.endStream, [...headOf(), ...trailersOf(ending)]);
        this.#onEnded(call);
        return;
      }
      this.#writeBlock(batch, call, 0, headOf());
    }
    this.#writeContents(call, batch);
    if (unsent.bytes === 0 && ending !== undefined) {
      this.#writeBlock(batch, call, FLAG.endStream, trailersOf(ending));
      this.#onEnded(call);
      return;
    }
    if (unsent.bytes > 0 && call.sendWindow.bytes > 0 && this.window.bytes > 0) this.add(call);
    call.onSent();
  }

  #writeContents({ unsent, sendWindow, streamId }: ServerCall, batch: FrameBatch): void {
    let turnBytes = Math.min(TURN_BYTES_MAX, sendWindow.bytes, this.window.bytes);
    while (unsent.bytes > 0 && turnBytes > 0 && batch.hasRoom) {
      const bytes = Math.min(unsent.bytes, turnBytes, this.#peer.frameBytesMax);
      batch.frame(FRAME_TYPE.data, 0, streamId, bytes);
      unsent.moveTo(batch, bytes);
      batch.messageBytes += bytes;
      turnBytes -= bytes;
      sendWindow.bytes -= bytes;
      this.window.bytes -= bytes;
    }
  }

  /** A block of few bytes: one frame. */
  #writeBlock(
    batch: FrameBatch,
    { streamId }: ServerCall,
    flags: number,
    fields: readonly HeaderField[],
  ): void {
    const block = this.#encoder.encode(fields);
    batch.frame(FRAME_TYPE.headers, flags | FLAG.endHeaders, streamId, block.length);
    batch.append(block, 0, block.length);
  }
}
