import type { SutChannel } from '../channel/sut-channel.ts';

/** Decides which stream takes the next part. */
export interface Router {
  /**
   * A channel that can take a part of so many samples and bytes now, or undefined when none can: the
   * query then waits. Hot path: never allocates.
   */
  pick(sampleCount: number, bytes: number): SutChannel | undefined;
}
