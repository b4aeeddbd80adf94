import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { overwriteInTests, ReusedBuffers } from '../../../shared/base/bytes/borrowed-bytes.ts';
import { ERROR_CODE, FLAG, FRAME_TYPE, PREFACE } from '../../../shared/http2/frames.ts';
import { HpackDecoder, HpackEncoder } from '../../../shared/http2/hpack.ts';
import { INFER_METHOD } from '../../../shared/wire/sut-contract.ts';
import { MessageMemory, MessagePool } from '../../../sut-node/server/connection/message-memory.ts';
import type { OpenStream, StreamPeer } from '../../../sut-node/server/connection/stream-call.ts';
import type { GateRules } from '../../../sut-node/server/guard/call-gate.ts';
import type { CallRule } from '../../../sut-node/server/guard/call-rules.ts';
import { NativeCalls } from '../../../sut-node/server/http2/native-calls.ts';
import { ServerConnection } from '../../../sut-node/server/http2/server-connection.ts';
import { type ServerCallEnd, STREAM_OK } from '../../../sut-node/server/limits/call-end.ts';
import { frame, type RawFrame } from '../oip-server/raw-http2-peer.ts';

/** A server's socket without a network. */
export class FakeSocket extends EventEmitter {
  readonly remoteAddress = '192.0.2.1';
  readonly remotePort = 1;
  readonly localAddress = '192.0.2.2';
  readonly localPort = 2;
  /** False: the peer reads nothing. */
  takes = true;
  destroyed = false;
  isEnded = false;
  isPaused_ = false;
  /** Writes behind the end, which node:net answers with an error. */
  lateWrites = 0;
  /** The bytes that were written, and those put back to be read again. */
  readonly written: Uint8Array[] = [];
  readonly unshifted: Buffer[] = [];
  #waiting: { readonly bytes: number; readonly taken: () => void }[] = [];

