import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { gzipSync } from 'node:zlib';

/** Changes that a proxy makes to calls; by default it makes none. */
export interface ProxyConduct {
  /** Headers that it adds to a request, and to a response. */
  readonly requestHeaders?: OutgoingHttpHeaders;
  readonly responseHeaders?: OutgoingHttpHeaders;
  /** Compresses messages in gRPC's own way. */
  readonly compresses?: 'requests' | 'responses';
  /**
   * Sends an Infer call again when the node has answered its first message, as if that had failed.
   */
  readonly repeatsInfer?: boolean;
  /** Tells the node the number of the attempt, as Envoy can. */
  readonly tellsAttempts?: boolean;
  /** Which target a call goes to, by its number from 0; default: the first. */
  readonly targetOf?: (call: number, path: string) => number;
}

/**
 * A proxy of HTTP/2 between a LoadGen node and SUT nodes, as a sidecar or a balancing proxy stands
 * there.
 */
export class Http2Proxy {
  readonly #server: Http2Server;
  readonly #targets: readonly ClientHttp2Session[];
  readonly #conduct: ProxyConduct;
  address = '';
  #callCount = 0;

  private constructor(targets: readonly string[], conduct: ProxyConduct) {
    this.#conduct = conduct;
    this.#targets = targets.map((target) => {
      const session = connect(`http://${target}`);
      session.on('error', () => {});
      return session;
    });
    this.#server = createServer();
    this.#server.on('stream', (stream, headers) => this.#pass(stream, headers));
  }

  static async start(targets: readonly string[], conduct: ProxyConduct): Promise<Http2Proxy> {
    const proxy = new Http2Proxy(targets, conduct);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = proxy.#server.address() as { port: number };
    proxy.address = `127.0.0.1:${port}`;
    return proxy;
  }

  stop(): void {
    for (const session of this.#targets) session.destroy();
    this.#server.close();
  }

  #pass(near: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const path = headers[':path'] ?? '';
    const target = this.#targets[this.#conduct.targetOf?.(this.#callCount, path) ?? 0];
    this.#callCount += 1;
    near.on('error', () => {});
    if (target === undefined) throw new Error('the proxy has no such target');
    const { requestHeaders, compresses, repeatsInfer = false, tellsAttempts } = this.#conduct;
    const isCompressed = compresses === 'requests';
    const requestOf = (attemptCount: number): OutgoingHttpHeaders => ({
      ...headers,
      ...requestHeaders,
      ...(isCompressed && { 'grpc-encoding': 'gzip' }),
      ...(tellsAttempts === true && { 'x-envoy-attempt-count': `${attemptCount}` }),
    });
    const change = isCompressed ? new MessageGzip() : undefined;
    const sent: Buffer[] = [];
    let isRepeated = !(repeatsInfer && path.endsWith('/Infer'));
    let far = target.request(requestOf(1));
    const attempt = (stream: ClientHttp2Stream): void => {
      stream.on('error', () => {});
      stream.once('response', (answer) => {
        if (isRepeated) {
          this.#answer(near, stream, answer);
          return;
        }
        isRepeated = true;
        stream.close(constants.NGHTTP2_CANCEL);
        far = target.request(requestOf(2));
        attempt(far);
        for (const chunk of sent) far.write(chunk);
      });
    };
    attempt(far);
    near.on('data', (chunk: Buffer) => {
      const bytes = change?.take(chunk) ?? chunk;
      if (!isRepeated) sent.push(bytes);
      far.write(bytes);
    });
    near.on('end', () => far.end());
    near.on('close', () => far.close(constants.NGHTTP2_CANCEL));
  }

  #answer(near: ServerHttp2Stream, far: ClientHttp2Stream, answer: IncomingHttpHeaders): void {
    if (near.destroyed) return;
    const { responseHeaders, compresses } = this.#conduct;
    const isCompressed = compresses === 'responses';
    const headers: OutgoingHttpHeaders = {
      ...answer,
      ...responseHeaders,
      ...(isCompressed && { 'grpc-encoding': 'gzip' }),
    };
    if (far.readableEnded || answer['grpc-status'] !== undefined) {
      near.respond(headers, { endStream: true });
      return;
    }
    const change = isCompressed ? new MessageGzip() : undefined;
    let trailers: IncomingHttpHeaders = {};
    near.respond(headers, { waitForTrailers: true });
    near.on('wantTrailers', () => near.sendTrailers(trailers));
    far.on('trailers', (came) => {
      trailers = came;
    });
    far.on('data', (chunk: Buffer) => near.write(change?.take(chunk) ?? chunk));
    far.on('end', () => near.end());
  }
}

const HEAD_BYTES = 5;

/** Makes every gRPC message a compressed one. */
class MessageGzip {
  #rest = Buffer.alloc(0);

  take(chunk: Buffer): Buffer {
    let bytes = Buffer.concat([this.#rest, chunk]);
    const out: Buffer[] = [];
    while (bytes.length >= HEAD_BYTES && bytes.length >= HEAD_BYTES + bytes.readUInt32BE(1)) {
      const end = HEAD_BYTES + bytes.readUInt32BE(1);
      const body = gzipSync(bytes.subarray(HEAD_BYTES, end));
      const head = Buffer.alloc(HEAD_BYTES, 1);
      head.writeUInt32BE(body.length, 1);
      out.push(head, body);
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
    return Buffer.concat(out);
  }
}
