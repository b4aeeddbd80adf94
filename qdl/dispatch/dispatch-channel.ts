import assert from 'node:assert';
import type { BorrowedBytes } from '../../shared/base/bytes/borrowed-bytes.ts';
import type { MlperfError } from '../../shared/base/errors/mlperf-error.ts';
import type { SampleFailure } from '../../shared/domain/system-under-test.ts';
import type { ClaimKind } from '../../shared/evidence/node-claims.ts';
import type { PartSample, WirePart } from '../../shared/wire/part-codec.ts';
import type { WireCompleted, WireResponses } from '../../shared/wire/responses-codec.ts';
import type { DispatchPolicy } from '../settings/dispatch-settings.ts';
import type { TokenStreams } from './token-streams.ts';
import type { NodeUsage } from './usage-series.ts';
import { WireIds } from './wire-ids.ts';

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

/** Most samples outstanding on one stream, whatever a node takes. */
const OUTSTANDING_MAX = 65_536;

/** Returned by {@link OutstandingTable.release} for an id that is not outstanding. */
export const NOT_OUTSTANDING = -1;

/** Why a sample has no result whose answer came before its last byte was sent: nobody can have read it. */
export const EARLY_RESPONSE: SampleFailure = {
  code: 'early-response',
  text: 'the answer came before all of the sample was sent',
};

/** The same, as the claim of a node. */
export const EARLY_CLAIM = 'answered a sample before all of it was sent';

/** The stream's number among all streams of the run, and the load that it shares with the node's other streams. */
interface OutstandingPlace {
  readonly streamIndex: number;
  readonly streamCount: number;
  readonly load: NodeLoad;
}

/**
 * Samples that are on the wire on one stream: wire id → LoadGen's response id. Counts them in the load of the node.
 *
 * All memory is taken in the constructor: issue and complete run once per sample inside the timed
 * region, so neither may allocate. A slot is reused, an id never ({@link WireIds}), so that a late or repeated response for
 * an old id cannot pass for the slot's next sample. A wire id does not reveal the sample's index in the library.
 */
export class OutstandingTable {
  readonly #freeSlots: Int32Array;
  readonly #ids: WireIds;
  /** By slot: how often it was used; the wire id that it has, or {@link NOT_OUTSTANDING}; response id; last byte. */
  readonly #uses: Uint32Array;
  readonly #wireIds: Float64Array;
  readonly #responseIds: Float64Array;
  readonly #lastBytes: Float64Array;
  readonly slotCount: number;
  readonly #load: NodeLoad;
  #freeCount: number;

  /**
   * @param slotCount Most samples outstanding on the stream, 1 or more.
   */
  constructor(
    { streamIndex, streamCount, load }: OutstandingPlace,
    slotCount: number = OUTSTANDING_MAX,
  ) {
    assert(Number.isInteger(slotCount));
    assert(slotCount >= 1);
    assert(streamIndex >= 0);
    assert(streamIndex < streamCount);
    this.#load = load;
    this.slotCount = slotCount;
    this.#ids = new WireIds(slotCount, { streamIndex, streamCount });
    this.#freeSlots = Int32Array.from({ length: slotCount }, (_, i) => slotCount - 1 - i);
    this.#uses = new Uint32Array(slotCount);
    this.#wireIds = new Float64Array(slotCount).fill(NOT_OUTSTANDING);
    this.#responseIds = new Float64Array(slotCount);
    this.#lastBytes = new Float64Array(slotCount);
    this.#freeCount = slotCount;
  }

  /** Samples that are on the wire. */
  get count(): number {
    return this.slotCount - this.#freeCount;
  }

  /** True when so many more are within the limits of node and stream. Hot path. */
  canTake(sampleCount: number): boolean {
    return this.#load.canTake(sampleCount) && this.#freeCount >= sampleCount;
  }