  get writableLength(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  write(bytes: Uint8Array | string, taken: () => void = () => {}): boolean {
    if (this.isEnded || this.destroyed) {
      this.lateWrites += 1;
      return false;
    }
    this.written.push(new Uint8Array(Buffer.from(bytes)));
    this.#waiting.push({ bytes: bytes.length, taken });
    if (this.takes) queueMicrotask(() => this.take());
    return true;
  }

  /** The peer reads what waits. */
  take(): void {
    for (const { taken } of this.#waiting.splice(0)) taken();
    if (this.isEnded) this.destroy();
  }

  destroySoon(): void {
    this.isEnded = true;
    if (this.#waiting.length === 0) this.destroy();
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.isEnded = true;
    queueMicrotask(() => this.emit('close'));
  }

  pause(): void {
    this.isPaused_ = true;
  }

  isPaused(): boolean {
    return this.isPaused_;
  }

  unshift(bytes: Buffer): void {
    this.unshifted.push(Buffer.from(bytes));
  }

  cork(): void {}
  uncork(): void {}

  get asSocket(): Socket {
    return this as unknown as Socket;
  }
}

/** Counts the memory of messages that nobody has released. */
export class CountedPool extends MessagePool {
  readonly #buffers = new ReusedBuffers(2);
  held = 0;
  heldBytes = 0;
  bytesMax = 0;

  override take(bytes: number): MessageMemory {
    this.held += 1;
    this.heldBytes += bytes;
    this.bytesMax = Math.max(this.bytesMax, this.heldBytes);
    const memory = new MessageMemory(this.#buffers, bytes);
    const release = memory.release.bind(memory);
    let isReleased = false;
    memory.release = () => {
      if (isReleased) throw new Error('memory was released twice');
      isReleased = true;
      this.held -= 1;
      this.heldBytes -= bytes;
      release();
    };
    return memory;
  }
}

/** Events of a call, as its handler saw them. */
export class HandledCall {
  readonly messages: Buffer[] = [];
  readonly peer: Pick<StreamPeer, 'write' | 'end'>;
  halfClosedCount = 0;
  drainedCount = 0;
  cancelledCount = 0;
  brokenOff: ServerCallEnd | undefined;

  constructor(peer: Pick<StreamPeer, 'write' | 'end'>) {
    this.peer = peer;
  }
}

export interface ServerSceneOptions {
  readonly messageBytesMax?: number;
  readonly windowBytes?: number;
  /** Answers each message by itself, and the end by OK; false: the test answers. */
  readonly echoes?: boolean;
  readonly rule?: CallRule;
}

class CountedCalls extends NativeCalls {
  override readonly pool = new CountedPool();
}

/** Serves Infer by rules without token and without bounds, and keeps what it is told. */
export function testCalls(options: ServerSceneOptions, handled: HandledCall[]): CountedCalls {
  const { messageBytesMax = 1024 * 1024, windowBytes = 1024 * 1024, echoes = true } = options;
  const infer: OpenStream = (peer) => {
    const call = new HandledCall(peer);
    handled.push(call);
    const handler = {
      message: (message: Buffer, memory?: MessageMemory): void => {
        const own = Buffer.from(message);
        call.messages.push(own);
        memory?.release();
        if (echoes) peer.write(own);
      },
      halfClosed: (): void => {
        call.halfClosedCount += 1;
        if (echoes) peer.end(STREAM_OK);
      },
      drained: (): void => {
        call.drainedCount += 1;
      },
      cancelled: (): void => {
        call.cancelledCount += 1;
      },
      breakOff: (end: ServerCallEnd): void => {
        call.brokenOff = end;
        peer.end(end);
      },
    };
    return { handler, receiveBytesMax: messageBytesMax };
  };
  const rules = {
    token: undefined,
    firstMessageMs: 60_000,
    guard: { beginCall: () => () => {}, touch: () => {} },
    partMessageBytesMax: messageBytesMax,
    openCalls: new Map(),
    ruleOf: () => options.rule ?? {},
    onRefused: () => {},
  } as unknown as GateRules;
  return new CountedCalls(rules, { infer, testLink: infer }, windowBytes);
}

/** A connection of a server and what it wrote. */
export class ServerScene {
  readonly socket: FakeSocket = new FakeSocket();
  readonly handled: HandledCall[] = [];
  readonly connection: ServerConnection;
  readonly pool: CountedPool;
  closedCount = 0;

  constructor(options: ServerSceneOptions = {}) {
    const calls = testCalls(options, this.handled);
    this.pool = calls.pool;
    this.connection = new ServerConnection(this.socket.asSocket, calls);
    void this.connection.closed.then(() => {
      this.closedCount += 1;
    });
  }

  /** Reads bytes as a socket does: the buffer is another's as soon as they were read. */
  async send(...chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      const borrowed = new Uint8Array(chunk);
      this.connection.read(borrowed);
      overwriteInTests(borrowed);
      await turns();
    }
  }

  /** Frames that were written up to now. */
  frames(): RawFrame[] {
    return framesIn(Buffer.concat(this.socket.written));
  }

  /** Error code of the GOAWAY that says that the peer broke HTTP/2, by its name. */
  get connectionError(): string | undefined {
    const goAway = this.frames().find(
      ({ type, payload }) => type === FRAME_TYPE.goAway && payload.readUInt32BE(4) !== 0,
    );
    return goAway === undefined ? undefined : codeName(goAway.payload.readUInt32BE(4));
  }

  /** Streams that were reset with an error, by its name. */
  get streamErrors(): string[] {
    return this.frames()
      .filter(({ type, payload }) => type === FRAME_TYPE.rstStream && payload.readUInt32BE(0) !== 0)
      .map(({ payload }) => codeName(payload.readUInt32BE(0)));
  }

  /** Headers of the answers by stream, in their order. */
  headers(): { readonly streamId: number; readonly fields: Record<string, string> }[] {
    const decoder = new HpackDecoder(4096, 65_536);
    return this.frames()
      .filter(({ type }) => type === FRAME_TYPE.headers)
      .map(({ streamId, payload }) => ({
        streamId,
        fields: Object.fromEntries(decoder.decode(payload).map((one) => [one.name, one.value])),
      }));
  }

  /** Status of a call; undefined while it has none. */
  statusOf(streamId: number): string | undefined {
    return this.headers().find(
      (one) => one.streamId === streamId && one.fields['grpc-status'] !== undefined,
    )?.fields['grpc-status'];
  }

  /** Contents of the answer on a stream. */
  contentsOf(streamId: number): Buffer {
    return Buffer.concat(
      this.frames()
        .filter((one) => one.type === FRAME_TYPE.data && one.streamId === streamId)
        .map(({ payload }) => payload),
    );
  }

  get pongs(): number {
    return this.frames().filter(
      ({ type, flags }) => type === FRAME_TYPE.ping && (flags & FLAG.ack) !== 0,
    ).length;
  }
}

/** Lets what was planned for the end of the turn happen. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
}

export function framesIn(bytes: Buffer): RawFrame[] {
  const frames: RawFrame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    frames.push({
      type: bytes[at + 3] as number,
      flags: bytes[at + 4] as number,
      streamId: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return frames;
}

function codeName(code: number): string {
  return Object.entries(ERROR_CODE).find(([, value]) => value === code)?.[0] ?? `${code}`;
}

/** Headers of a call of Infer. */
export const INFER_HEADERS: Readonly<Record<string, string>> = {
  ':method': 'POST',
  ':scheme': 'http',
  ':path': INFER_METHOD.path,
  ':authority': 'node',
  'content-type': 'application/grpc+proto',
  te: 'trailers',
};

/** A block that depends on no other, and changes no table. */
export function blockOf(
  headers: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
): Buffer {
  const entries = Array.isArray(headers) ? headers : Object.entries(headers);
  const fields = entries.map(([name, value]: [string, string]) => ({ name, value }));
  // Without what says that the table is empty.
  return new HpackEncoder(0).encode(fields).subarray(1);
}

export const INFER_BLOCK: Buffer = blockOf(INFER_HEADERS);

/** HEADERS of a call of Infer. */
export function inferHead(streamId: number, flags: number = FLAG.endHeaders): Buffer {
  return frame(FRAME_TYPE.headers, flags, streamId, INFER_BLOCK);
}

/** The first bytes of each client. */
export const HELLO: Buffer = Buffer.concat([
  Buffer.from(PREFACE),
  frame(FRAME_TYPE.settings, 0, 0),
]);

export const PING: Buffer = frame(FRAME_TYPE.ping, 0, 0, Buffer.from('anybody?'));
