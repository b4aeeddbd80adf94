import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure } from '../../shared/domain/system-under-test.ts';
import type { ClaimKind } from '../../shared/evidence/node-claims.ts';
import type { PartSample, WirePart } from '../../shared/wire/part-codec.ts';
import type { WireCompleted, WireResponses } from '../../shared/wire/responses-codec.ts';
import type { OutstandingTable } from './outstanding-table.ts';
import type { NodeLoad, RoutedChannel } from './router.ts';
import type { TokenStreams } from './token-streams.ts';
import type { NodeUsage } from './usage-series.ts';

/** Events of a channel. All calls come from the event loop, never from inside a call to the channel. */
export interface ChannelEvents {
  /** Credit or room in the socket came: waiting queries may go now. */
  onRoom(): void;
  /** Responses of one instant. Payloads are valid during the call. */
  readonly onResponses: (channel: DispatchChannel, responses: WireResponses<BorrowedBytes>) => void;
  /** A sample got no response, for a reason that this end puts into words. */
  onFailed(channel: DispatchChannel, wireId: number, failure: SampleFailure): void;
  /** The node reported something impossible, and the stream continues. @param text As in `NodeClaim`. */
  onClaim(channel: DispatchChannel, kind: ClaimKind, text: string, count?: number): void;
  /** The node told what it used of its machine. */
  onUsage(channel: DispatchChannel, usage: NodeUsage): void;
  /** The node says that it is going away; what is outstanding may still be answered. */
  onDraining(channel: DispatchChannel, reason: string): void;
  /** The stream ended before it was closed from this side. Called once, as the last event. */
  onLost(channel: DispatchChannel, error: MlperfError): void;
}

/** A channel's place as the dispatcher reads it. */
interface DispatchPlace {
  readonly address: string;
  readonly nodeIndex: number;
  /** Number among all streams of the run. */
  readonly streamIndex: number;
}

/** Identity of a channel inside the run. */
export interface ChannelPlace extends DispatchPlace {
  /** Number among the streams to this node. */
  readonly streamOfNode: number;
  /** Number of the connection to the node that carries it. */
  readonly connection: number;
  /** All streams of the run: with the stream's number it makes wire ids unique. */
  readonly streamCount: number;
  /** Of the node, shared by its streams. */
  readonly load: NodeLoad;
}

/**
 * A stream to one SUT node as dispatcher and part cutter see it, whatever protocol it speaks. Before a part is sent,
 * {@link RoutedChannel.canTake} has returned true and each of its samples has taken an id.
 */
export interface DispatchChannel extends RoutedChannel {
  readonly place: DispatchPlace & RoutedChannel['place'];
  /** Gives each sample of the next part its wire id, and takes the id back. */
  readonly outstanding: OutstandingTable;
  /** Holds the tokens that the node tells against its responses; null: none were asked for. */
  readonly tokenStreams: TokenStreams | null;
  /** True when such a part could go if the socket took it. Hot path. */
  hasCreditFor(sampleCount: number, bytes: number): boolean;
  /** Gives up everything that is on the wire, of a stream that is lost; returns the response ids. */
  releaseAll(): Float64Array;
  /** Sends a part. */
  send(part: OutgoingPart): void;
  /** Why a response cannot be one; undefined for all others. @param slot Of its sample; -1: none is outstanding. Hot path. */
  faultOf(slot: number, response: WireCompleted<BorrowedBytes>): SampleFailure | undefined;
  /** Gives up the parts that wait for the socket, as if they had not been sent. */
  dropUnsent(): void;
  /** No part goes out any more; what is outstanding may still be answered. */
  retire(): void;
}

/** A sample, or a piece of one, on its way out. */
export interface OutgoingSample extends PartSample {
  /** Index in the sample library: for digests, and for payloads of whole queries. Never goes out. */
  readonly sampleIndex: number;
}

/** Samples of exactly one query, about to go out in one message. */
export interface OutgoingPart extends WirePart {
  readonly samples: readonly OutgoingSample[];
  /** Samples that begin in this part: those that take credit and a wire id. */
  readonly sampleCount: number;
  /** Payload bytes of the part. */
  readonly bytes: number;
}

/** Why a sample has no result whose answer came before its last byte was sent: nobody can have read it. */
export const EARLY_RESPONSE: SampleFailure = {
  code: 'early-response',
  text: 'the answer came before all of the sample was sent',
};

/** The same, as the claim of a node. */
export const EARLY_CLAIM = 'answered a sample before all of it was sent';
