import type { OwnSide } from '../../../../shared/evidence/call-path.ts';
import type { SentPart } from './sent-part.ts';

/** How a stream ended: gRPC's status number and text. */
export interface TransportEnd {
  readonly code: number;
  readonly details: string;
}

/** Events of a transport. No call comes from inside a call to the transport. */
export interface TransportEvents {
  /**
   * The node has accepted the stream and does not compress messages by gRPC: what this end knows of the call. Comes before
   * any message.
   */
  onAccepted(own: OwnSide): void;
  /** A message of the node. The bytes are the receiver's. */
  onMessage(bytes: Buffer): void;
  /**
   * A part is in line for the socket. This may come from inside a call to the transport.
   * @param end Bytes of the stream up to the part's last one: it is with the socket once {@link PartTransport.sentBytes} is
   *   as large.
   */
  onFramed(part: SentPart, end: number): void;
  /** The socket has taken payload bytes of parts: perhaps there is room again. */
  onWritten(): void;
  /** The stream is over; called once, as the last event. */
  onEnd(end: TransportEnd): void;
}

/** One Infer stream as the channel sees it: parts and messages go in, messages come out. A simulation can stand here. */
export interface PartTransport {
  /** False while as many bytes wait for the socket as the transport holds: no part may be sent then. */
  readonly hasRoom: boolean;
  /** Bytes of the stream that the socket has. */
  readonly sentBytes: number;
  /** Sends a part as one gRPC message. After {@link hasRoom} only. Never throws, never waits. */
  sendPart(part: SentPart): void;
  /** Gives up the parts that were not handed over yet. Their payloads are no longer read. */
  dropParts(): readonly SentPart[];
  /** Sends Open or Close, behind what was sent before. */
  sendControl(message: Buffer): void;
  /** No more messages will come; what was sent goes out first. */
  endSending(): void;
  /** Ends the stream now; {@link TransportEvents.onEnd} follows. */
  cancel(): void;
}
