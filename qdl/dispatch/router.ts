import type { DispatchPolicy } from '../settings/dispatch-settings.ts';

/** The part of a channel that a router reads. */
export interface RoutedChannel {
  readonly place: {
    readonly nodeIndex: number;
    /** Load of the node, shared by its streams. */
    readonly load: Readonly<Pick<NodeLoad, 'outstanding' | 'weight'>>;
  };
  /** Samples outstanding on the stream. */
  readonly outstanding: { readonly count: number };
  /** True if a part of so many new samples and payload bytes may go now. Hot path. */
  canTake(sampleCount: number, bytes: number): boolean;
}

/**
 * Chooses the stream for the next part: one that can take so many samples and bytes now, or
 * undefined, and the query waits. Hot path: never allocates.
 */
export type Router<Channel extends RoutedChannel> = (
  sampleCount: number,
  bytes: number,
) => Channel | undefined;

/** Load of a SUT node over all its streams. Hot path: numbers only. */
export class NodeLoad {
  /** Samples outstanding at the node. */
  outstanding = 0;
  /** Share of the queries relative to the other nodes, above 0. */
  readonly weight: number;
  /** Largest number of samples outstanding, 1 or more. */
  readonly outstandingMax: number;

  constructor(weight: number, outstandingMax: number) {
    this.weight = weight;
    this.outstandingMax = outstandingMax;
  }

  /** True if `sampleCount` more samples stay within the limit. */
  canTake(sampleCount: number): boolean {
    return this.outstanding + sampleCount <= this.outstandingMax;
  }
}

/** Round robin; skips channels without credit or with a full socket. */
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
 * The node with the fewest outstanding samples relative to its weight, and its least loaded stream;
 * so a faster node gets more queries. Equal ones take turns.
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
  /** Grows by the weight at each turn; falls by the sum of weights when the node is chosen. */
  claim: number;
  next: number;
}

/**
 * In proportion to the weights, evenly interleaved: weights 2 and 1 give a b a, a b a. A node that
 * cannot take the part loses its turn.
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
 * @param channels In turn order: neighbours should belong to different nodes.
 */
export function createRouter<Channel extends RoutedChannel>(
  policy: DispatchPolicy,
  channels: readonly Channel[],
): Router<Channel> {
  return ROUTERS[policy](channels);
}
