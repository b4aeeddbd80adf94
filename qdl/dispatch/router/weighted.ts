import type { RoutedChannel, Router } from './router.ts';

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
export class Weighted<Channel extends RoutedChannel> implements Router<Channel> {
  readonly #nodes: readonly WeightedNode<Channel>[];

  constructor(channels: readonly Channel[]) {
    const nodes = new Map<number, WeightedNode<Channel>>();
    for (const channel of channels) {
      const { nodeIndex, load } = channel.place;
      const node = nodes.get(nodeIndex) ?? { channels: [], weight: load.weight, claim: 0, next: 0 };
      node.channels.push(channel);
      nodes.set(nodeIndex, node);
    }
    this.#nodes = [...nodes.values()];
  }

  pick(sampleCount: number, bytes: number): Channel | undefined {
    let best: WeightedNode<Channel> | undefined;
    let bestChannel: Channel | undefined;
    let weights = 0;
    for (const node of this.#nodes) {
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
  }
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
