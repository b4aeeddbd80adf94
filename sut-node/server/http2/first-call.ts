import type { Socket } from 'node:net';
import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { SendWindow } from '../../../shared/http2/flow-control.ts';
import { FrameReader } from '../../../shared/http2/frame-reader.ts';
import {
  ControlFrames,
  FLAG,
  FRAME_BYTES_DEFAULT,
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  Http2Error,
  PREFACE,
  WINDOW_BYTES_DEFAULT,
} from '../../../shared/http2/frames.ts';
import { HpackDecoder } from '../../../shared/http2/hpack.ts';
import {
  type FramedCall,
  IncomingFrames,
  type Session,
} from '../../../shared/http2/incoming-frames.ts';
import { Outgoing, PeerSettings, SETTING } from '../../../shared/http2/outgoing.ts';
import { CALL_HEADERS_BYTES_MAX, CALLS_PER_CONNECTION_MAX } from '../limits/node-limits.ts';
import { readInto } from './onread-socket.ts';
import {
  BROKEN_CLOSE_MS,
  type CallService,
  FRAME_BYTES_MAX,
  HEADER_LIST_BYTES_MAX,
  ServerConnection,
  TABLE_BYTES,
} from './server-connection.ts';

/**
 * Most bytes that a peer can send before it has read this end's SETTINGS: HTTP/2's first window,
 * and frames around it. A peer that sends more without acknowledging them is passed to grpc-js
 * unchanged.
 */
const BEFORE_ANSWER_BYTES_MAX: number = 256 * 1024;

/** No call is answered before it is decided who serves the connection. */
const NO_CALLS = { hasCalls: false, fill: () => {} };

/** The two ways to serve a connection. */
export interface ConnectionWays {
  readonly service: CallService & { isOwn(path: string): boolean };
  /**
   * Passes a connection to grpc-js; its peer already has the acknowledgements of its first
   * `settingsAnswered` SETTINGS.
   */
  inject(socket: Socket, settingsAnswered: number): void;
  onConnection(connection: ServerConnection): void;
}

/** SETTINGS of this end, the same for both ways to serve a connection. */
export function serverSettings(windowBytes: number) {
  return {
    maxConcurrentStreams: CALLS_PER_CONNECTION_MAX,
    initialWindowSize: windowBytes,
    maxFrameSize: FRAME_BYTES_MAX,
    maxHeaderListSize: CALL_HEADERS_BYTES_MAX,
  };
}

/**
 * Serves a connection by what its first call needs: queries and link tests here, all others by
 * grpc-js.
 *
 *     looking ──first call is Infer or TestLink──► ServerConnection
 *        ├──any other, and the answer to the settings came──► grpc-js
 *        └──broken HTTP/2──► GOAWAY, closed
 *
 * Some clients send no call before they have the settings of the server, or the answers to their
 * SETTINGS and PING (RFC 9113, 6.5.3 and 6.7: at once), so this end speaks first, and answers.
 * Whoever serves the connection then sends settings with its windows and frames, and answers none
 * of those frames again: it does not get the PINGs, and leaves as many answers to SETTINGS out as
 * were given. The peer's answer to the first settings is taken out as well, since nghttp2 did not
 * send them. Window and frames stay those of HTTP/2 until then: nghttp2 refuses larger ones until
 * the peer has answered to settings of its own.
 */
export function serveByFirstCall(socket: Socket, ways: ConnectionWays): void {
  let isBroken = false;
  const control = new ControlFrames();
  const look = new FirstLook(control);
  const onChunk = (chunk: Buffer): void => {
    if (isBroken) return;
    look.add(chunk);
    if (look.path !== undefined && ways.service.isOwn(look.path)) {
      outgoing.stop();
      const own = new ServerConnection(socket, ways.service, look.settingsAnswered);
      ways.onConnection(own);
      own.read(look.bytes);
      socket.off('data', onChunk);
      readInto(
        socket,
        (bytes) => own.read(bytes),
        () => own.placeForNext(),
      );
      return;
    }
    const { broken } = look;
    if (broken !== undefined) {
      isBroken = true;
      control.goAway(broken.code, broken.message);
      outgoing.end(BROKEN_CLOSE_MS);
      return;
    }
    if (!look.isEnough) {
      outgoing.plan();
      return;
    }
    outgoing.stop();
    socket.off('data', onChunk);
    socket.pause();
    setImmediate(() => {
      socket.unshift(look.bytes);
      ways.inject(socket, look.settingsAnswered);
    });
  };
  socket.on('data', onChunk);
  control.settings([
    [SETTING.maxConcurrentStreams, CALLS_PER_CONNECTION_MAX],
    [SETTING.maxHeaderListSize, CALL_HEADERS_BYTES_MAX],
  ]);
  const outgoing = new Outgoing(socket, control, NO_CALLS, () => {});
  outgoing.begin('server');
}

/**
 * The first bytes of a connection, until it is decided who serves it, without the frames already
 * handled.
 */