  /** Takes a wire id (below 2^53) for a sample. After {@link canTake} only. */
  acquire(responseId: number): number {
    assert(this.#freeCount > 0);
    this.#freeCount -= 1;
    this.#load.outstanding += 1;
    const slot = this.#freeSlots[this.#freeCount] as number; // In range: freeCount < length.
    const wireId = this.#ids.idOf(slot, this.#uses[slot] as number);
    this.#responseIds[slot] = responseId;
    this.#wireIds[slot] = wireId;
    this.#lastBytes[slot] = Number.POSITIVE_INFINITY;
    return wireId;
  }

  /** Response id of an outstanding wire id, or {@link NOT_OUTSTANDING}. The slot stays taken. */
  find(wireId: number): number {
    const slot = this.slotOf(wireId);
    return slot < 0 ? NOT_OUTSTANDING : (this.#responseIds[slot] as number);
  }

  /**
   * Frees the sample of a wire id and returns its response id, or {@link NOT_OUTSTANDING} when the id
   * is unknown or was answered before: the caller counts that as a contract error.
   */
  release(wireId: number): number {
    const slot = this.slotOf(wireId);
    if (slot < 0) return NOT_OUTSTANDING;
    const responseId = this.#responseIds[slot] as number;
    this.#free(slot);
    return responseId;
  }

  /** Response ids of all that is outstanding, in ascending order. */
  responseIds(): Float64Array {
    return this.#responseIds.filter((_, slot) => this.#isTaken(slot)).sort();
  }

  /** Frees everything and returns what {@link responseIds} was. */
  releaseAll(): Float64Array {
    const responseIds = this.responseIds();
    for (let slot = 0; slot < this.slotCount; slot += 1) {
      if (this.#isTaken(slot)) this.#free(slot);
    }
    return responseIds;
  }

  /** Slot of an outstanding wire id, or -1: a number below {@link slotCount} that the sample has until it is released. */
  slotOf(wireId: number): number {
    const slot = this.#ids.slotOf(wireId);
    return wireId >= 0 && this.#wireIds[slot] === wireId ? slot : -1;
  }

  /** Notes where the last byte of an outstanding sample lies among all bytes of its stream. */
  setLastByte(wireId: number, at: number): void {
    const slot = this.slotOf(wireId);
    if (slot >= 0) this.#lastBytes[slot] = at;
  }

  /** As it was set; infinite before. @param slot Of an outstanding sample. */
  lastByteOf(slot: number): number {
    return this.#lastBytes[slot] as number;
  }

  #isTaken(slot: number): boolean {
    return this.#wireIds[slot] !== NOT_OUTSTANDING;
  }

  #free(slot: number): void {
    this.#wireIds[slot] = NOT_OUTSTANDING;
    this.#uses[slot] = (this.#uses[slot] as number) + 1;
    this.#freeSlots[this.#freeCount] = slot;
    this.#freeCount += 1;
    this.#load.outstanding -= 1;
  }
}

/** The part of a channel that a router reads. */
export interface RoutedChannel {
  readonly place: {
    readonly nodeIndex: number;
    /** Of the node, shared by its streams. */
    readonly load: Readonly<Pick<NodeLoad, 'outstanding' | 'weight'>>;
  };
  /** Samples that are on the wire. */
  readonly outstanding: { readonly count: number };
  /** True when a part of so many new samples and payload bytes may go now. Hot path. */
  canTake(sampleCount: number, bytes: number): boolean;
}

/**
 * Decides which stream takes the next part: a channel that can take a part of so many samples and bytes now, or
 * undefined when none can, and the query waits. Hot path: never allocates.
 */
export type Router<Channel extends RoutedChannel> = (
  sampleCount: number,
  bytes: number,
) => Channel | undefined;

/** How busy a SUT node is, over all its streams. Hot path: numbers only. */
export class NodeLoad {
  /** Samples that are on the wire to the node. */
  outstanding = 0;
  /** Share of the node in comparison with the others, above 0. */
  readonly weight: number;
  /** Most samples outstanding at once, 1 or more. */
  readonly outstandingMax: number;

  constructor(weight: number, outstandingMax: number) {
    this.weight = weight;
    this.outstandingMax = outstandingMax;
  }

