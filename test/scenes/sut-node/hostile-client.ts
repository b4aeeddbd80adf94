import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { INFER_METHOD } from '../../../shared/wire/sut-contract.ts';

/** Paths of the service, as a hostile client writes them. */
export const INFER_PATH: string = INFER_METHOD.path;
export const NAME_PATH: string = INFER_PATH.replace(/Infer$/, 'Name');

const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
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
export function frame(body: Uint8Array, declaredBytes: number = body.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(declaredBytes, 1);
  return Buffer.concat([head, body]);
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
   * A call on a connection of its own whose body comes as DATA frames of one byte each, behind a first
   * frame: what no HTTP/2 library would write. Resolves when all was handed to the socket, or it is closed.
   */
  async drip(path: string, first: Uint8Array, body: Uint8Array): Promise<void> {
    const socket = this.connect(Buffer.concat([PREFACE, http2Frame(4, 0, 0)]));
    await new Promise((resolve) => socket.once('data', resolve));
    // The node's settings are in force, with its large windows, once they are acknowledged.
    socket.write(http2Frame(4, 1, 0));
    socket.write(http2Frame(1, 4, 1, headerBlock(path)));
    socket.write(http2Frame(0, 0, 1, first));
    const CHUNK = 4_096;
    for (let from = 0; from < body.length && !socket.destroyed; from += CHUNK) {
      const frames = Array.from(body.subarray(from, from + CHUNK), (byte) =>
        http2Frame(0, 0, 1, Uint8Array.of(byte)),
      );
      if (socket.write(Buffer.concat(frames))) continue;
      await new Promise<void>((resolve) => {
        socket.once('drain', resolve);
        socket.once('close', resolve);
      });
    }
  }

  /**
   * A call on a connection of its own that announces the largest HTTP/2 windows there are and never reads what comes.
   * @param body One DATA frame: at most 16 KiB.
   */
  async deaf(path: string, body: Uint8Array): Promise<Socket> {
    const settings = Buffer.alloc(6);
    settings.writeUInt16BE(4, 0); // SETTINGS_INITIAL_WINDOW_SIZE
    settings.writeUInt32BE(WINDOW_BYTES_MAX, 2);
    const more = Buffer.alloc(4);
    more.writeUInt32BE(WINDOW_BYTES_MAX - 65_535);
    const socket = this.connect(
      Buffer.concat([PREFACE, http2Frame(4, 0, 0, settings), http2Frame(8, 0, 0, more)]),
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    socket.write(http2Frame(4, 1, 0));
    socket.write(http2Frame(1, 4, 1, headerBlock(path)));
    socket.write(http2Frame(0, 0, 1, body));
    return socket;
  }

  stop(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** An HTTP/2 frame (RFC 9113, section 4.1). */
function http2Frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers of a call as HPACK literals that are not indexed (RFC 7541, section 6.2.2). */
function headerBlock(path: string): Buffer {
  const fields = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'sut'],
    [':path', path],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ];
  const text = (value: string): Buffer =>
    Buffer.concat([Uint8Array.of(value.length), Buffer.from(value)]);
  return Buffer.concat(
    fields.flatMap(([name = '', value = '']) => [Uint8Array.of(0), text(name), text(value)]),
  );
}
