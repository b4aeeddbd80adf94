import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A connection on which reading never waits for writing.
 *
 * node:http2 stops reading while a write is in progress. When both ends write much at once, both sockets fill up,
 * nobody reads, and nobody ever gets on: a SUT node that sends back megabytes while it receives samples
 * of more megabytes stands still. Here a write is taken at once and waits in memory instead, which is bounded by the
 * peer's HTTP/2 window: beyond that nothing is written to a connection. One end that always reads is enough.
 *
 * It costs another copy of what is received, so it is for models with large responses only.
 */
export class DecoupledSocket extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('close', () => this.destroy());
    socket.on('error', (error) => this.destroy(error));
  }

  /** As of the socket. */
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#socket.write(chunk);
    callback();
  }

  override _final(callback: () => void): void {
    this.#socket.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }
}

/** The peer of a connection as node:http2 shows it, which wraps a stream that is no socket. */
export function peerOf(socket: object): {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
} {
  const { stream } = socket as { stream?: unknown };
  return stream instanceof DecoupledSocket ? stream : socket;
}
