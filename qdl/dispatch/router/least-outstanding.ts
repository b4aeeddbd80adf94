import type { RoutedChannel, Router } from './router.ts';

/**
 * The node with the fewest samples on the wire in proportion to its weight, and of its streams the one
 * with the fewest: a faster node is thus asked more often. Equal ones take turns.
 */
export class LeastOutstanding<Channel extends RoutedChannel> implements Router<Channel> {
  readonly #channels: readonly Channel[];
  #next = 0;

  /** @param channels In the order of turns: neighbours should belong to different nodes. */
  constructor(channels: readonly Channel[]) {
    this.#channels = channels;
  }

  pick(sampleCount: number, bytes: number): Channel | undefined {
    const count = this.#channels.length;
    let best: Channel | undefined;
    let bestAt = 0;
    for (let i = 0; i < count; i += 1) {
      const at = (this.#next + i) % count;
      const channel = this.#channels[at] as Channel; // In range: at < count.
      if (!channel.canTake(sampleCount, bytes)) continue;
      if (best !== undefined && !isLessBusy(channel, best)) continue;
      best = channel;
      bestAt = at;
    }
    if (best !== undefined) this.#next = (bestAt + 1) % count;
    return best;
  }
}

function isLessBusy(a: RoutedChannel, b: RoutedChannel): boolean {
  const loadA = a.place.load.outstanding / a.place.load.weight;
  const loadB = b.place.load.outstanding / b.place.load.weight;
  if (loadA !== loadB) return loadA < loadB;
  return a.outstandingCount < b.outstandingCount;
}
