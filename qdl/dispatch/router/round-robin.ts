import type { DispatchChannel } from '../dispatch-channel.ts';
import type { Router } from './router.ts';

/** In turn; a channel without credit or with a full socket is passed over. */
export class RoundRobin implements Router {
  readonly #channels: readonly DispatchChannel[];
  #next = 0;

  /** @param channels In the order of turns: neighbours should belong to different nodes. */
  constructor(channels: readonly DispatchChannel[]) {
    this.#channels = channels;
  }

  pick(sampleCount: number, bytes: number): DispatchChannel | undefined {
    const count = this.#channels.length;
    for (let tries = 0; tries < count; tries += 1) {
      const channel = this.#channels[this.#next];
      this.#next = (this.#next + 1) % count;
      if (channel?.canTake(sampleCount, bytes)) return channel;
    }
    return undefined;
  }
}
