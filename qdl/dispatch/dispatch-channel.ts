import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure, ServiceTimes } from '../../shared/domain/system-under-test.ts';
import type { ClaimKind } from '../../shared/evidence/node-claims.ts';
import type { OutstandingTable } from './outstanding-table.ts';
import type { NodeLoad, RoutedChannel } from './router.ts';
import type { NodeUsage } from './usage-series.ts';

/** The SUT's answer to a sample. */
export interface CompletedSample {
  /** As the SUT made it; valid during the call. */
  readonly payload: BorrowedBytes;
  /** Output tokens; undefined where the benchmark has none. */
  readonly tokenCount: number | undefined;
  /** Undefined where the SUT told none. */
  readonly durations: ServiceTimes | undefined;
  /** Why it cannot be used: it counts as an answer, and its sample fails. */
  readonly fault?: SampleFailure;
  /** Bytes in which it came, and the time that they took to read; absent: those of the payload, and none. */
  readonly receivedBytes?: number;
  readonly decodeNs?: number;
}

/**
 * Events of a channel. All calls come from the event loop, never from inside a call to the channel. Of what came at once the
 * channel reads {@link ChannelEvents.nowNs} once, reports first tokens before others and tokens before ends, and calls
 * {@link ChannelEvents.onRoom} behind it.
 */
export interface ChannelEvents {
  /** The clock of the test, in ns. */
  nowNs(): number;
  /** Credit, room in the socket or the end of samples came: waiting queries may go now. */
  onRoom(): void;
  /** @param id Wire id. @param payload The token; valid during the call. */
  onFirstToken(channel: DispatchChannel, id: number, payload: BorrowedBytes, atNs: number): void;
  /** So many tokens came behind those before. */
  onTokens(channel: DispatchChannel, id: number, count: number, atNs: number): void;
  /** @param atNs Behind any decompression: that time counts. */
  onCompleted(channel: DispatchChannel, id: number, sample: CompletedSample, atNs: number): void;
  /** A sample got no answer. */
  onFailed(channel: DispatchChannel, id: number, failure: SampleFailure): void;
  /** The node reported something impossible, and the stream continues. @param text As in `NodeClaim`. */
  onClaim(channel: DispatchChannel, kind: ClaimKind, text: string, count?: number): void;
  /** The node told what it used of its machine. */
  onUsage(channel: DispatchChannel, usage: NodeUsage): void;
  /** The node says that it is going away; what is outstanding may still be answered. */
  onDraining(channel: DispatchChannel, reason: string): void;
  /** The stream ended before it was closed from this side. Called once, as the last event. */
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
  readonly place: RoutedChannel['place'] & Pick<ChannelPlace, 'address'>;
  /** Gives each sample of the next part its wire id, and takes the id back. */
  readonly outstanding: OutstandingTable;
  /** True when such a part could go if the socket took it. Hot path. */
  hasCreditFor(sampleCount: number, bytes: number): boolean;
  /** Gives up everything that is on the wire, of a stream that is lost; returns the response ids. */
  releaseAll(): Float64Array;
  /** Sends a part. @returns What is left of it; undefined: nothing. */
  send(part: OutgoingPart): UnsentRest | undefined;
  /** Gives up the parts that wait for the socket, as if they had not been sent. */
  dropUnsent(): void;
  /** No part goes out any more; what is outstanding may still be answered. */
  retire(): void;
}

/** A sample on its way out. */
export interface OutgoingSample {
  /** Its wire id. */
  readonly id: number;
  /** Index in the sample library. Never goes out. */
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

/** The rest of a part of one sample that goes out by and by. Nothing may overtake it. */
export interface UnsentRest {
  /** Payload bytes that are left. */
  readonly bytes: number;
  /** Those that go next, when the channel can take so many and no new sample. */
  readonly nextBytes: number;
  /** Sends them. */
  sendNext(): void;
}

/** Why a sample has no result whose answer came before its last byte was sent: nobody can have read it. */
export const EARLY_RESPONSE: SampleFailure = {
  code: 'early-response',
  text: 'the answer came before all of the sample was sent',
};

/** The same, as the claim of a node. */
export const EARLY_CLAIM = 'answered a sample before all of it was sent';
