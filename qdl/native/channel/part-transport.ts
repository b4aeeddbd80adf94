import type { OwnSide } from '../../../shared/evidence/call-path.ts';
import type { OutgoingPart } from '../../dispatch/outgoing-part.ts';

/** How a stream ended: gRPC's status number and text. */
export interface TransportEnd {
  readonly code: number;
  readonly details: string;
}

/** What a transport reports. No call comes from inside a call to the transport. */
export interface TransportEvents {
  /** It was looked at, and the node does not compress messages by gRPC. Comes before any message, or never. */
  onUncompressed(): void;
  /** The node has accepted the stream: what this end knows of the call. Comes before any message. */
  onAccepted(own: OwnSide): void;
  /** A message of the node. The bytes are the receiver's. */
  onMessage(bytes: Buffer): void;
  /** The socket has taken so many payload bytes of parts: perhaps there is room again. */
  onWritten(bytes: number): void;
  /** The stream is over; called once, nothing comes after it. */
  onEnd(end: TransportEnd): void;
}

/**
 * One Infer stream as the channel sees it: parts and messages go in, messages come out. Whether the
 * gRPC work is done on this thread or on another is the transport's affair.
 */
export interface PartTransport {
  /** False while as many bytes wait for the socket as the transport holds: nothing may be sent then. */
  readonly hasRoom: boolean;
  /** Sends a part as one gRPC message. After {@link hasRoom} only. Never throws, never waits. */
  sendPart(part: OutgoingPart): void;
  /** Gives up the parts of which nothing was handed to gRPC yet. Their payloads are not read any more. */
  dropParts(): readonly OutgoingPart[];
  /** Sends Open or Close, behind what was sent before. */
  sendControl(message: Buffer): void;
  /** No more messages will come; what was sent goes out first. */
  endSending(): void;
  /** Ends the stream now; {@link TransportEvents.onEnd} follows. */
  cancel(): void;
}
