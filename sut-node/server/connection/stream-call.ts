import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { CallSeen } from '../../../proto/gen/mlperf/network/v1/CallSeen.ts';
import { type ServerCallEnd, STREAM_OK } from '../limits/call-end.ts';
import type { MessageMemory } from './message-memory.ts';

/** A gRPC call with messages in both directions, as bytes. */
export type StreamCall = ServerDuplexStream<Buffer, Buffer>;

/** The other end of a stream, as gRPC shows it. */
export interface StreamPeer {
  /** Hands a message to gRPC; false when it holds enough, until {@link StreamHandler.drained}. */
  write(message: Buffer): boolean;
  /** Reads no more messages, for now, or again. */
  pause(): void;
  resume(): void;
  /** Ends the stream behind what was written. */
  end(end: ServerCallEnd): void;
}

/** Receiver of a stream's events. Its methods never throw, whatever bytes come. */
export interface StreamHandler {
  /** @param memory Owner of the bytes: release it, once, when they are no longer read. Absent: they are the handler's. */
  message(message: Buffer, memory?: MessageMemory): void;
  /** The peer ended its side. */
  halfClosed(): void;
  /** gRPC takes messages again. */
  drained(): void;
  /** The peer is gone: its requests are dropped. */
  cancelled(): void;
  /** Ends the stream: the peer's bytes can no longer be read as messages. */
  breakOff(end: ServerCallEnd): void;
}

/** Opens a stream for a call; undefined where it is refused, and ended with the status that says why. */
export type OpenStream = (
  peer: Pick<StreamPeer, 'write' | 'end'> & { readonly seen: CallSeen | null },
  address: string,
) => { readonly handler: StreamHandler; readonly receiveBytesMax: number } | undefined;

/** Opens the streams that carry queries and link tests, on either HTTP/2 implementation. */
export interface StreamOpeners {
  readonly infer: OpenStream;
  readonly testLink: OpenStream;
}

/** The peer of a call. */
export function peerOfCall(call: StreamCall): StreamPeer {
  return {
    write: (message) => call.write(message),
    pause: () => call.pause(),
    resume: () => call.resume(),
    end: (end) => {
      if (end.code === STREAM_OK.code) call.end();
      // grpc-js ends a stream with a status by this event, behind what was written.
      else call.emit('error', end);
    },
  };
}

/** Joins a call with its handler. */
export function serveStream(call: StreamCall, stream: StreamHandler): void {
  call.on('data', (message: Buffer) => stream.message(message));
  call.on('end', () => stream.halfClosed());
  call.on('drain', () => stream.drained());
  call.on('cancelled', () => stream.cancelled());
}

/** A set of open things, such as streams, that can be waited for until it is empty. */
export class OpenStreams<T> extends Set<T> {
  #whenEmpty: (() => void)[] = [];

  override delete(one: T): boolean {
    const wasOpen = super.delete(one);
    if (this.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
    return wasOpen;
  }

  /** Resolves once all streams are closed. */
  async empty(): Promise<void> {
    if (this.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }
}
