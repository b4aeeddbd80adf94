import type { Socket } from 'node:net';
import { type BorrowedBytes, readInPlace } from '../../../shared/base/bytes/borrowed-bytes.ts';
import {
  BATCH_BUFFER_BYTES,
  ControlFrames,
  FLAG,
  FRAME_HEAD_BYTES,
  FRAME_TYPE,
  FrameBatch,
  Http2Error,
  PREFACE,
} from '../../../shared/http2/frames.ts';
import { HpackDecoder } from '../../../shared/http2/hpack.ts';
import { HeaderBlocks } from '../../../shared/http2/incoming-frames.ts';
import { SETTING } from '../../../shared/http2/outgoing.ts';
import { CALL_HEADERS_BYTES_MAX, CALLS_PER_CONNECTION_MAX } from '../limits/node-limits.ts';
import { readInto } from './onread-socket.ts';
import {
  type CallService,
  FRAME_BYTES_MAX,
  HEADER_LIST_BYTES_MAX,
  ServerConnection,
  TABLE_BYTES,
} from './server-connection.ts';

/**
 * Bytes that a peer can send before it has read this end's settings: HTTP/2's first window of contents, and frames
 * around it. Who sends more than that without an answer to the settings is left to grpc-js as it is.
 */
const BEFORE_ANSWER_BYTES_MAX: number = 256 * 1024;

/** Ways to serve a connection. */
export interface ConnectionWays {
  readonly service: CallService & { isOwn(path: string): boolean };
  /** Hands a connection to grpc-js. */
  inject(socket: Socket): void;
  onConnection(connection: ServerConnection): void;
}

/** The settings of this end, as values, the same for both ways to serve a connection. */
export function serverSettings(windowBytes: number) {
  return {
    maxConcurrentStreams: CALLS_PER_CONNECTION_MAX,
    initialWindowSize: windowBytes,
    maxFrameSize: FRAME_BYTES_MAX,
    maxHeaderListSize: CALL_HEADERS_BYTES_MAX,
  };
}

/**
 * The first settings of this end. Window and frames stay those of HTTP/2 until it is known who serves the connection:
 * nghttp2 refuses larger ones until the peer has answered to settings of its own.
 */
function firstSettings(): Buffer {
  const control = new ControlFrames();
  control.settings([
    [SETTING.maxConcurrentStreams, CALLS_PER_CONNECTION_MAX],
    [SETTING.maxHeaderListSize, CALL_HEADERS_BYTES_MAX],
  ]);
  const batch = new FrameBatch(new ArrayBuffer(BATCH_BUFFER_BYTES));
  control.fill(batch);
  return Buffer.concat(batch.segments());
}

/**
 * Serves a connection by what its first call needs: queries and link tests here, all others by grpc-js.
 *
 *     looking ──first call is Infer or TestLink──► ServerConnection
 *        └──any other, and the answer to the settings came──► grpc-js
 *
 * Some clients send no call before they have the settings of the server, so this end speaks first. Whoever serves the
 * connection then sends settings with its windows and frames. For grpc-js the peer's answer to the first settings is
 * taken out, since nghttp2 did not send them.
 * @returns The socket that stands for the connection from now on.
 */
export function serveByFirstCall(accepted: Socket, ways: ConnectionWays): Socket {
  let own: ServerConnection | undefined;
  const look = new FirstLook();
  const { socket, handOver } = readInto(
    accepted,
    (chunk) => {
      if (own !== undefined) {
        own.read(chunk);
        return true;
      }
      look.add(chunk);
      if (look.path !== undefined && ways.service.isOwn(look.path)) {
        own = new ServerConnection(socket, ways.service);
        ways.onConnection(own);
        own.read(look.bytes);
        return true;
      }
      if (!look.isEnough) return true;
      handOver();
      setImmediate(() => {
        socket.pause();
        socket.unshift(look.withoutAnswer());
        ways.inject(socket);
      });
      return false;
    },
    () => own?.placeForNext(),
  );
  socket.write(firstSettings());
  return socket;
}

/** The first bytes of a connection, until it is known who serves it. */
class FirstLook {
  /** Grows twofold: a peer that sends single bytes must not make this end copy all of them each time. */
  #memory: Buffer = Buffer.allocUnsafe(4096);
  #length = 0;
  readonly #blocks = new HeaderBlocks({
    onBlock: (_streamId, _endsStream, block, begin, end) => this.#lookAtBlock(block, begin, end),
  });
  /** Path of the first call. */
  path: string | undefined;
  #at = PREFACE.length;
  /** Where the answer to the settings of this end lies; -1: it has not come. */
  #answerAt = -1;
  /** It is no HTTP/2, or not as clients of gRPC speak it: grpc-js says what is wrong. */
  #isOdd = false;

  add(chunk: BorrowedBytes): void {
    this.#append(chunk);
    const { bytes } = this;
    if (!PREFACE.startsWith(bytes.toString('latin1', 0, PREFACE.length))) this.#isOdd = true;
    while (!this.#isOdd && this.#at + FRAME_HEAD_BYTES <= bytes.length) {
      const end = this.#at + FRAME_HEAD_BYTES + bytes.readUIntBE(this.#at, 3);
      if (end > bytes.length) break;
      this.#lookAt(bytes.subarray(this.#at, end));
      this.#at = end;
    }
  }

  get bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  /** True when the connection can be handed over. */
  get isEnough(): boolean {
    const hasAll = this.path !== undefined && this.#answerAt >= 0;
    return hasAll || this.#isOdd || this.bytes.length > BEFORE_ANSWER_BYTES_MAX;
  }

  /** The bytes without the answer to the settings of this end. */
  withoutAnswer(): Buffer {
    const at = this.#answerAt;
    if (at < 0) return this.bytes;
    return Buffer.concat([this.bytes.subarray(0, at), this.bytes.subarray(at + FRAME_HEAD_BYTES)]);
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

  #lookAt(frame: Buffer): void {
    const type = frame[3] as number;
    const flags = frame[4] as number;
    if (type === FRAME_TYPE.settings && (flags & FLAG.ack) !== 0) {
      if (frame.length > FRAME_HEAD_BYTES) this.#isOdd = true;
      else if (this.#answerAt < 0) this.#answerAt = this.#at;
    } else if (this.path === undefined) {
      this.#lookForCall(frame, type, flags);
    }
  }

  #lookForCall(frame: Buffer, type: number, flags: number): void {
    const streamId = frame.readUInt32BE(5) & 0x7fffffff;
    const { openStreamId } = this.#blocks;
    const isRest = type === FRAME_TYPE.continuation;
    if (isRest ? streamId === 0 || streamId !== openStreamId : openStreamId !== 0) {
      this.#isOdd = true;
      return;
    }
    try {
      if (isRest) this.#blocks.onContinuation(flags, frame, FRAME_HEAD_BYTES, frame.length);
      else if (type === FRAME_TYPE.headers) {
        this.#blocks.onHeaders(flags, streamId, frame, FRAME_HEAD_BYTES, frame.length);
      }
    } catch (error) {
      if (!(error instanceof Http2Error)) throw error;
      this.#isOdd = true;
    }
  }

  #lookAtBlock(block: BorrowedBytes, begin: number, end: number): void {
    const fields = new HpackDecoder(TABLE_BYTES, HEADER_LIST_BYTES_MAX).decode(block, begin, end);
    this.path = fields.find(({ name }) => name === ':path')?.value ?? '';
  }
}