class FirstLook {
  /**
   * Grows by doubling: a peer that sends single bytes must not make this end copy everything each
   * time.
   */
  #memory: Buffer = Buffer.allocUnsafe(4096);
  #length = 0;
  readonly #reader: FrameReader;
  /** Path of the first call. */
  path: string | undefined;
  /** HTTP/2 violation of the peer after its preface. */
  broken: Http2Error | undefined;
  /** SETTINGS frames of the peer among the bytes, each acknowledged. */
  settingsAnswered = 0;
  /** Offset of the first unread frame. */
  #at = PREFACE.length;
  /** The peer acknowledged this end's SETTINGS. */
  #hasAnswer = false;
  /** Not HTTP/2: grpc-js reports it. */
  #isOdd = false;

  /** @param control Receives the replies. */
  constructor(control: ControlFrames) {
    const frames = new IncomingFrames(
      new FirstFrames((path) => {
        this.path ??= path;
      }),
      control,
      WINDOW_BYTES_DEFAULT,
    );
    this.#reader = new FrameReader(frames, FRAME_BYTES_DEFAULT);
  }

  add(chunk: BorrowedBytes): void {
    this.#append(chunk);
    const { bytes } = this;
    if (!PREFACE.startsWith(bytes.toString('latin1', 0, PREFACE.length))) this.#isOdd = true;
    if (this.#isOdd) return;
    try {
      this.#readFrames(bytes);
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.broken = error;
    }
  }

  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** True once the connection can be handed over. */
  get isEnough(): boolean {
    const hasAll = this.path !== undefined && this.#hasAnswer;
    return hasAll || this.#isOdd || this.bytes.length > BEFORE_ANSWER_BYTES_MAX;
  }

  #append(chunk: BorrowedBytes): void {
    const length = this.#length + chunk.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#memory.length));
      larger.set(this.bytes);
      this.#memory = larger;
    }
    this.#memory.set(readInPlace(chunk), this.#length);
    this.#length = length;
  }

  /** Reads the complete frames, and the header of the next one. @throws Http2Error */
  #readFrames(bytes: Buffer): void {
    let at = this.#at;
    try {
      while (at + FRAME_HEAD_BYTES <= bytes.length) {
        const length = bytes.readUIntBE(at, 3);
        if (length > FRAME_BYTES_DEFAULT) {
          const what = `a frame of ${length} bytes where ${FRAME_BYTES_DEFAULT} are allowed`;
          throw new Http2Error('FRAME_SIZE_ERROR', what);
        }
        const end = at + FRAME_HEAD_BYTES + length;
        if (end > bytes.length) break;
        const frame = bytes.subarray(at, end);
        this.#reader.read(frame);
        if (!this.#isDone(frame)) {
          bytes.copyWithin(this.#at, at, end);
          this.#at += frame.length;
        }
        at = end;
      }
    } finally {
      bytes.copyWithin(this.#at, at);
      this.#length -= at - this.#at;
    }
  }

  /** True for a frame that is fully handled here. */
  #isDone(frame: Buffer): boolean {
    const { 3: type, 4: flags = 0 } = frame;
    if (type !== FRAME_TYPE.settings) return type === FRAME_TYPE.ping;
    if ((flags & FLAG.ack) === 0) {
      this.settingsAnswered += 1;
      return false;
    }
    const isFirstAnswer = !this.#hasAnswer;
    this.#hasAnswer = true;
    return isFirstAnswer;
  }
}

/**
 * First frames of a connection: decides whether they are HTTP/2, and the path of the first call.
 */
class FirstFrames implements Session<FramedCall> {
  readonly #peer = new PeerSettings('client');
  readonly #sendWindow = new SendWindow(WINDOW_BYTES_DEFAULT);
  readonly #onPath: (path: string) => void;
  #lastStreamId = 0;

  constructor(onPath: (path: string) => void) {
    this.#onPath = onPath;
  }

  onHeaders(streamId: number): void {
    if (streamId % 2 === 1) return;
    const what = `HEADERS of stream ${streamId}, which no client opens`;
    throw new Http2Error('PROTOCOL_ERROR', what);
  }

  onBlock(
    streamId: number,
    _endsStream: boolean,
    block: BorrowedBytes,
    begin: number,
    end: number,
  ): void {
    if (this.#lastStreamId === 0) {
      const fields = new HpackDecoder(TABLE_BYTES, HEADER_LIST_BYTES_MAX).decode(block, begin, end);
      this.#onPath(fields.find(({ name }) => name === ':path')?.value ?? '');
    }
    this.#lastStreamId = Math.max(streamId, this.#lastStreamId);
  }

  /** No call is served yet. */
  callOf(): undefined {}

  hasOpened(streamId: number): boolean {
    return streamId % 2 === 1 && streamId <= this.#lastStreamId;
  }

  onSettings(chunk: BorrowedBytes, begin: number, end: number): void {
    this.#peer.apply(chunk, begin, end);
  }

  onContents(): void {}
  onContentsEnd(): void {}
  onPong(): void {}
  onProgress(): void {}
  onGoAway(): void {}

  onWindowUpdate(streamId: number, bytes: number): void {
    if (streamId === 0) this.#sendWindow.add(bytes, 'the connection');
  }

  onReset(): void {}
}
