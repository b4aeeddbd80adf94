import type { Socket } from 'node:net';
import { Deferred } from '../../../shared/base/async.ts';
import type { BorrowedBytes } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { FloodGuard, ReceiveWindow, SendWindow } from '../../../shared/http2/flow-control.ts';
import { FrameReader } from '../../../shared/http2/frame-reader.ts';
import {
  ControlFrames,
  type ErrorName,
  FLAG,
  Http2Error,
  PREFACE,
  WINDOW_BYTES_DEFAULT,
} from '../../../shared/http2/frames.ts';
import { type HeaderField, HpackDecoder, HpackEncoder } from '../../../shared/http2/hpack.ts';
import { IncomingFrames, type Session } from '../../../shared/http2/incoming-frames.ts';
import { Keepalive, type KeptAlive } from '../../../shared/http2/keepalive.ts';
import { Outgoing, PeerSettings, SETTING } from '../../../shared/http2/outgoing.ts';
import type { MessagePool } from '../connection/message-memory.ts';
import type { CallRefusal } from '../guard/call-gate.ts';
import { ResetBudget } from '../guard/reset-budget.ts';
import { UnreadWatch } from '../guard/unread-watch.ts';
import type { ServerCallEnd } from '../limits/call-end.ts';
import { CALLS_PER_CONNECTION_MAX, UNREAD_TIMEOUT_MS } from '../limits/node-limits.ts';
import { AnswerLine, headOf, trailersOf } from './answer-line.ts';
import { contentLengthOf, isMalformedRequest, isMalformedTrailers } from './request-form.ts';
import { ServerCall, type ServerCallOwner } from './server-call.ts';

/** SETTINGS_HEADER_TABLE_SIZE of this end: HTTP/2's default, so it is not sent. */
export const TABLE_BYTES = 4096;

/** Largest header list that is decoded; a call's own limit is smaller. */
export const HEADER_LIST_BYTES_MAX: number = 64 * 1024;

/** Largest frame that the peer may send: a part takes few frames. */
export const FRAME_BYTES_MAX: number = 1024 * 1024;

/** Silence after which a peer is pinged, and the longest wait for its reply. */
const KEEPALIVE = { keepaliveTimeMs: 30_000, keepaliveTimeoutMs: 20_000 };

/** Longest wait for the peer of a drained connection to close it. */
const DRAINED_CLOSE_MS = 1_000;

/** Longest wait for the socket to take the last bytes after an HTTP/2 violation. */
export const BROKEN_CLOSE_MS = 500;

const TOO_MANY_RESETS = 'too many calls of the connection were reset';

/** Decision about a call by its headers. */
export type CallDecision =
  /** It is served: {@link ServerCall.serve} was called. */
  | { readonly call: ServerCall }
  /** Served elsewhere: the peer must open a new connection. */
  | 'elsewhere'
  /** Refused with this status. */
  | { readonly end: ServerCallEnd; readonly httpStatus?: number | undefined };

/** Serves the calls of a connection. */
export interface CallService {
  readonly pool: MessagePool;
  readonly windowBytes: number;
  /** Decides about a call; `make` creates it. */
  open(fields: readonly HeaderField[], socket: Socket, make: MakeCall): CallDecision;
  onRefused(reason: CallRefusal): void;
}

export type MakeCall = (rule: ServerCall['rule']) => ServerCall;

/**
 * One connection whose calls are served without grpc-js:
 *
 *     open ──GOAWAY of either end──► draining ──last call over, peer closed or too slow──► closed
 *       └──── socket closed, broken HTTP/2 ──────────────────────────────────────────────► closed
 */
