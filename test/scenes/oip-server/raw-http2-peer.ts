import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import { type ConnectionSettings, connectGrpc } from '../../../qdl/http2/connect-grpc.ts';
import type {
  CallEvents,
  ConnectionEvents,
  GrpcCall,
  GrpcCallConnection,
} from '../../../qdl/http2/grpc-calls.ts';
import { type BorrowedBytes, copyOf } from '../../../shared/base/bytes/borrowed-bytes.ts';
import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import { FLAG, FRAME_HEAD_BYTES, FRAME_TYPE, PREFACE } from '../../../shared/http2/frames.ts';
import { HpackDecoder, HpackEncoder } from '../../../shared/http2/hpack.ts';
import { NO_SECURITY } from '../../../shared/security/client-security.ts';

/** Headers of an answer of gRPC. */
export const HEAD = { ':status': '200', 'content-type': 'application/grpc' };

/** Numbers of HTTP/2's settings. */
export const SETTING = { maxConcurrentStreams: 3, initialWindowSize: 4, maxFrameSize: 5 };

/** A frame as it stands on the wire. */
export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** Bytes of a frame. */
export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId, 5);
  return Buffer.concat([head, payload]);
}

/** Payload of SETTINGS. */
export function settingsOf(values: Readonly<Record<number, number>>): Buffer {
  return Buffer.concat(
    Object.entries(values).map(([id, value]) => {
      const entry = Buffer.alloc(6);
      entry.writeUInt16BE(Number(id));
      entry.writeUInt32BE(value, 2);
      return entry;
    }),
  );
}

/** Four bytes, most significant first. */
export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A message with gRPC's head. */
export function grpcMessage(bytes: Uint8Array, flag = 0): Buffer {
  return Buffer.concat([Buffer.of(flag), word(bytes.length), bytes]);
}

/** One end of an HTTP/2 connection on a socket, frame by frame. */
export class Http2Link {
  readonly #socket: Socket;
  readonly #encoder = new HpackEncoder();
  readonly #decoder = new HpackDecoder(4096, 65_536);
  #bytes: Buffer = Buffer.alloc(0);
  #hasPreface = false;

