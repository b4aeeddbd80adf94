import type { RoutedChannel, Router } from './router.ts';

/** In turn; a channel without credit or with a full socket is passed over. */
export class RoundRobin<Channel extends RoutedChannel> implements Router<Channel> {
  readonly #channels: readonly Channel[];
  #next = 0;

  /** @param channels In the order of turns: neighbours should belong to different nodes. */
  constructor(channels: readonly Channel[]) {
    this.#channels = channels;
  }

  pick(sampleCount: number, bytes: number): Channel | undefined {
    const count = this.#channels.length;
    for (let tries = 0; tries < count; tries += 1) {
      const channel = this.#channels[this.#next];
      this.#next = (this.#next + 1) % count;
      if (channel?.canTake(sampleCount, bytes)) return channel;
    }
    return undefined;
  }
}
