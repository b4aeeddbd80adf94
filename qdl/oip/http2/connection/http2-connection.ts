import type { Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { Deferred } from '../../../../shared/base/async.ts';
import { type BorrowedBytes, ReusedBuffers } from '../../../../shared/base/bytes/borrowed-bytes.ts';
import { type MlperfError, sutUnreachable } from '../../../../shared/base/errors/mlperf-error.ts';
import { keptHeaders } from '../../../../shared/evidence/call-path.ts';
import type { ClientSecurity } from '../../../../shared/security/client-security.ts';
import { unreachableMessage } from '../../../../shared/security/connection-errors.ts';
import { WAITING_BYTES_MAX } from '../../../settings/dispatch-settings.ts';
import { type AnswerRoom, ReceiveWindow } from '../flow-control.ts';
import { FrameReader } from '../frames/frame-reader.ts';
import {
  ControlFrames,
  type ErrorName,
  errorName,
  Http2Error,
  WINDOW_BYTES_DEFAULT,
  WINDOW_BYTES_LIMIT,
} from '../frames/frames.ts';
import {
  type Answers,
  type CallEvents,
  type ConnectionEvents,
  type GrpcCall,
  type GrpcCallConnection,
  type GrpcCallError,
  type RequestFields,
  RequestHeads,
  type ResponseHead,
  statusOfReset,
} from '../grpc/grpc-calls.ts';
import { type CallOwner, HeldAnswers, Http2Call } from '../grpc/http2-call.ts';
import type { MessageLimits } from '../grpc/message-reader.ts';
import { connectSocket, endsOf, type SocketEvents } from './connect-socket.ts';
import { ANSWER_HEADER_BYTES_MAX, IncomingFrames, type Session } from './incoming-frames.ts';
import { Keepalive, type KeepaliveSettings, type KeptAlive } from './keepalive.ts';
import { Outgoing, PeerSettings, SETTING, SendLine } from './outgoing.ts';

/** Largest frame that the server may send: larger than HTTP/2's 16 KiB, less work per byte. */
const FRAME_BYTES_MAX: number = 256 * 1024;

/** Messages that come in pieces at the same time, for which buffers are kept. */
const KEPT_BUFFERS = 8;

/** Larger ones are seldom, and would be held for the rest of the run. */
const KEPT_BUFFER_BYTES_MAX: number = 4 * 1024 * 1024;

/** Longest wait for the socket to take the last bytes of a connection that is closed. */
const CLOSE_MS = 500;

/** How a connection is made and kept. */
export interface Http2ConnectionSettings extends KeepaliveSettings {
  /** `host:port`. */
  readonly address: string;
  readonly security: ClientSecurity;
  readonly request: RequestFields;
  /** Largest message that the server may send. */
  readonly messageBytesMax: number;
  /** Window of this end for every stream and for the connection. */
  readonly receiveWindowBytes: number;
  /** Longest wait for TCP, TLS and the server's settings together, in ms. */
  readonly connectTimeoutMs: number;
}

/**
 * One connection (README.md has the picture):
 *
 *     connecting ──SETTINGS──► open ──GOAWAY──► draining ──last call over──► closed
 *          └───────────────────── socket closed, broken HTTP/2, close() ───► closed
 */
export class Http2Connection
  implements GrpcCallConnection, CallOwner, Session, SocketEvents, KeptAlive
{
  readonly #settings: Http2ConnectionSettings;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  readonly #peer = new PeerSettings();
  readonly #heads: RequestHeads;
  readonly #control = new ControlFrames();
  readonly #open = new Map<number, Http2Call>();
  /** Those that are open, and those of which the peer has heard nothing. */
  readonly #calls = new Set<Http2Call>();
  readonly #held = new HeldAnswers();
  readonly #line: SendLine;
  readonly #outgoing: Outgoing;
  readonly #reader: FrameReader;
  readonly #keepalive: Keepalive;
  readonly #limits: MessageLimits;
  readonly #windowBytes: number;
  readonly #connectTimer: NodeJS.Timeout;
  readonly #whenReady = new Deferred<void>();
  readonly #whenClosed = new Deferred<void>();
  #state: 'connecting' | 'open' | 'draining' | 'closed' = 'connecting';
  /** Why there are no new calls. */
  #reason = '';
  #hasAnswer = false;

  /** Connects at once. @throws MlperfError `ERR_CONFIG_INVALID` as {@link connectSocket}. */
  constructor(settings: Http2ConnectionSettings, events: ConnectionEvents, room: AnswerRoom) {
    this.#settings = settings;
    this.#events = events;
    this.#windowBytes = Math.max(
      WINDOW_BYTES_DEFAULT,
      Math.min(settings.receiveWindowBytes, WINDOW_BYTES_LIMIT),
    );
    this.#limits = {
      messageBytesMax: settings.messageBytesMax,
      buffers: new ReusedBuffers(KEPT_BUFFERS, KEPT_BUFFER_BYTES_MAX),
      room,
    };
    this.#heads = new RequestHeads(settings.request);
    this.#line = new SendLine(this.#peer, this.#heads, this.#open);
    const incoming = new IncomingFrames(this, this.#control, this.#windowBytes);
    this.#reader = new FrameReader(incoming, FRAME_BYTES_MAX);
    this.#keepalive = new Keepalive(settings, this);
    const { address, security, keepaliveTimeMs, connectTimeoutMs } = settings;
    this.#socket = connectSocket(address, security, keepaliveTimeMs, this);
    this.#outgoing = new Outgoing(this.#socket, this.#control, this.#line, (bytes) =>
      this.#events.onWritten(bytes),
    );
    this.#connectTimer = setTimeout(() => this.#lose('Deadline exceeded'), connectTimeoutMs);
    // Who does not wait for it hears by onClosed and by the ends of the calls.
    this.#whenReady.promise.catch(() => {});
  }

  get ready(): Promise<void> {
    return this.#whenReady.promise;
  }

  get hasRoom(): boolean {
    return this.#outgoing.waitingBytes < WAITING_BYTES_MAX;
  }

  get takesCall(): boolean {
    return this.#isTaking && this.#calls.size < this.#peer.callsMax;
  }

  get callCount(): number {
    return this.#calls.size;
  }

  get #isTaking(): boolean {
    return this.#state === 'open' || this.#state === 'connecting';
  }

  call(path: string, events: CallEvents, answers: Answers = 'many'): GrpcCall {
    const window = new ReceiveWindow(this.#windowBytes);
    const call = new Http2Call({ path, answers }, events, this, this.#limits, window);
    this.#calls.add(call);
    if (!this.#isTaking) this.#endSoon(call, status.UNAVAILABLE, this.#reason);
    else if (this.#calls.size >= this.#line.openableCount) this.#retire();
    return call;
  }

  async close(): Promise<void> {
    if (this.#state !== 'closed') {
      this.#control.goAway('NO_ERROR', '');
      this.#shut('the LoadGen node closed the connection');
      this.#whenReady.reject(this.#unreachable('it was closed before it was there'));
      for (const call of this.#calls) this.#endSoon(call, status.CANCELLED, this.#reason);
    }
    await this.#whenClosed.promise;
  }

  onSend(call: Http2Call, bytes: number): void {
    this.#outgoing.waitingBytes += bytes;
    if (call.streamId === 0 || call.sendWindow.bytes > 0 || call.unsent.bytes === 0) {
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
    this.#control.settings([
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, this.#windowBytes],
      [SETTING.maxFrameSize, FRAME_BYTES_MAX],
      [SETTING.maxHeaderListSize, ANSWER_HEADER_BYTES_MAX],
    ]);
    const more = this.#windowBytes - WINDOW_BYTES_DEFAULT;
    if (more > 0) this.#control.windowUpdate(0, more);
    this.#outgoing.begin();
  }

  onBytes(chunk: BorrowedBytes): void {
    if (this.#state === 'closed') return;
    this.#keepalive.onBytes();
    try {
      this.#reader.read(chunk);
      this.#held.keep((call, error) => this.onBrokenCall(call, error));
      if (!this.#control.isEmpty) this.#outgoing.plan();
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#control.goAway(error.code, error.message);
      const what = `Protocol error: the server breaks HTTP/2 (${error.code}): ${error.message}`;
      this.#lose(what);
    }
  }

  onClosed(details: string): void {
    if (this.#state !== 'closed') {
      const closed =
        this.#state === 'connecting' ? 'Socket closed' : 'Connection dropped: the server closed it';
      this.#lose(details === '' ? closed : details);
    }
    this.#whenClosed.resolve();
  }

  callOf(streamId: number): Http2Call | undefined {
    return this.#open.get(streamId);
  }

  hasOpened(streamId: number): boolean {
    return this.#line.hasOpened(streamId);
  }

  onSettings(chunk: BorrowedBytes, begin: number, end: number): void {
    const windowBytes = this.#peer.streamWindowBytes;
    const { callsMax } = this.#peer;
    this.#peer.apply(chunk, begin, end);
    this.#heads.setPeerTableBytesMax(this.#peer.headerTableBytes);
    this.#moveWindows(this.#peer.streamWindowBytes - windowBytes);
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

  onAnswer(head?: ResponseHead): void {
    this.#keepalive.onAnswer();
    if (head === undefined || this.#hasAnswer) return;
    this.#hasAnswer = true;
    const fields = head.fields.map(({ name, value }) => [name, value] as const);
    this.#events.onAccepted({
      loadgen: endsOf(this.#socket),
      responseHeaders: keptHeaders(fields).headers,
    });
  }

  onGoAway(lastStreamId: number, reason: string): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    const why = reason === '' ? '' : ` (${reason})`;
    this.#reason = `the server ends the connection${why}`;
    this.#state = 'draining';
    for (const call of this.#calls) {
      const isLost = call.streamId === 0 || call.streamId > lastStreamId;
      if (isLost) this.#end(call, status.UNAVAILABLE, this.#reason);
    }
    if (wasOpen) this.#events.onClosed(this.#reason);
    this.#shutIfDrained();
  }

  onWindowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) {
      if (!this.#line.window.add(bytes)) throw windowOverflow('the connection');
    } else {
      const call = this.#open.get(streamId) as Http2Call;
      if (!call.sendWindow.add(bytes)) throw windowOverflow('a call');
      if (call.hasFrame) this.#line.add(call);
    }
    this.#outgoing.plan();
  }

  onReset(call: Http2Call, errorCode: number): void {
    const details = `the server reset the call (${errorName(errorCode)})`;
    this.#end(call, statusOfReset(errorCode), details);
  }

  onEnd(call: Http2Call, code: number, details: string, endsStream: boolean): void {
    // Neither side needs the rest of the request, or of an answer that is not gRPC's.
    if (!call.isEndSent || !endsStream) this.#reset(call, 'CANCEL');
    this.#end(call, code, details);
  }

  onBrokenCall(call: Http2Call, error: GrpcCallError): void {
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

  /** The peer made the windows of all streams larger or smaller. */
  #moveWindows(bytes: number): void {
    if (bytes === 0) return;
    for (const call of this.#open.values()) {
      if (!call.sendWindow.add(bytes)) throw windowOverflow('a call');
      if (call.hasFrame && call.sendWindow.bytes > 0) this.#line.add(call);
    }
    this.#outgoing.plan();
  }

  #reset(call: Http2Call, code: ErrorName): void {
    if (call.streamId === 0) return;
    this.#control.rstStream(call.streamId, code);
    this.#outgoing.plan();
  }

  /** Takes a call out of everything. */
  #remove(call: Http2Call): void {
    this.#calls.delete(call);
    if (call.streamId !== 0) this.#open.delete(call.streamId);
    this.#outgoing.waitingBytes -= call.close();
    // Another one may be opened in its place.
    if (this.#line.hasCalls) this.#outgoing.plan();
    if (this.#state === 'draining') this.#shutIfDrained();
  }

  #end(call: Http2Call, code: number, details: string): void {
    if (call.isOver) return;
    this.#remove(call);
    call.tellEnd(code, details);
  }

  /** As {@link #end}, from inside a call of the application. */
  #endSoon(call: Http2Call, code: number, details: string): void {
    this.#remove(call);
    queueMicrotask(() => call.tellEnd(code, details));
  }

  /** The connection is gone, or is to go: everything ends. */
  #lose(details: string): void {
    if (this.#state === 'closed') return;
    const wasConnecting = this.#state === 'connecting';
    const wasOpen = this.#state === 'open';
    this.#shut(details);
    if (wasConnecting) this.#whenReady.reject(this.#unreachable(details));
    for (const call of this.#calls) this.#end(call, status.UNAVAILABLE, details);
    if (wasOpen) this.#events.onClosed(details);
  }

  /** The last number for a call is taken: what is there finishes, and no more is taken. */
  #retire(): void {
    this.#state = 'draining';
    this.#reason =
      'no fault of the server: the LoadGen node has used up the 2^30 numbers that HTTP/2 has for the calls of a ' +
      'connection; calls spread over more of them (--connections), or go as messages of a stream (--oip-method stream)';
    queueMicrotask(() => this.#events.onClosed(this.#reason));
  }

  #shutIfDrained(): void {
    if (this.#state === 'draining' && this.#calls.size === 0) this.#shut(this.#reason);
  }

  /** Sends the control frames that are there, and closes the socket. */
  #shut(reason: string): void {
    this.#state = 'closed';
    this.#reason = reason;
    clearTimeout(this.#connectTimer);
    this.#keepalive.stop();
    this.#outgoing.end(CLOSE_MS);
  }

  #unreachable(details: string): MlperfError {
    const { address, security } = this.#settings;
    const message = unreachableMessage(address, details, security, 'inference server');
    return sutUnreachable(message);
  }
}

function windowOverflow(whose: string): Http2Error {
  return new Http2Error('FLOW_CONTROL_ERROR', `the window of ${whose} grew beyond 2^31 - 1`);
}
