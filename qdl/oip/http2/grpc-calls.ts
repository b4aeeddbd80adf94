import type { OwnSide } from '../../../shared/evidence/call-path.ts';

/** What a call reports. No call comes from inside a call to the connection. */
export interface CallEvents {
  /** One message of the server, without gRPC's head. The bytes are the receiver's until the call returns: copy to keep. */
  onMessage(call: GrpcCall, message: Buffer): void;
  /**
   * The call is over; called once, nothing comes after it.
   * @param code gRPC's status: 0 is OK. What HTTP/2 or the socket broke comes as UNAVAILABLE (14), a server without
   *   the method as UNIMPLEMENTED (12).
   */
  onEnd(call: GrpcCall, code: number, details: string): void;
}

/** One gRPC call: unary, or a stream that stays open. */
export interface GrpcCall {
  /**
   * Sends one message, its pieces one behind the other; gRPC's head is added. The pieces must not change until
   * {@link ConnectionEvents.onWritten} has counted them.
   */
  write(pieces: readonly Uint8Array[], bytes: number): void;
  /** No more messages will come; what was written goes out first. */
  end(): void;
  /** Ends the call now: onEnd follows with CANCELLED (1). */
  cancel(): void;
}

/** What a connection reports. */
export interface ConnectionEvents {
  /** The socket took so many bytes of messages, or the peer gave room: perhaps {@link GrpcConnection.hasRoom} holds again. */
  onWritten(bytes: number): void;
  /** The server's answer to the first call has begun: what this end knows of it. */
  onAccepted(own: OwnSide): void;
  /** The server will take no new calls (GOAWAY) or the connection is gone; calls that are lost have ended before. */
  onClosed(reason: string): void;
}

/** One TCP or TLS connection that carries gRPC calls by HTTP/2. */
export interface GrpcCallConnection {
  /** Resolves when the server's settings are there. @throws MlperfError `ERR_SUT_UNREACHABLE` */
  readonly ready: Promise<void>;
  /** False while enough bytes wait for the socket or for the peer's windows, or the peer takes no further call now. */
  readonly hasRoom: boolean;
  /** Calls that are open. */
  readonly callCount: number;
  /**
   * Opens a call. It sends nothing before its first message, which goes out with the head in one write.
   * @param path `/package.Service/Method`.
   */
  call(path: string, events: CallEvents): GrpcCall;
  /** Ends all calls and the socket. */
  close(): Promise<void>;
}
