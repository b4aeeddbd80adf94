import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { CallSeen } from '../../../proto/gen/mlperf/network/v1/CallSeen.ts';
import { type ServerCallEnd, STREAM_OK } from '../limits/call-end.ts';
import type { MessageMemory } from './message-memory.ts';

/** A gRPC call with messages in both directions, as bytes. */
export type StreamCall = ServerDuplexStream<Buffer, Buffer>;

/** The peer of a stream, through gRPC. */
export interface StreamPeer {
  /** Passes a message to gRPC; false if its buffer is full, until {@link StreamHandler.drained}. */
  write(message: Buffer): boolean;
  /** Stops or resumes reading messages. */
  pause(): void;
  resume(): void;
  /** Ends the stream after everything written. */
  end(end: ServerCallEnd): void;
}

/** Receiver of a stream's events. Its methods never throw, whatever the bytes. */
export interface StreamHandler {
  /**
   * @param memory Owner of the bytes: release it once they are no longer read. Absent: the handler
   * owns them.
   */
  message(message: Buffer, memory?: MessageMemory): void;
  /** The peer ended its side. */
  halfClosed(): void;
  /** gRPC takes messages again. */
  drained(): void;
  /** The peer is lost: drop its requests. */
  cancelled(): void;
  /** Ends the stream: the peer's bytes are no longer valid messages. */
  breakOff(end: ServerCallEnd): void;
}

/** Opens a stream for a call; undefined if it was refused and ended with a status. */
export type OpenStream = (
  peer: Pick<StreamPeer, 'write' | 'end'> & { readonly seen: CallSeen | null },
  address: string,
) => { readonly handler: StreamHandler; readonly receiveBytesMax: number } | undefined;

/** Opens the streams for queries and link tests, for both HTTP/2 implementations. */
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
      // grpc-js ends a stream with a status by this event, after everything written.
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

/** A set of open objects, such as streams, whose emptying can be awaited. */
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
