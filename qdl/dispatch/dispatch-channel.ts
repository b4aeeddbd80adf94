import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure } from '../../shared/domain/system-under-test.ts';
import type { ClaimKind } from '../../shared/evidence/node-claims.ts';
import type { WireResponses } from '../../shared/wire/responses-codec.ts';
import type { OutgoingPart } from '../native/channel/part-transport.ts';
import type { NodeLoad } from './router/node-load.ts';

/** What a channel reports. All calls come from the event loop, never from inside a call to the channel. */
export interface ChannelEvents {
  /** Credit or room in the socket came: waiting queries may go now. */
  onRoom(): void;
  /** Responses of one instant. Payloads are valid during the call. */
  readonly onResponses: (channel: DispatchChannel, responses: WireResponses<BorrowedBytes>) => void;
  /** A sample got no response, for a reason that this end puts into words. */
  onFailed(channel: DispatchChannel, wireId: number, failure: SampleFailure): void;
  /** The node said something that cannot be, and the stream goes on. @param text As in `NodeClaim`. */
  onClaim(channel: DispatchChannel, kind: ClaimKind, text: string, count?: number): void;
  /** The node says that it is going away; what is outstanding may still be answered. */
  onDraining(channel: DispatchChannel, reason: string): void;
  /** The stream ended before it was closed from this side. Called once; nothing comes after it. */
  onLost(channel: DispatchChannel, error: MlperfError): void;
}

/** Identity of a channel inside the run. */
export interface ChannelPlace {
  readonly address: string;
  readonly nodeIndex: number;
  /** Number among the streams to this node. */
  readonly streamOfNode: number;
  /** Number of the connection to the node that carries it. */
  readonly connection: number;
  /** Number among all streams of the run, and how many there are: makes wire ids unique. */
  readonly streamIndex: number;
  readonly streamCount: number;
  /** Of the node, shared by its streams. */
  readonly load: NodeLoad;
}

/**
 * A way to one SUT node as dispatcher, part cutter and routers see it, whatever protocol it speaks. Who sends a part has
 * asked {@link canTake} and has taken an id for each of its samples.
 */
export interface DispatchChannel {
  readonly place: ChannelPlace;
  /** Samples that are on the wire. */
  readonly outstandingCount: number;
  /** True when a part of so many new samples and payload bytes may go now. Hot path. */
  canTake(sampleCount: number, bytes: number): boolean;
  /** True when such a part could go if the socket took it. Hot path. */
  hasCreditFor(sampleCount: number, bytes: number): boolean;
  /** Takes a wire id for a sample that will be in the next part. */
  acquireId(responseId: number): number;
  /** Response id of a wire id, which is free from now on; -1 when it is not outstanding here. */
  releaseId(wireId: number): number;
  /** Response id of a wire id that stays outstanding; -1 when it is not outstanding here. */
  findId(wireId: number): number;
  /** Gives up everything that is on the wire; returns the response ids. */
  releaseAll(): Float64Array;
  /** Sends a part. */
  send(part: OutgoingPart): void;
  /** Gives up the parts that wait for the socket, as if they had not been sent. */
  dropUnsent(): void;
  /** No part goes out any more; what is outstanding may still be answered. */
  retire(): void;
}
