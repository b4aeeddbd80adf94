import type { Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { Deferred } from '../../shared/base/async.ts';
import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { SocketEnds } from '../../shared/evidence/call-path.ts';
import { type AnswerRoom, FloodGuard, ReceiveWindow } from '../../shared/http2/flow-control.ts';
import { FrameReader } from '../../shared/http2/frame-reader.ts';
import {
  ControlFrames,
  type ErrorName,
  Http2Error,
  WINDOW_BYTES_DEFAULT,
} from '../../shared/http2/frames.ts';
import { IncomingFrames, type Session } from '../../shared/http2/incoming-frames.ts';
import { Keepalive, type KeptAlive } from '../../shared/http2/keepalive.ts';
import { Outgoing, PeerSettings } from '../../shared/http2/outgoing.ts';
import { WAITING_BYTES_MAX } from '../settings/dispatch-settings.ts';
import { connectSocket, endsOf, type SocketEvents, unreachable } from './connect-socket.ts';
import {
  ANSWER_FRAME_BYTES_MAX,
  type Answers,
  type CallEvents,
  type ConnectionEnd,
  type GrpcCall,
  GrpcCallError,
  type Http2ConnectionSettings,
  headersOf,
  NO_STATUS,
  ownSettings,
  RequestHeads,
  type ResponseHead,
  ResponseHeads,
  resetText,
  statusOfReset,
} from './grpc-calls.ts';
import { type CallOwner, ConnectionCalls, HeldAnswers, Http2Call } from './http2-call.ts';
import type { OneConnection, OneConnectionEvents } from './lasting-connection.ts';
import { type MessageLimits, messageLimits } from './message-reader.ts';
import { SendLine } from './send-line.ts';

const CLOSED_BY_SERVER = 'Connection dropped: the server closed it';

/** Longest wait for the socket to take the last bytes of a closed connection. */
const CLOSE_MS = 500;

/**
 * One connection (README.md has the picture):
 *
 *     connecting ──SETTINGS──► open ──GOAWAY──► draining ──last call over──► closed
 *          └───────────────────── socket closed, broken HTTP/2, close() ───► closed
 */
export class Http2Connection
  implements OneConnection, CallOwner, Session<Http2Call>, SocketEvents, KeptAlive
{
  readonly #settings: Http2ConnectionSettings;
  readonly #events: OneConnectionEvents;
  readonly #socket: Socket;
  readonly #peer = new PeerSettings();
  readonly #heads: RequestHeads;
  readonly #answerHeads = new ResponseHeads();
  readonly #floods = new FloodGuard();
  readonly #control = new ControlFrames();
  readonly #calls = new ConnectionCalls();
  readonly #held = new HeldAnswers();
  readonly #line: SendLine;
  readonly #outgoing: Outgoing;
  readonly #reader: FrameReader;
  readonly #keepalive: Keepalive;
  readonly #limits: MessageLimits;
  readonly #connectTimer: NodeJS.Timeout;
  readonly #whenReady = new Deferred<void>();
  readonly #whenClosed = new Deferred<void>();
  #state: 'connecting' | 'open' | 'draining' | 'closed' = 'connecting';
  /** Why the connection takes no new calls. */
  #reason = '';
  #hasAnswer = false;

  /** Connects at once. @throws MlperfError `ERR_CONFIG_INVALID` as {@link connectSocket}. */
  constructor(settings: Http2ConnectionSettings, events: OneConnectionEvents, room: AnswerRoom) {
    this.#settings = settings;
    this.#events = events;
    this.#limits = messageLimits(settings.messageBytesMax, room);
    this.#heads = new RequestHeads(settings.request);
    this.#line = new SendLine(this.#peer, this.#heads, this.#calls.open);
    const incoming = new IncomingFrames(this, this.#control, this.#settings.receiveWindowBytes);
    this.#reader = new FrameReader(incoming, ANSWER_FRAME_BYTES_MAX);
    this.#keepalive = new Keepalive(settings, this);
    this.#socket = connectSocket(settings, this);
    this.#outgoing = new Outgoing(this.#socket, this.#control, this.#line, (bytes) =>
      this.#events.onWritten(bytes),
    );
    this.#connectTimer = setTimeout(
      () => this.#lose('Deadline exceeded'),
      settings.connectTimeoutMs,
    );
    // Callers that do not await it learn of the failure from onClosed and the calls' ends.
    this.#whenReady.promise.catch(() => {});
  }

  get ready(): Promise<void> {
    return this.#whenReady.promise;
  }

  get hasRoom(): boolean {
    return this.#outgoing.waitingBytes < WAITING_BYTES_MAX;
  }

  get callsMax(): number {
    return this.#peer.callsMax;
  }

  get ends(): SocketEnds | null {
    return endsOf(this.#socket);
  }

  get isConnecting(): boolean {
    return this.#state === 'connecting';
  }

  get callCount(): number {
    return this.#calls.all.size;
  }

  get isTaking(): boolean {
    return this.#state === 'open' || this.#state === 'connecting';
  }

  call(path: string, events: CallEvents, answers?: Answers, traceparent?: string): GrpcCall {
    const window = new ReceiveWindow(this.#settings.receiveWindowBytes);
    const call = new Http2Call({ path, answers, traceparent }, events, this, this.#limits, window);
    this.#calls.all.add(call);
    if (!this.isTaking) this.#endSoon(call, status.UNAVAILABLE, this.#reason);
    else if (this.#calls.all.size >= this.#line.openableCount) this.#state = 'draining';
    return call;
  }

  async close(): Promise<void> {
    if (this.#state !== 'closed') {
      this.#control.goAway('NO_ERROR', '');
      this.#shut('the LoadGen node closed the connection');
      this.#whenReady.reject(
        unreachable(this.#settings, 'it was closed before the connection was made'),
      );
      for (const call of this.#calls.all) this.#endSoon(call, status.CANCELLED, this.#reason);
    }
    await this.#whenClosed.promise;
  }

  onSend(call: Http2Call, bytes: number): void {
    this.#outgoing.waitingBytes += bytes;
    if (call.streamId === 0 || call.hasFrame) {
      this.#line.add(call);
      this.#outgoing.plan();
    }
  }

  onTakenBack(bytes: number): void {
    this.#outgoing.waitingBytes -= bytes;
  }

  onCancel(call: Http2Call): void {
    this.#reset(call, 'CANCEL');
    this.#endSoon(call, status.CANCELLED, 'cancelled by the LoadGen node');
  }

  onHeld(call: Http2Call): void {
    this.#held.add(call);
  }

  onConnected(): void {
    this.#control.settings(ownSettings(this.#settings.receiveWindowBytes));
    const more = this.#settings.receiveWindowBytes - WINDOW_BYTES_DEFAULT;
    if (more > 0) this.#control.windowUpdate(0, more);
    this.#outgoing.begin('client');
  }

  onBytes(chunk: BorrowedBytes): void {
    if (this.#state === 'closed') return;
    this.#keepalive.onBytes();
    try {
      this.#reader.read(chunk);
      this.#held.keep((call, error) => this.#breakCall(call, error));
      if (!this.#control.isEmpty) this.#outgoing.plan();
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#control.goAway(error.code, error.message);
      const details = `Protocol error: the server breaks HTTP/2 (${error.code}): ${error.message}`;
      this.#lose(details, 'broken');
    }
  }

  onClosed(details: string): void {
    if (this.#state !== 'closed') {
      const closed = this.#state === 'connecting' ? 'Socket closed' : CLOSED_BY_SERVER;
      this.#lose(details || closed);
    }
    this.#whenClosed.resolve();
  }

  callOf(streamId: number): Http2Call | undefined {
    return this.#calls.open.get(streamId);
  }

  hasOpened(streamId: number): boolean {
    return this.#line.hasOpened(streamId);
  }

  onSettings(chunk: BorrowedBytes, begin: number, end: number): void {
    const { streamWindowBytes, callsMax } = this.#peer;
    this.#peer.apply(chunk, begin, end);
    this.#heads.setPeerTableBytesMax(this.#peer.headerTableBytes);
    this.#moveWindows(this.#peer.streamWindowBytes - streamWindowBytes);
    if (this.#state === 'connecting') {
      this.#state = 'open';
      clearTimeout(this.#connectTimer);
      this.#keepalive.start();
      this.#outgoing.open();
      this.#whenReady.resolve();
    } else if (this.#state === 'open' && this.#peer.callsMax > callsMax) {
      this.#outgoing.plan();
      this.#events.onWritten(0);
    }
  }

  onPong(): void {
    if (this.#state !== 'closed') this.#keepalive.onPong();
  }

  onProgress(): void {
    this.#keepalive.onAnswer();
  }

  onHeaders(streamId: number): void {
    if (this.#calls.open.has(streamId) || this.hasOpened(streamId)) return;
    throw new Http2Error('PROTOCOL_ERROR', `HEADERS of stream ${streamId}, which was never opened`);
  }

  onBlock(
    streamId: number,
    endsStream: boolean,
    chunk: BorrowedBytes,
    begin: number,
    end: number,
  ): void {
    // Every block updates the HPACK table, also the blocks of calls that are over.
    const head = this.#answerHeads.read(chunk, begin, end);
    const call = this.#calls.open.get(streamId);
    if (call === undefined) return;
    if (head.httpStatus !== undefined && head.httpStatus < 200) this.#floods.count();
    this.#keepalive.onAnswer();
    this.#accept(head);
    try {
      if (!call.onHead(head, endsStream)) return;
      const { code, details } = call.endBy(head);
      this.#onEnd(call, code, details, endsStream);
    } catch (error) {
      this.#breakCall(call, error);
    }
  }

  onContents(call: Http2Call, chunk: BorrowedBytes, begin: number, end: number): void {
    try {
      call.onContents(chunk, begin, end);
    } catch (error) {
      this.#breakCall(call, error);
    }
  }

  /** DATA with END_STREAM came: the response has no trailers. */
  onContentsEnd(call: Http2Call): void {
    this.#onEnd(call, NO_STATUS.code, NO_STATUS.details, true);
  }

  #accept(head: ResponseHead): void {
    if (this.#hasAnswer) return;
    this.#hasAnswer = true;
    const loadgen = endsOf(this.#socket);
    this.#events.onAccepted({ loadgen, responseHeaders: headersOf(head) });
  }

  onGoAway(lastStreamId: number, isPlanned: boolean, reason: string): void {
    if (this.#state === 'closed') return;
    const why = reason === '' ? '' : ` (${reason})`;
    this.#reason = `the server is closing the connection${why}`;
    this.#state = 'draining';
    const unprocessed = this.#calls.unprocessed(lastStreamId);
    const isBarren = unprocessed.length > 0 && lastStreamId === 0 && !this.#hasAnswer;
    const isTaken = this.#events.onGoAway({ isPlanned, isBarren }, this.#reason);
    for (const call of unprocessed) {
      if (call.isOver) continue;
      this.#remove(call);
      call.tellUnprocessed(this.#reason, isTaken);
    }
    this.#events.onWritten(0);
    this.#shutIfDrained();
  }

  onWindowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) {
      this.#line.window.add(bytes, 'the connection');
    } else {
      const call = this.#calls.open.get(streamId) as Http2Call;
      call.sendWindow.add(bytes, 'a call');
      if (call.hasFrame) this.#line.add(call);
    }
    this.#outgoing.plan();
  }

  onReset(call: Http2Call, errorCode: number): void {
    this.#end(call, statusOfReset(errorCode), resetText(errorCode, call.sentBytes));
  }

  /** The server ended the call. @param endsStream True if it also ended the HTTP/2 stream. */
  #onEnd(call: Http2Call, code: number, details: string, endsStream: boolean): void {
    // Neither side needs the rest of the request, or of a response that is not gRPC.
    if (!call.isEndSent || !endsStream) this.#reset(call, 'CANCEL');
    this.#end(call, code, details);
  }

  /** Ends a call whose response is malformed. */
  #breakCall(call: Http2Call, error: unknown): void {
    if (!(error instanceof GrpcCallError)) throw error;
    this.#reset(call, 'CANCEL');
    this.#end(call, error.code, error.message);
  }

  ping(): void {
    this.#control.ping();
    this.#outgoing.plan();
  }

  onSilence(): void {
    const { keepaliveTimeoutMs } = this.#settings;
    this.#lose(`Connection dropped: no answer to a ping within ${keepaliveTimeoutMs} ms`);
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE changed: adjusts the send windows of all streams. */
  #moveWindows(bytes: number): void {
    if (bytes === 0) return;
    for (const call of this.#calls.open.values()) {
      call.sendWindow.add(bytes, 'a call');
      if (call.hasFrame) this.#line.add(call);
    }
    this.#outgoing.plan();
  }

  #reset(call: Http2Call, code: ErrorName): void {
    if (call.streamId === 0) return;
    this.#control.rstStream(call.streamId, code);
    this.#outgoing.plan();
  }

  /** Removes a call from all tables. */
  #remove(call: Http2Call): void {
    this.#calls.remove(call);
    this.#outgoing.waitingBytes -= call.close();
    // Another call may be opened in its place.
    if (this.#line.hasCalls) this.#outgoing.plan();
    if (this.#state === 'draining') this.#shutIfDrained();
  }

  #end(call: Http2Call, code: number, details: string): void {
    if (call.isOver) return;
    this.#remove(call);
    call.tellEnd(code, details);
  }

  /** {@link #end}, deferred, for use inside a call of the application. */
  #endSoon(call: Http2Call, code: number, details: string): void {
    this.#remove(call);
    queueMicrotask(() => call.tellEnd(code, details));
  }

  /** The connection is lost or must be closed: ends all calls. */
  #lose(details: string, end: ConnectionEnd = 'lost'): void {
    if (this.#state === 'closed') return;
    const wasConnecting = this.#state === 'connecting';
    // After a planned end, the close that follows its last call is not reported.
    const isMissed =
      this.#state === 'open' || (this.#state === 'draining' && this.#calls.all.size > 0);
    this.#shut(details);
    if (wasConnecting) this.#whenReady.reject(unreachable(this.#settings, details));
    for (const call of this.#calls.all) this.#end(call, status.UNAVAILABLE, details);
    if (isMissed) this.#events.onClosed(details, end);
  }

  #shutIfDrained(): void {
    if (this.#state === 'draining' && this.#calls.all.size === 0) this.#shut(this.#reason);
  }

  /** Sends the pending control frames and closes the socket. */
  #shut(reason: string): void {
    this.#state = 'closed';
    this.#reason = reason;
    clearTimeout(this.#connectTimer);
    this.#keepalive.stop();
    this.#outgoing.end(CLOSE_MS);
  }
}