  /** @param onFrame Called for each frame behind the client's preface. */
  constructor(socket: Socket, onFrame: (frame: RawFrame) => void) {
    this.#socket = socket;
    socket.on('data', (bytes) => this.#read(bytes, onFrame));
    socket.on('error', () => {});
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  send(type: number, flags: number, streamId: number, payload?: Uint8Array): void {
    this.write(frame(type, flags, streamId, payload));
  }

  /** The frame of a header block; blocks must go out in the order in which they are made. */
  headers(streamId: number, headers: Readonly<Record<string, string>>, isEnd = false): Buffer {
    const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const flags = FLAG.endHeaders | (isEnd ? FLAG.endStream : 0);
    return frame(FRAME_TYPE.headers, flags, streamId, this.#encoder.encode(fields));
  }

  /** The headers of a request, which must be requested in the order of the HEADERS frames. */
  headersOf({ payload }: RawFrame): Record<string, string> {
    const fields = this.#decoder.decode(payload);
    return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  }

  #read(bytes: Buffer, onFrame: (frame: RawFrame) => void): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    if (!this.#hasPreface) {
      if (this.#bytes.length < PREFACE.length) return;
      // Anything else is TLS, which is not read.
      if (this.#bytes.toString('latin1', 0, PREFACE.length) !== PREFACE) return;
      this.#hasPreface = true;
      this.#bytes = this.#bytes.subarray(PREFACE.length);
    }
    while (this.#bytes.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < end) return;
      const payload = this.#bytes.subarray(FRAME_HEAD_BYTES, end);
      const [type, flags] = [this.#bytes[3] as number, this.#bytes[4] as number];
      const streamId = this.#bytes.readUInt32BE(5);
      this.#bytes = this.#bytes.subarray(end);
      onFrame({ type, flags, streamId, payload });
    }
  }
}

/** Listens on a free port of loopback. @returns Its address. */
export async function listenTcp(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * A server that does nothing but what a test tells it, frame by frame. It sends on its newest
 * connection.
 */
export class RawHttp2Peer {
  readonly frames: RawFrame[] = [];
  /** Bytes of DATA by stream. */
  readonly dataBytes = new Map<number, number>();
  address = '';
  isClosed = false;
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  #link: Http2Link | undefined;

  private constructor(onConnection: (peer: RawHttp2Peer) => void) {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.push(socket);
      this.#link = new Http2Link(socket, (one) => {
        this.frames.push(one);
        if (one.type !== FRAME_TYPE.data) return;
        const before = this.dataBytes.get(one.streamId) ?? 0;
        this.dataBytes.set(one.streamId, before + one.payload.length);
      });
      socket.on('close', () => {
        this.isClosed = true;
      });
      onConnection(this);
    });
  }

  /** @param settings Sent at once; undefined: nothing is. */
  static async start(
    settings: Readonly<Record<number, number>> | undefined = {},
  ): Promise<RawHttp2Peer> {
    return await RawHttp2Peer.startWith((peer) =>
      peer.send(FRAME_TYPE.settings, 0, 0, settingsOf(settings)),
    );
  }

  static async startWith(onConnection: (peer: RawHttp2Peer) => void): Promise<RawHttp2Peer> {
    const peer = new RawHttp2Peer(onConnection);
    peer.address = await listenTcp(peer.#server);
    return peer;
  }

  send(type: number, flags: number, streamId: number, payload?: Uint8Array): void {
    this.#link?.send(type, flags, streamId, payload);
  }

  write(bytes: Uint8Array): void {
    this.#link?.write(bytes);
  }

  /** Sends a header block. */
  sendHeaders(streamId: number, headers: Readonly<Record<string, string>>, isEnd = false): void {
    if (this.#link !== undefined) this.write(this.#link.headers(streamId, headers, isEnd));
  }

  /** A whole answer of gRPC. */
  answer(streamId: number, message: Uint8Array): void {
    this.sendHeaders(streamId, HEAD);
    this.send(FRAME_TYPE.data, 0, streamId, grpcMessage(message));
    this.sendHeaders(streamId, { 'grpc-status': '0' }, true);
  }

  headersOf(request: RawFrame): Record<string, string> | undefined {
    return this.#link?.headersOf(request);
  }

  /** The frame of that type and number among those of its type, once it is there. */
  async frame(type: number, number = 0): Promise<RawFrame> {
    const ofType = (): RawFrame[] => this.frames.filter((one) => one.type === type);
    await this.until(() => ofType().length > number, `frame ${number} of type ${type}`);
    return ofType()[number] as RawFrame;
  }

  /** Waits until something holds; it must within half a minute. */
  async until(holds: () => boolean, what: string): Promise<void> {
    await vi.waitUntil(holds, { timeout: 30_000, interval: 2 }).catch(() => {
      throw new Error(`not seen: ${what}`);
    });
  }

  /** Ends all connections as a crash does. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Closes its sides once everything is sent. */
  end(): void {
    for (const socket of this.#sockets) socket.end();
  }

  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Keeps what a call reports. */
export class RecordedCall implements CallEvents {
  readonly messages: Buffer[] = [];
  code: number | undefined;
  details = '';
  endCount = 0;
  onFirst: () => void = () => {};
  readonly ended: Promise<RecordedCall>;
  #resolve: (call: RecordedCall) => void = () => {};

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  onMessage(_call: GrpcCall, message: BorrowedBytes): void {
    this.messages.push(Buffer.from(copyOf(message)));
    this.onFirst();
  }

  onEnd(_call: GrpcCall, code: number, details: string): void {
    this.endCount += 1;
    this.code = code;
    this.details = details;
    this.#resolve(this);
  }
}

/** Keeps what a connection reports. */
export class RecordedConnection implements ConnectionEvents {
  readonly accepted: OwnSide[] = [];
  readonly handOvers: string[] = [];
  readonly closed: string[] = [];
  writtenBytes = 0;

  onWritten(bytes: number): void {
    this.writtenBytes += bytes;
  }

  onAccepted(own: OwnSide): void {
    this.accepted.push(own);
  }

  onHandOver(reason: string): void {
    this.handOvers.push(reason);
  }

  onClosed(reason: string): void {
    this.closed.push(reason);
  }
}

/** A connection to an address with settings of a test. */
export function connectTo(
  address: string,
  events: ConnectionEvents = new RecordedConnection(),
  settings: Partial<ConnectionSettings> = {},
): GrpcCallConnection {
  const usual: ConnectionSettings = {
    security: NO_SECURITY,
    messageBytesMax: 4 * 1024 * 1024,
    receiveWindowBytes: 1024 * 1024,
    callTimeoutMs: 5_000,
    keepaliveTimeMs: 60_000,
    keepaliveTimeoutMs: 60_000,
  };
  return connectGrpc(address, { ...usual, ...settings }, events);
}

/** One unary call: its message comes with its status. */
export function callUnary(
  connection: GrpcCallConnection,
  message: Uint8Array,
  path = '/test.Echo/Unary',
): RecordedCall {
  const recorded = new RecordedCall();
  const call = connection.call(path, recorded, 'one');
  call.write([message], message.length);
  call.end();
  return recorded;
}

/** Our client and a peer that does what a test says. */
export interface Http2Scene {
  readonly peer: RawHttp2Peer;
  readonly connection: GrpcCallConnection;
  readonly events: RecordedConnection;
}

/**
 * Connects to a peer; both end with the running test.
 * @param peerSettings HTTP/2's, by their numbers.
 */
export async function http2Scene(
  peerSettings: Record<number, number> = {},
  own: Partial<ConnectionSettings> = {},
): Promise<Http2Scene> {
  const peer = await RawHttp2Peer.start(peerSettings);
  const events = new RecordedConnection();
  const connection = connectedTo(peer, own, events);
  await connection.ready;
  return { peer, connection, events };
}

/** A connection to a peer, ready or not; both end with the running test. */
export function connectedTo(
  peer: RawHttp2Peer,
  own: Partial<ConnectionSettings> = {},
  events: RecordedConnection = new RecordedConnection(),
): GrpcCallConnection {
  const connection = connectTo(peer.address, events, own);
  onTestFinished(async () => {
    await connection.close();
    await peer.stop();
  });
  return connection;
}