  /** True when so many samples more are within the limit. */
  canTake(sampleCount: number): boolean {
    return this.outstanding + sampleCount <= this.outstandingMax;
  }
}

/** In turn; a channel without credit or with a full socket is passed over. */
function roundRobin<Channel extends RoutedChannel>(channels: readonly Channel[]): Router<Channel> {
  const count = channels.length;
  let next = 0;
  return (sampleCount, bytes) => {
    for (let tries = 0; tries < count; tries += 1) {
      const channel = channels[next];
      next = (next + 1) % count;
      if (channel?.canTake(sampleCount, bytes)) return channel;
    }
    return undefined;
  };
}

/**
 * The node with the fewest samples on the wire in proportion to its weight, and of its streams the one
 * with the fewest: a faster node is thus asked more often. Equal ones take turns.
 */
function leastOutstanding<Channel extends RoutedChannel>(
  channels: readonly Channel[],
): Router<Channel> {
  const count = channels.length;
  let next = 0;
  return (sampleCount, bytes) => {
    let best: Channel | undefined;
    let bestAt = 0;
    for (let i = 0; i < count; i += 1) {
      const at = (next + i) % count;
      const channel = channels[at] as Channel; // In range: at < count.
      if (!channel.canTake(sampleCount, bytes)) continue;
      if (best !== undefined && !isLessBusy(channel, best)) continue;
      best = channel;
      bestAt = at;
    }
    if (best !== undefined) next = (bestAt + 1) % count;
    return best;
  };
}

function isLessBusy(a: RoutedChannel, b: RoutedChannel): boolean {
  const loadA = a.place.load.outstanding / a.place.load.weight;
  const loadB = b.place.load.outstanding / b.place.load.weight;
  if (loadA !== loadB) return loadA < loadB;
  return a.outstanding.count < b.outstanding.count;
}

/** The streams of one node. */
interface WeightedNode<Channel> {
  readonly channels: Channel[];
  readonly weight: number;
  /** Grows by the weight with every turn, falls by the sum of weights when the node is chosen. */
  claim: number;
  next: number;
}

/**
 * In proportion to the nodes' weights, evenly interleaved: weights 2 and 1 give a b a, a b a. A node that
 * cannot take the part is passed over, and loses its turn.
 */
function weighted<Channel extends RoutedChannel>(channels: readonly Channel[]): Router<Channel> {
  const byIndex = new Map<number, WeightedNode<Channel>>();
  for (const channel of channels) {
    const { nodeIndex, load } = channel.place;
    const node = byIndex.get(nodeIndex) ?? { channels: [], weight: load.weight, claim: 0, next: 0 };
    node.channels.push(channel);
    byIndex.set(nodeIndex, node);
  }
  const nodes = [...byIndex.values()];
  return (sampleCount, bytes) => {
    let best: WeightedNode<Channel> | undefined;
    let bestChannel: Channel | undefined;
    let weights = 0;
    for (const node of nodes) {
      const channel = takerOf(node, sampleCount, bytes);
      if (channel === undefined) continue;
      node.claim += node.weight;
      weights += node.weight;
      if (best !== undefined && node.claim <= best.claim) continue;
      best = node;
      bestChannel = channel;
    }
    if (best === undefined) return undefined;
    best.claim -= weights;
    best.next = (best.next + 1) % best.channels.length;
    return bestChannel;
  };
}

function takerOf<Channel extends RoutedChannel>(
  node: WeightedNode<Channel>,
  sampleCount: number,
  bytes: number,
): Channel | undefined {
  const count = node.channels.length;
  for (let i = 0; i < count; i += 1) {
    const channel = node.channels[(node.next + i) % count];
    if (channel?.canTake(sampleCount, bytes)) return channel;
  }
  return undefined;
}

const ROUTERS = {
  'least-outstanding': leastOutstanding,
  'round-robin': roundRobin,
  weighted,
} as const satisfies Record<DispatchPolicy, unknown>;

/**
 * The router of a policy over all streams of a run.
 * @param channels In the order of turns: neighbours should belong to different nodes.
 */
export function createRouter<Channel extends RoutedChannel>(
  policy: DispatchPolicy,
  channels: readonly Channel[],
): Router<Channel> {
  return ROUTERS[policy](channels);
}
