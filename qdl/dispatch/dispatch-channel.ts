import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure, ServiceTimes } from '../../shared/domain/system-under-test.ts';
import type { ClaimKind } from '../../shared/evidence/node-claims.ts';
import type { OutstandingTable } from './outstanding-table.ts';
import type { NodeLoad, RoutedChannel } from './router.ts';
import type { NodeUsage } from './usage-series.ts';

/** The SUT's answer to a sample. */
export interface CompletedSample {
  /** Response bytes as the SUT made them; valid during the call. */
  readonly payload: BorrowedBytes;
  /** Output tokens; undefined if the benchmark has none. */
  readonly tokenCount: number | undefined;
  /** Undefined if the SUT reported none. */
  readonly durations: ServiceTimes | undefined;
  /** Why the response is unusable: it counts as a response, and its sample fails. */
  readonly fault?: SampleFailure;
  /**
   * Bytes received for this response, with the time to read them; default: the payload's bytes, no
   * time.
   */
  readonly receivedBytes?: number;
  readonly decodeNs?: number;
}

/**
 * Events of a channel, called from the event loop, never from inside a call to the channel. For
 * messages that arrive together the channel reads {@link ChannelEvents.nowNs} once, reports first
 * tokens, then other tokens, then ends, and calls {@link ChannelEvents.onRoom} last.
 */
export interface ChannelEvents {
  /** The test's clock, ns. */
  nowNs(): number;
  /** Credit or socket space came, or samples ended: waiting queries may go now. */
  onRoom(): void;
  /** @param id Wire id. @param payload The token; valid during the call. */
  onFirstToken(channel: DispatchChannel, id: number, payload: BorrowedBytes, atNs: number): void;
  /** `count` further tokens of the sample came. */
  onTokens(channel: DispatchChannel, id: number, count: number, atNs: number): void;
  /** @param atNs Time after any decompression, which counts as latency. */
  onCompleted(channel: DispatchChannel, id: number, sample: CompletedSample, atNs: number): void;
  /** A sample got no answer. */
  onFailed(channel: DispatchChannel, id: number, failure: SampleFailure): void;
  /**
   * The node reported something impossible, and the stream continues. @param text As in
   * `NodeClaim`.
   */
  onClaim(channel: DispatchChannel, kind: ClaimKind, text: string, count?: number): void;
  /** The node reported its use of CPU and memory. */
  onUsage(channel: DispatchChannel, usage: NodeUsage): void;
  /** The node is shutting down; outstanding samples may still be answered. */
  onDraining(channel: DispatchChannel, reason: string): void;
  /** The stream ended before this end closed it. Called once, as the last event. */
  onLost(channel: DispatchChannel, error: MlperfError): void;
}

/** Identity of a channel inside the run. */
export interface ChannelPlace {
  readonly address: string;
  readonly nodeIndex: number;
  /** Number among all streams of the run. */
  readonly streamIndex: number;
  /** Number among the streams to this node. */
  readonly streamOfNode: number;
  /** Number of the connection to the node that carries the stream. */
  readonly connection: number;
  /** Number of streams in the run. Wire ids are unique because they contain the stream's number. */
  readonly streamCount: number;
  /** Load of the node, shared by its streams. */
  readonly load: NodeLoad;
}

/**
 * A stream to one SUT node as the dispatcher and the part cutter see it, for any protocol. Call
 * {@link send} only after {@link RoutedChannel.canTake} returned true and each sample took an id.
 */
export interface DispatchChannel extends RoutedChannel {
  readonly place: RoutedChannel['place'] & Pick<ChannelPlace, 'address'>;
  /** Assigns a wire id to each sample of the next part, and frees the id. */
  readonly outstanding: OutstandingTable;
  /** True if credit allows such a part, whatever the socket holds. Hot path. */
  hasCreditFor(sampleCount: number, bytes: number): boolean;
  /** Releases all outstanding samples of a lost stream; returns their response ids. */
  releaseAll(): Float64Array;
  /** Sends a part. @returns The unsent rest of it, or undefined. */
  send(part: OutgoingPart): UnsentRest | undefined;
  /** Drops the parts that wait for the socket, as if they had never been sent. */
  dropUnsent(): void;
  /** Stops sending. Outstanding samples may still be answered. */
  retire(): void;
}

/** A sample on its way out. */
export interface OutgoingSample {
  /** Its wire id. */
  readonly id: number;
  /** Index in the sample library. Never sent. */
  readonly sampleIndex: number;
  /** Valid until the sample is unloaded. */
  readonly payload: Uint8Array;
}

/** Whole samples of exactly one query, about to go out together. */
export interface OutgoingPart {
  readonly query: number;
  readonly querySampleCount: number;
  readonly samples: readonly OutgoingSample[];
  /** Payload bytes of all samples. */
  readonly bytes: number;
}

/** The unsent rest of a part of one sample. No other part may overtake it. */
export interface UnsentRest {
  /** Payload bytes not sent yet. */
  readonly bytes: number;
  /**
   * Payload bytes of the next piece; the channel must have credit for them and for 0 new samples.
   */
  readonly nextBytes: number;
  /** Sends the next piece. */
  sendNext(): void;
}

/**
 * Failure of a sample whose response came before its last byte was sent: the SUT cannot have read
 * it.
 */
export const EARLY_RESPONSE: SampleFailure = {
  code: 'early-response',
  text: 'the answer came before all of the sample was sent',
};

/** {@link EARLY_RESPONSE} as a claim of a node. */
export const EARLY_CLAIM = 'answered a sample before all of it was sent';
