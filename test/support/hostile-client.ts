import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { INFER_METHOD } from '../../shared/wire/sut-contract.ts';

/** Paths of the service, as a hostile client writes them. */
export const INFER_PATH: string = INFER_METHOD.path;
export const NAME_PATH: string = INFER_PATH.replace(/Infer$/, 'Name');

/** How one stream of a hostile client ended. */
export interface StreamOutcome {
  /** HTTP/2 error code of the reset; undefined while the stream is open. */
  readonly resetCode: number | undefined;
  readonly grpcStatus: number | undefined;
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
    stream.resume();
    stream.write(bytes);
    const outcome = (): StreamOutcome => ({
      resetCode: isClosed ? stream.rstCode : undefined,
      grpcStatus,
      sentBytes: bytes.length - stream.writableLength,
    });
    return { stream, outcome };
  }

  stop(): void {
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}
