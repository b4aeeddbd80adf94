import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { FLAG, FRAME_TYPE, PREFACE } from '../../../shared/http2/frames.ts';
import { HpackEncoder } from '../../../shared/http2/hpack.ts';
import { INFER_METHOD } from '../../../shared/wire/sut-contract.ts';
import { frame as http2Frame, SETTING, settingsOf, word } from '../oip-server/raw-http2-peer.ts';

/** Paths of the service, as a hostile client writes them. */
export const INFER_PATH: string = INFER_METHOD.path;
export const NAME_PATH: string = INFER_PATH.replace(/Infer$/, 'Name');

const WINDOW_BYTES_MAX: number = 2 ** 31 - 1;

/** How one stream of a hostile client ended. */
interface StreamOutcome {
  /** HTTP/2 error code of the reset; undefined while the stream is open. */
  readonly resetCode: number | undefined;
  readonly grpcStatus: number | undefined;
  /** True once a byte of an answer came. */
  readonly isAnswered: boolean;
  readonly sentBytes: number;
}

/** A gRPC message as it lies on the wire; `declaredBytes` may lie. */
export function grpcFrame(body: Uint8Array, declaredBytes: number = body.length): Buffer {
  return Buffer.concat([Buffer.of(0), word(declaredBytes), body]);
}

/**
 * A client that keeps no rule: raw TCP connections and HTTP/2 streams to one node, kept open until
 * {@link HostileClient.stop}. It swallows every error, as it expects nothing else.
 */
export class HostileClient {
  readonly #host: string;
  readonly #port: number;
  readonly #sockets: Socket[] = [];
  readonly #sessions: ClientHttp2Session[] = [];

  constructor(address: string) {
    const [host, port] = address.split(':') as [string, string];
    this.#host = host;
    this.#port = Number(port);
  }

  /** A connection that says these bytes and no more. */
  connect(bytes?: Uint8Array): Socket {
    const socket = connect({ host: this.#host, port: this.#port });
    socket.on('error', () => {});
    socket.resume();
    if (bytes !== undefined) socket.write(bytes);
    this.#sockets.push(socket);
    return socket;
  }

  /** How many of the raw connections are still open. */
  get openSocketCount(): number {
    return this.#sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open')
      .length;
  }

  session(options: http2.ClientSessionOptions = {}): ClientHttp2Session {
    const session = http2.connect(`http://${this.#host}:${this.#port}`, {
      maxSendHeaderBlockLength: 64 * 1024 * 1024,
      ...options,
    });
    session.on('error', () => {});
    this.#sessions.push(session);
    return session;
  }

  /** A call that says these bytes and then nothing. */
  call(
    session: ClientHttp2Session,
    path: string,
    bytes: Uint8Array,
    headers: http2.OutgoingHttpHeaders = {},
  ): { readonly stream: ClientHttp2Stream; readonly outcome: () => StreamOutcome } {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    let grpcStatus: number | undefined;
    let isClosed = false;
    const read = (fields: http2.IncomingHttpHeaders): void => {
      if (fields['grpc-status'] !== undefined) grpcStatus = Number(fields['grpc-status']);
    };
    stream.on('response', read);
    stream.on('trailers', read);
    stream.on('error', () => {});
    stream.on('close', () => {
      isClosed = true;
    });
    let isAnswered = false;
    stream.once('data', () => {
      isAnswered = true;
    });
    stream.write(bytes);
    const outcome = (): StreamOutcome => ({
      resetCode: isClosed ? stream.rstCode : undefined,
      grpcStatus,
      isAnswered,
      sentBytes: bytes.length - stream.writableLength,
    });
    return { stream, outcome };
  }

  /**
   * A call on a connection of its own whose body comes as DATA frames of one byte each, behind a
   * first frame: what no HTTP/2 library would write. Resolves when all was handed to the socket, or
   * it is closed.
   */
  async drip(path: string, first: Uint8Array, body: Uint8Array): Promise<void> {
    const socket = await this.#beginCall(path, [http2Frame(FRAME_TYPE.settings, 0, 0)]);
    socket.write(http2Frame(FRAME_TYPE.data, 0, 1, first));
    const CHUNK = 4_096;
    for (let from = 0; from < body.length && !socket.destroyed; from += CHUNK) {
      const frames = Array.from(body.subarray(from, from + CHUNK), (byte) =>
        http2Frame(FRAME_TYPE.data, 0, 1, Uint8Array.of(byte)),
      );
      if (socket.write(Buffer.concat(frames))) continue;
      await new Promise<void>((resolve) => {
        socket.once('drain', resolve);
        socket.once('close', resolve);
      });
    }
  }

  /**
   * A call on a connection of its own that announces the largest HTTP/2 windows there are and never
   * reads what comes.
   * @param body One DATA frame: at most 16 KiB.
   */
  async deaf(path: string, body: Uint8Array): Promise<Socket> {
    const settings = settingsOf({ [SETTING.initialWindowSize]: WINDOW_BYTES_MAX });
    const socket = await this.#beginCall(path, [
      http2Frame(FRAME_TYPE.settings, 0, 0, settings),
      http2Frame(FRAME_TYPE.windowUpdate, 0, 0, word(WINDOW_BYTES_MAX - 65_535)),
    ]);
    socket.pause();
    socket.write(http2Frame(FRAME_TYPE.data, 0, 1, body));
    return socket;
  }

  /**
   * A connection with the headers of a call. The node's settings, with its large windows, are in
   * force then.
   */
  async #beginCall(path: string, frames: readonly Buffer[]): Promise<Socket> {
    const socket = this.connect(Buffer.concat([Buffer.from(PREFACE), ...frames]));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write(http2Frame(FRAME_TYPE.settings, FLAG.ack, 0));
    const headers = { ':method': 'POST', ':scheme': 'http', ':authority': 'sut', ':path': path };
    const all = { ...headers, 'content-type': 'application/grpc', te: 'trailers' };
    const fields = Object.entries(all).map(([name, value]) => ({ name, value }));
    const block = new HpackEncoder().encode(fields);
    socket.write(http2Frame(FRAME_TYPE.headers, FLAG.endHeaders, 1, block));
    return socket;
  }

  stop(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}