export class ServerConnection implements ServerCallOwner, Session<ServerCall>, KeptAlive {
  readonly #socket: Socket;
  readonly #service: CallService;
  readonly #control: ControlFrames;
  readonly #peer = new PeerSettings('client');
  readonly #decoder = new HpackDecoder(TABLE_BYTES, HEADER_LIST_BYTES_MAX);
  /** Without a table: a refusal may overtake another call's headers. */
  readonly #encoder = new HpackEncoder(0);
  readonly #calls = new Map<number, ServerCall>();
  readonly #line: AnswerLine;
  readonly #outgoing: Outgoing;
  readonly #incoming: IncomingFrames<ServerCall>;
  readonly #reader: FrameReader;
  readonly #keepalive: Keepalive;
  readonly #resets = new ResetBudget();
  readonly #floods = new FloodGuard();
  readonly #unread: UnreadWatch;
  #drained: NodeJS.Timeout | undefined;
  readonly #closed = new Deferred<void>();
  #prefaceLeft = PREFACE.length;
  #lastStreamId = 0;
  #isDraining = false;
  #isClosed = false;

  /**
   * The first SETTINGS were sent before; windows and frame size are sent now.
   * @param settingsAnswered SETTINGS of the peer already acknowledged.
   */
  constructor(socket: Socket, service: CallService, settingsAnswered = 0) {
    this.#socket = socket;
    this.#service = service;
    this.#control = new ControlFrames(settingsAnswered);
    this.#incoming = new IncomingFrames<ServerCall>(this, this.#control, service.windowBytes);
    this.#reader = new FrameReader(this.#incoming, FRAME_BYTES_MAX);
    this.#line = new AnswerLine(this.#peer, this.#encoder, (call) => this.#onEnded(call));
    this.#unread = new UnreadWatch(
      () => this.#hasUnread,
      () => this.#socket.destroy(),
    );
    this.#outgoing = new Outgoing(socket, this.#control, this.#line, () => this.#unread.onTaken());
    this.#keepalive = new Keepalive(KEEPALIVE, this);
    this.#control.settings([
      [SETTING.initialWindowSize, service.windowBytes],
      [SETTING.maxFrameSize, FRAME_BYTES_MAX],
    ]);
    const more = service.windowBytes - WINDOW_BYTES_DEFAULT;
    if (more > 0) this.#control.windowUpdate(0, more);
    this.#outgoing.begin('server');
    this.#outgoing.open();
    this.#keepalive.start();
    socket.on('close', () => this.#onGone());
  }

  /** Resolves when the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  get pool(): MessagePool {
    return this.#service.pool;
  }

  get callCount(): number {
    return this.#calls.size;
  }

  /** Handles bytes from the socket. */
  read(chunk: BorrowedBytes): void {
    if (this.#isClosed) return;
    this.#keepalive.onBytes();
    const prefaceBytes = Math.min(this.#prefaceLeft, chunk.length);
    this.#prefaceLeft -= prefaceBytes;
    try {
      this.#reader.read(prefaceBytes > 0 ? chunk.subarray(prefaceBytes) : chunk);
      if (!this.#control.isEmpty) this.#outgoing.plan();
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#shut(error.code, error.message);
    }
  }

  /** Destination for the next bytes inside a large message; otherwise undefined. */
  placeForNext(): Uint8Array | undefined {
    const { dataLeft } = this.#reader;
    return dataLeft > 0 ? this.#incoming.dataCall?.placeForNext(dataLeft) : undefined;
  }

  /** Lets calls end and takes no new ones. */
  drain(): void {
    if (this.#isDraining || this.#isClosed) return;
    this.#isDraining = true;
    this.#control.goAway('NO_ERROR', '', this.#lastStreamId);
    this.#outgoing.plan();
    this.#planEnd();
  }

  ping(): void {
    this.#control.ping();
    this.#outgoing.plan();
  }

  onSilence(): void {
    this.#socket.destroy();
  }

  onPong(): void {
    this.#keepalive.onPong();
  }

  onProgress(): void {
    this.#keepalive.onAnswer();
  }

  callOf(streamId: number): ServerCall | undefined {
    return this.#calls.get(streamId);
  }

  hasOpened(streamId: number): boolean {
    return streamId % 2 === 1 && streamId <= this.#lastStreamId;
  }

  /** A new stream has the next odd id; trailers are its only other block. */
  onHeaders(streamId: number): void {
    if (streamId % 2 === 1) return;
    const what = `HEADERS of stream ${streamId}, which no client opens`;
    throw new Http2Error('PROTOCOL_ERROR', what);
  }

  onBlock(
    streamId: number,
    endsStream: boolean,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ): void {
    const fields = this.#decoder.decode(chunk, begin, end);
    const call = this.#calls.get(streamId);
    if (call !== undefined) {
      this.#onTrailers(call, fields, endsStream);
      return;
    }
    if (streamId <= this.#lastStreamId) {
      this.#onLateBlock(streamId, fields);
      return;
    }
    if (this.#resets.isSpent) throw new Http2Error('ENHANCE_YOUR_CALM', TOO_MANY_RESETS);
    this.#lastStreamId = streamId;
    if (isMalformedRequest(fields)) {
      this.#reset(streamId, 'PROTOCOL_ERROR');
      return;
    }
    if (this.#isDraining || this.#calls.size >= CALLS_PER_CONNECTION_MAX) {
      this.#reset(streamId, 'REFUSED_STREAM');
      return;
    }
    this.#open(streamId, fields, endsStream);
  }

  onContents(call: ServerCall, chunk: BorrowedBytes, begin: number, end: number): void {
    call.requireOpen();
    if (call.count(end - begin)) call.onContents(chunk, begin, end);
    else this.#drop(call, 'PROTOCOL_ERROR');
  }

  onContentsEnd(call: ServerCall): void {
    call.requireOpen();
    if (call.isShort) this.#drop(call, 'PROTOCOL_ERROR');
    else call.onHalfClosed();
  }

  onSettings(chunk: BorrowedBytes, begin: number, end: number): void {
    const before = this.#peer.streamWindowBytes;
    this.#peer.apply(chunk, begin, end);
    const more = this.#peer.streamWindowBytes - before;
    for (const call of this.#calls.values()) {
      call.sendWindow.add(more, 'a call');
      this.#line.add(call);
    }
  }

  onGoAway(): void {
    this.drain();
  }

  onWindowUpdate(streamId: number, bytes: number): void {
    const call = this.#calls.get(streamId);
    if (streamId === 0) {
      const wasShut = this.#line.window.bytes <= 0;
      this.#line.window.add(bytes, 'the connection');
      // Otherwise no call waits for it: a flood of WINDOW_UPDATE must not scan all calls.
      if (wasShut) for (const one of this.#calls.values()) this.#line.add(one);
    } else if (call !== undefined) {
      call.sendWindow.add(bytes, 'a call');
      this.#line.add(call);
    }
    this.#outgoing.plan();
  }

  onReset(call: ServerCall): void {
    this.#remove(call, true);
    this.#countReset();
  }

  onSend(call: ServerCall): void {
    this.#line.add(call);
    this.#outgoing.plan();
  }

  onRefused(call: ServerCall, reason: CallRefusal): void {
    this.#service.onRefused(reason);
    this.#drop(call, reason === 'too-late' ? 'CANCEL' : 'ENHANCE_YOUR_CALM');
  }

  #onTrailers(call: ServerCall, fields: readonly HeaderField[], endsStream: boolean): void {
    if (!endsStream) throw new Http2Error('PROTOCOL_ERROR', 'headers in the middle of a call');
    if (isMalformedTrailers(fields)) this.#drop(call, 'PROTOCOL_ERROR');
    else this.onContentsEnd(call);
  }

  /** Trailers of a stream that this end has closed may be in flight; a request may not. */
  #onLateBlock(streamId: number, fields: readonly HeaderField[]): void {
    this.#floods.count();
    if (fields[0]?.name.startsWith(':') !== true) return;
    const what = `a call on stream ${streamId} after one on stream ${this.#lastStreamId}`;
    throw new Http2Error('PROTOCOL_ERROR', what);
  }

  #open(streamId: number, fields: readonly HeaderField[], endsStream: boolean): void {
    const make: MakeCall = (rule) => {
      const receive = new ReceiveWindow(this.#service.windowBytes);
      const send = new SendWindow(this.#peer.streamWindowBytes);
      const windows = { receive, send };
      const call = new ServerCall(streamId, rule, this, windows, contentLengthOf(fields));
      this.#calls.set(streamId, call);
      return call;
    };
    const decision = this.#service.open(fields, this.#socket, make);
    if (decision === 'elsewhere') {
      this.#lastStreamId = Math.max(0, streamId - 2);
      this.drain();
      this.#lastStreamId = streamId;
      this.#reset(streamId, 'REFUSED_STREAM');
    } else if ('end' in decision) {
      this.#refuse(streamId, decision.end, decision.httpStatus, endsStream);
    } else if (endsStream) {
      decision.call.onHalfClosed();
    }
  }

  /** Sends headers and status in one block. */
  #refuse(
    streamId: number,
    end: ServerCallEnd,
    httpStatus: number | undefined,
    endsStream: boolean,
  ): void {
    const block = this.#encoder.encode([...headOf(httpStatus), ...trailersOf(end)]);
    this.#control.answer(streamId, block, FLAG.endStream, this.#peer.frameBytesMax);
    if (!endsStream) this.#reset(streamId, 'NO_ERROR');
    this.#outgoing.plan();
  }

  /** The response is complete; a peer that still sends is told to stop. */
  #onEnded(call: ServerCall): void {
    this.#remove(call, false);
    if (!call.isHalfClosed) this.#reset(call.streamId, 'NO_ERROR');
  }

  /** The peer broke a rule in this call. */
  #drop(call: ServerCall, code: ErrorName): void {
    this.#reset(call.streamId, code);
    this.#remove(call, true);
  }

  #remove(call: ServerCall, isLost: boolean): void {
    if (!this.#calls.delete(call.streamId)) return;
    call.close(isLost);
    this.#planEnd();
  }

  #reset(streamId: number, code: ErrorName): void {
    this.#control.rstStream(streamId, code);
    if (code !== 'NO_ERROR') this.#countReset();
    this.#outgoing.plan();
  }

  #countReset(): void {
    if (this.#resets.spend()) return;
    // Not while the bytes of a chunk are being read.
    queueMicrotask(() => this.#shut('ENHANCE_YOUR_CALM', TOO_MANY_RESETS));
  }

  /** True while bytes wait for the peer, even if it reads but gives no window. */
  get #hasUnread(): boolean {
    if (this.#socket.writableLength > 0) return true;
    return [...this.#calls.values()].some(({ unsent }) => unsent.bytes > 0);
  }

  /**
   * Lets the peer of a drained connection close it: if this end cut it off while it sends calls, it
   * would see a broken connection instead of calls that are safe to repeat.
   */
  #planEnd(): void {
    if (!this.#isDraining || this.#calls.size > 0) return;
    this.#drained ??= setTimeout(() => this.#end(UNREAD_TIMEOUT_MS), DRAINED_CLOSE_MS).unref();
  }

  #shut(code: ErrorName, text: string): void {
    if (this.#isClosed) return;
    this.#control.goAway(code, text, this.#lastStreamId);
    this.#end(BROKEN_CLOSE_MS);
  }

  #end(withinMs: number): void {
    if (this.#isClosed) return;
    this.#outgoing.flush();
    this.#isClosed = true;
    this.#outgoing.end(withinMs);
    this.#loseCalls();
  }

  #onGone(): void {
    this.#isClosed = true;
    this.#unread.stop();
    clearTimeout(this.#drained);
    this.#keepalive.stop();
    this.#loseCalls();
    this.#closed.resolve();
  }

  #loseCalls(): void {
    for (const call of [...this.#calls.values()]) this.#remove(call, true);
  }
}
