import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import type { SentPart } from './sent-part.ts';

/** How a stream ended: gRPC's status number and text. */
export interface TransportEnd {
  readonly code: number;
  readonly details: string;
}

/** Events of a transport, never called from inside a call to the transport. */
export interface TransportEvents {
  /**
   * The node accepted the stream and uses no gRPC message compression. Comes before any message.
   * @param own This end's view of the call.
   */
  onAccepted(own: OwnSide): void;
  /** A message of the node. The receiver owns the bytes. */
  onMessage(bytes: Buffer): void;
  /**
   * A part is queued for the socket. May be called from inside a call to the transport.
   * @param end Stream offset of the end of the part: the socket has it once {@link
   * PartTransport.sentBytes} reaches this.
   */
  onFramed(part: SentPart, end: number): void;
  /** The socket took payload bytes: there may be room again. */
  onWritten(): void;
  /** The stream is over; called once, as the last event. */
  onEnd(end: TransportEnd): void;
}

/**
 * One Infer stream as the channel sees it: parts and messages in, messages out. Simulations
 * implement it too.
 */
export interface PartTransport {
  /** False while the transport's limit of waiting bytes is reached: then no part may be sent. */
  readonly hasRoom: boolean;
  /** Bytes of the stream that the socket has. */
  readonly sentBytes: number;
  /** Sends a part as one gRPC message. Requires {@link hasRoom}. Never throws, never waits. */
  sendPart(part: SentPart): void;
  /** Drops the parts not handed over yet. Their payloads are no longer read. */
  dropParts(): readonly SentPart[];
  /** Sends Open or Close after everything sent before. */
  sendControl(message: Buffer): void;
  /** Ends sending; earlier messages go out first. */
  endSending(): void;
  /** Ends the stream now; {@link TransportEvents.onEnd} follows. */
  cancel(): void;
}
